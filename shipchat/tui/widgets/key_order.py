"""Lets an editor do what its keys mean in the order they were typed; which keys mean what stays the editor's."""

from textual import events
from textual.widget import Widget


async def run_own_binding(widget: Widget, event: events.Key) -> bool:
    """Run the widget's own action for a key that types nothing, now; return whether it has one.

    Textual inserts a letter when it comes to the widget, but runs the action of a key (Backspace, Enter, an arrow)
    only after the key has bubbled up to the application. Keys that arrive together, as they do over a slow line,
    would then be done out of order: `x`, Backspace, `y` would leave `x`.
    """
    if event.is_printable:
        return False
    for binding in widget._bindings.key_to_bindings.get(event.key, ()):  # noqa: SLF001 -- there is no public way
        if binding.action.startswith("scroll_"):
            continue  # every scrollable widget has these for its arrows; a dialog's list comes before them
        event.stop()
        event.prevent_default()
        await widget.run_action(binding.action)
        return True
    return False
