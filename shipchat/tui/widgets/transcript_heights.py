"""Where each of many items begins, when their heights change one by one; what the heights are is left to the pile."""

from collections.abc import Iterable


class Heights:
    """A list of heights with their running sums (a Fenwick tree): every question and change takes log n steps."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights = list(heights)
        self._tree = [0, *self._heights]
        for index in range(1, len(self._tree)):
            parent = index + (index & -index)
            if parent < len(self._tree):
                self._tree[parent] += self._tree[index]

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    @property
    def total(self) -> int:
        """The sum of all heights."""
        return self.start(len(self._heights))

    def start(self, index: int) -> int:
        """Return the sum of the heights before `index`."""
        total = 0
        while index > 0:
            total += self._tree[index]
            index &= index - 1
        return total

    def set(self, index: int, height: int) -> None:
        """Make the height at `index` another."""
        change = height - self._heights[index]
        if not change:
            return
        self._heights[index] = height
        position = index + 1
        while position < len(self._tree):
            self._tree[position] += change
            position += position & -position

    def append(self, height: int) -> None:
        """Add a height at the end."""
        position = len(self._tree)
        total, child = height, position - 1
        while child > position - (position & -position):
            total += self._tree[child]
            child &= child - 1
        self._heights.append(height)
        self._tree.append(total)

    def truncate(self, count: int) -> None:
        """Keep the first `count` heights."""
        del self._heights[count:]
        del self._tree[count + 1 :]

    def find(self, row: int) -> tuple[int, int]:
        """Return the index of what stands at `row` and the row within it; beyond the end, the last row there is."""
        if not self._heights:
            return 0, 0
        position, rest = 0, max(0, row)
        step = 1 << len(self._heights).bit_length()
        while step:
            following = position + step
            if following < len(self._tree) and self._tree[following] <= rest:
                position = following
                rest -= self._tree[following]
            step >>= 1
        if position >= len(self._heights):
            return len(self._heights) - 1, max(0, self._heights[-1] - 1)
        return position, rest
