"""The text being typed: safe to paste anything into, with the prompts sent before behind Up; which keys send is `keys`'."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput

from shipchat.commands.file_names import pasted

_CONTROLS: Final[dict[int, str]] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A)},
    0x7F: "\N{SYMBOL FOR DELETE}",
    **{code: f"<U+{code:04X}>" for code in range(0x80, 0xA0)},
    **dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}"),
}

# Marks of direction are part of what is written (Hebrew needs them) and stay in the text; the terminal is shown one
# character in the place of each, so that columns stay what they are.
_SHOWN: Final[dict[int, str]] = {
    **dict.fromkeys(
        (0x061C, 0x200E, 0x200F, 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x2070), 0xFEFF),
        "\N{REPLACEMENT CHARACTER}",
    ),
    **dict.fromkeys((*range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080)), "\N{REPLACEMENT CHARACTER}"),
}


def clean(text: str) -> str:
    r"""Return `text` as it may be typed: line ends are line feeds, control characters are visible signs.

    >>> clean("a\r\nb\x1b[201~")
    'a\nb␛[201~'
    """
    if text.isascii() and text.isprintable():
        return text
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROLS)


class SafeInput(Processor):
    """Shows what is typed without letting it turn the line around."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        """Replace characters one by one: positions stay as they are."""
        return Transformation(
            [
                (fragment[0], fragment[1] if fragment[1].isascii() else fragment[1].translate(_SHOWN))
                for fragment in transformation_input.fragments
            ]
        )


class Composer:
    """The draft. `changed` is told its text whenever that changes."""

    def __init__(self, completer: Completer, changed: Callable[[str], None]) -> None:
        self._changed = changed
        self.buffer = Buffer(
            completer=completer,
            complete_while_typing=True,
            multiline=True,
            tempfile_suffix=".md",
            name="composer",
        )
        self.buffer.on_text_changed += lambda buffer: changed(buffer.text)

    @property
    def text(self) -> str:
        """What is typed."""
        return self.buffer.text

    def set(self, text: str) -> None:
        """Replace what is typed, and put the cursor at its end."""
        text = clean(text)
        self.buffer.set_document(Document(text, len(text)), bypass_readonly=True)

    def restore(self, text: str) -> None:
        """Give back what was not sent, above what has been typed since."""
        typed = self.buffer.text
        self.set(f"{text}\n{typed}" if typed else text)

    def take(self) -> str:
        """Return what is typed, and empty it; Up brings the text back."""
        text = self.buffer.text
        self.buffer.reset(append_to_history=True)
        self._changed("")  # a reset is silent
        return text

    def paste(self, text: str) -> None:
        """Insert text that came in one piece; the path of a file gets an `@`, so that the file is attached."""
        self.buffer.insert_text(clean(pasted(text)))

    def use_history(self, prompts: Sequence[str]) -> None:
        """Have these prompts behind Up, oldest first, and nothing typed."""
        self.buffer.history = InMemoryHistory(list(_without_repeats(prompts)))
        self.buffer.reset()


def _without_repeats(prompts: Iterable[str]) -> Iterable[str]:
    previous = None
    for prompt in prompts:
        if prompt != previous and prompt.strip():
            yield clean(prompt)
        previous = prompt
