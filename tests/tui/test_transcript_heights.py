"""The running sums agree with plain lists, whatever is done to them."""

from hypothesis import given
from hypothesis import strategies as st

from shipchat.tui.widgets.transcript_heights import Heights

steps = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(0, 9)),
        st.tuples(st.just("set"), st.integers(0, 9)),
        st.tuples(st.just("truncate"), st.integers(0, 30)),
    ),
    max_size=40,
)


@given(st.lists(st.integers(1, 9), max_size=30), steps)
def test_heights(first: list[int], changes: list[tuple[str, int]]) -> None:
    heights, plain = Heights(first), list(first)
    for what, value in changes:
        if what == "append":
            heights.append(value + 1)
            plain.append(value + 1)
        elif what == "set" and plain:
            heights.set(value % len(plain), value + 1)
            plain[value % len(plain)] = value + 1
        elif what == "truncate":
            heights.truncate(value)
            del plain[value:]
        assert heights.total == sum(plain)
        assert [heights.start(index) for index in range(len(plain) + 1)] == [
            sum(plain[:i]) for i in range(len(plain) + 1)
        ]
        rows = [(index, row) for index, height in enumerate(plain) for row in range(height)]
        assert [heights.find(row) for row in range(len(rows))] == rows
        if rows:
            assert heights.find(len(rows) + 5) == rows[-1]
