"""The desk for the first screen: which ways there are to a model, fetching one, trying a key or a server's address."""

import asyncio
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from textual.worker import Worker

from shipchat.commands.command import Option
from shipchat.commands.connect import VENDORS, Connected, connect_server, connect_vendor, found_key
from shipchat.commands.on_turns import switch_model
from shipchat.commands.services import Services
from shipchat.core.errors import ProviderAuth, ShipchatError
from shipchat.tui.messages import OwnMessage
from shipchat.tui.widgets.first_run import AttemptStopped, Download, FirstRunLeft, ModelWanted, Way
from shipchat.tui.widgets.toast import Toast, ToastKind

if TYPE_CHECKING:
    from shipchat.tui.screens.chat import ChatScreen

_LOCAL, _SERVER = "local/", "server"


class PullProgress(Protocol):
    """What a pull tells of itself."""

    stage: str
    done: int
    total: int | None


class _Stopped(Exception):
    """The user stopped the download; raised inside it."""


@dataclass
class Downloaded(OwnMessage):
    """How far the download of `name` is; `finished` with an empty `error`: the model is here."""

    name: str
    download: Download
    finished: bool = False
    error: str = ""


@dataclass
class Tried(OwnMessage):
    """An attempt of the way `id` ended: with something that can be asked, or with an `error`.

    `wants_key` says that a server answered, and asked for a key.
    """

    id: str
    connected: Connected | None = None
    error: str = ""
    wants_key: bool = False


def ways_to(services: Services, name: str) -> tuple[Way, ...]:
    """Return the ways there are to a model; `name` is the local one that is wanted. Blocks: keys are looked up."""
    ways: list[Way] = []
    catalogue = services.models.local.catalogue
    local = name if name in catalogue else next(iter(catalogue), None)
    if local is not None:
        size = f"{catalogue[local].download_size / 1e6:.0f} MB"
        detail = f"{local} · {size} · free, private, offline, often wrong"
        ways.append(Way(_LOCAL + local, "Local model", detail, "download and start"))
    for vendor, (label, variable) in VENDORS.items():
        try:
            found = found_key(services, vendor)
        except ShipchatError:
            found = None  # an unreadable file of keys: a new one can still be typed, and says what is wrong
        if found is None:
            ask = f"paste the key for {label}"
            ways.append(
                Way(vendor, label, f"paste a key, or set {variable}", "enter a key", ask, masked=True)
            )
        else:
            ways.append(Way(vendor, label, f"there is a key: {found.origin}", "use it"))
    detail = "any OpenAI-compatible address"
    ways.append(Way(_SERVER, "Other server", detail, "enter its address", "http://127.0.0.1:8080/v1"))
    return tuple(ways)


