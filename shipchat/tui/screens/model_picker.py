"""The picker of models, grouped by provider; switching is the caller's."""

from collections.abc import Iterable
from dataclasses import dataclass

from shipchat.tui.glyphs import UNICODE, Glyphs
from shipchat.tui.screens.choose import ChooseScreen
from shipchat.tui.widgets.choice_rows import Choice
from shipchat.tui.widgets.status_line import window_text


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model: `id` is what is returned; `window` its context in tokens (None: unknown); `note` a few words more."""

    id: str
    name: str
    provider: str
    window: int | None = None
    note: str = ""
    current: bool = False


class ModelPickerScreen(ChooseScreen):
    """Returns the id of the model chosen, or None."""

    def __init__(self, models: Iterable[ModelRow], *, title: str = "Model", glyphs: Glyphs = UNICODE) -> None:
        dot = f" {glyphs.middle_dot} "
        choices = [
            Choice(
                id=model.id,
                label=model.name,
                detail=dot.join(
                    filter(None, (window_text(model.window) if model.window else "", model.note))
                ),
                group=model.provider,
                current=model.current,
            )
            for model in models
        ]
        super().__init__(title, choices, placeholder="find a model", glyphs=glyphs)
