"""What the actions of the key map do: a slash command, or one of the few that only the screen knows."""

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from shipchat.tui.keymap import ACTIONS
from shipchat.tui.screens.chat_composer import ask_to_quit
from shipchat.tui.screens.chat_first_run import ways_to
from shipchat.tui.screens.help_keys import HelpKeysScreen, KeyHelp
from shipchat.tui.screens.palette import PaletteScreen
from shipchat.tui.widgets.choice_rows import Choice
from shipchat.tui.widgets.toast import Toast

if TYPE_CHECKING:
    from shipchat.tui.screens.chat import ChatScreen


def run_action(screen: "ChatScreen", run: str) -> None:
    """Do the action that `run` names."""
    if run.startswith("/"):
        screen.turns.submit(run)
    elif run in _ACTIONS:
        _ACTIONS[run](screen)


def _palette(screen: "ChatScreen") -> None:
    async def choose() -> None:
        choices = [
            Choice(action.run, action.label, key=action.shown, group=action.where)
            for action in ACTIONS
            if action.run and action.run != "palette"
        ]
        chosen = await screen.stage.wait_for(PaletteScreen(choices, glyphs=screen.view.glyphs))
        if chosen:
            run_action(screen, chosen)

    screen.do(choose())


def _keys(screen: "ChatScreen") -> None:
    async def choose() -> None:
        keys = [
            KeyHelp(action.shown, action.label, action.where, action.run)
            for action in ACTIONS
            if action.shown and not action.shown.startswith("/")
        ]
        chosen = await screen.stage.wait_for(HelpKeysScreen(keys, glyphs=screen.view.glyphs))
        if chosen:
            run_action(screen, chosen)

    screen.do(choose())


def _sidebar(screen: "ChatScreen") -> None:
    if screen.view.sidebar.has_focus_within:
        screen.view.close_sidebar()
    else:
        screen.view.open_sidebar()


def _search(screen: "ChatScreen") -> None:
    screen.view.open_sidebar()
    screen.view.sidebar.focus_filter()


def _messages(screen: "ChatScreen") -> None:
    if screen.view.has_transcript:
        screen.view.transcript.focus()


def _newest(screen: "ChatScreen") -> None:
    last = screen.view.welcome.state.last
    if last is not None:
        screen.do(screen.stage.open_session(last[0]))


def _copy_or_stop(screen: "ChatScreen") -> None:
    """Do what Control+C means outside the composer: copy what is selected, stop the reply, ask to quit."""
    selected = screen.get_selected_text()
    if selected:
        screen.stage.copy(selected)
        screen.clear_selection()
        screen.view.toasts.show(Toast("Copied", f"{len(selected):,} characters"))
    elif not screen.turns.interrupt():
        screen.do(ask_to_quit(screen))


def _edit_setting(screen: "ChatScreen") -> None:
    async def change() -> None:
        preferences = screen.preferences
        preferences.edit = "fork" if preferences.edit == "sibling" else "sibling"
        words = "a fork" if preferences.edit == "fork" else "an alternative beside it"
        screen.stage.toast("Editing a prompt", f"makes {words}")
        await asyncio.to_thread(preferences.keep, "edit", preferences.edit)

    screen.do(change())


def _connect(screen: "ChatScreen") -> None:
    async def offer() -> None:
        ref = screen.window.opened.chat.model
        screen.first_run.offer(await asyncio.to_thread(ways_to, screen.services, ref.name))

    screen.do(offer())


def _interrupt(screen: "ChatScreen") -> None:
    screen.turns.interrupt()


def _dismiss(screen: "ChatScreen") -> None:
    screen.view.toasts.dismiss_newest()


def _undo_toast(screen: "ChatScreen") -> None:
    screen.view.toasts.undo_newest()


def _back(screen: "ChatScreen") -> None:
    screen.view.close_sidebar()


_ACTIONS: Final[Mapping[str, Callable[["ChatScreen"], object]]] = {
    "palette": _palette,
    "keys": _keys,
    "sidebar": _sidebar,
    "search": _search,
    "messages": _messages,
    "newest": _newest,
    "copy_or_stop": _copy_or_stop,
    "connect": _connect,
    "edit_setting": _edit_setting,
    "interrupt": _interrupt,
    "dismiss": _dismiss,
    "undo_toast": _undo_toast,
    "back": _back,
}