class FirstRunDesk:
    """Deals with the first screen."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._stop = False
        self._trying: Worker[None] | None = None
        self._address: str | None = None  # of the server whose key is asked for

    def end(self) -> None:
        """Stop a download."""
        self._stop = True

    async def handle(self, message: OwnMessage) -> bool:
        """Deal with `message` if it is about the first screen; return whether it was."""
        match message:
            case ModelWanted(id=wanted, text=text):
                self._wanted(wanted, text)
            case AttemptStopped():
                self._stop_it()
            case FirstRunLeft():
                self.close()
            case Downloaded():
                self._downloaded(message)
            case Tried():
                self._tried(message)
            case _:
                return False
        return True

    def offer(self, ways: tuple[Way, ...], error: str = "") -> None:
        """Show the first screen with these ways."""
        view = self._screen.view
        view.first_run.offer(ways, error=error)
        view.asking_model = view.no_model = True
        self._show()

    def close(self) -> None:
        """Leave the first screen."""
        self._screen.view.asking_model = False
        self._show()

    def _show(self) -> None:
        view = self._screen.view
        view.show_messages()
        view.show_state()
        view.focus()

    # --- going a way ---

    def _wanted(self, wanted: str, text: str | None) -> None:
        screen = self._screen
        if wanted.startswith(_LOCAL):
            self._stop = False
            screen.view.first_run.progress(Download())
            pull = partial(self._pull, wanted.removeprefix(_LOCAL))
            screen.run_worker(pull, thread=True, group="pull")
            return
        address = self._address
        words = "asking the server" if wanted == _SERVER and address is None else "trying the key"
        screen.view.first_run.begin(words)
        self._trying = screen.run_worker(self._try(wanted, text, address), group="connect")

    async def _try(self, wanted: str, text: str | None, address: str | None) -> None:
        services, post = self._screen.services, self._screen.post_message
        try:
            if wanted != _SERVER:
                connected = await connect_vendor(services, wanted, text)
            elif address is None:
                self._address = text  # kept for the key that it may ask for
                connected = await connect_server(services, text or "")
            else:
                connected = await connect_server(services, address, text)
        except ProviderAuth as error:
            post(Tried(wanted, error=str(error), wants_key=wanted == _SERVER and address is None))
        except ShipchatError as error:
            if address is None:
                self._address = None
            post(Tried(wanted, error=str(error)))
        else:
            self._address = None
            post(Tried(wanted, connected))

    def _stop_it(self) -> None:
        self._stop = True
        if self._trying is not None:
            self._trying.cancel()
            self._trying, self._address = None, None
            self._screen.view.first_run.fail("")

    def _tried(self, tried: Tried) -> None:
        if self._trying is None:
            return  # given up meanwhile
        self._trying = None
        first_run = self._screen.view.first_run
        if tried.connected is not None:
            self._screen.do(self._use(tried.connected))
        elif tried.wants_key:
            way = Way(_SERVER, "Other server", "", "try it", "its key", masked=True)
            first_run.ask(way, "It answers, and wants a key.")
        else:
            first_run.fail(tried.error)

    async def _use(self, connected: Connected) -> None:
        """Let the model that was connected answer, here and in sessions to come."""
        screen = self._screen
        screen.view.first_run.done()
        screen.view.asking_model = screen.view.no_model = False
        self._show()
        name = connected.model
        if connected.provider not in VENDORS and len(connected.models) > 1:
            options = [Option(one, one.partition("/")[2]) for one in connected.models]
            name = await screen.stage.choose(f"Model of {connected.provider}", options) or name
        await switch_model(screen.context, name)
        screen.window.model = name
        screen.models.look_at_model()
        if connected.untried:
            toast = Toast("The key could not be tried", connected.untried, ToastKind.WARNING)
            screen.view.toasts.show(toast)
        before = screen.services.settings.default_model
        await asyncio.to_thread(screen.preferences.keep, "default_model", name)

        async def undo() -> None:
            await asyncio.to_thread(screen.preferences.keep, "default_model", before)

        screen.window.undo.add(f"{before} answers in new sessions again", undo)
        screen.stage.toast(f"{name} answers", "in new sessions too; /model changes it", undo=undo)

    # --- fetching ---

    def _pull(self, name: str) -> None:
        """Fetch a model; in a thread: what it has to tell is posted."""
        post, began = self._screen.post_message, time.monotonic()

        def progress(report: PullProgress) -> None:
            if self._stop:
                raise _Stopped
            total, left = report.total or 0, None
            took = time.monotonic() - began
            if report.stage == "downloading" and total and report.done and took > 1:
                left = round((total - report.done) * took / report.done)
            post(Downloaded(name, Download(report.done, total, left, report.stage)))

        error = ""
        try:
            self._screen.services.models.local.pull(name, progress=progress)
        except _Stopped:
            error = "stopped; Enter begins again"
        except ShipchatError as problem:
            error = str(problem)
        post(Downloaded(name, Download(), finished=True, error=error))

    def _downloaded(self, message: Downloaded) -> None:
        screen = self._screen
        first_run = screen.view.first_run
        if not message.finished:
            first_run.progress(message.download)
        elif message.error:
            first_run.fail(message.error)
        else:
            first_run.done()
            screen.view.asking_model = screen.view.no_model = False
            name = f"local/{message.name}"
            if str(screen.window.opened.chat.model) != name:
                screen.do(switch_model(screen.context, name))
                screen.window.model = name
            screen.models.look_again()
            self._show()
            screen.stage.toast("The model is here", name)
