"""A scrollbar that is a thin line where the view is and nothing else; scrolling is left to Textual."""

from typing import ClassVar

from rich.color import Color
from rich.segment import Segment, Segments
from rich.style import Style
from textual.scrollbar import ScrollBarRender


class LineScrollBarRender(ScrollBarRender):
    """Draws the thumb as `│` in the scrollbar's colour, and the rest as blanks. Can be grabbed and clicked as usual."""

    THUMB: ClassVar[str] = "│"

    @classmethod
    def render_bar(  # noqa: PLR0917 - the base's signature
        cls,
        size: int = 25,
        virtual_size: float = 50,
        window_size: float = 20,
        position: float = 0,
        thickness: int = 1,
        vertical: bool = True,
        back_color: Color = Color.parse("#555555"),  # noqa: B008 - the base's signature; the value is never changed
        bar_color: Color = Color.parse("bright_magenta"),  # noqa: B008
    ) -> Segments:
        """Return the rows of the bar."""
        back = Style(bgcolor=back_color)
        rows = [Segment(" " * thickness, back)] * size
        if window_size and size and virtual_size > window_size:
            length = max(1, round(size * window_size / virtual_size))
            start = round((size - length) * position / (virtual_size - window_size))
            thumb = Style(color=bar_color, bgcolor=back_color, meta={"@mouse.down": "grab"})
            upper = Style(bgcolor=back_color, meta={"@mouse.down": "scroll_up"})
            lower = Style(bgcolor=back_color, meta={"@mouse.down": "scroll_down"})
            rows = [
                Segment(cls.THUMB + " " * (thickness - 1), thumb)
                if start <= row < start + length
                else Segment(" " * thickness, upper if row < start else lower)
                for row in range(size)
            ]
        if vertical:
            return Segments(rows, new_lines=True)
        return Segments([*rows, Segment.line()] * thickness)
