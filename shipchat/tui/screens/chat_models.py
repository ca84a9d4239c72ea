"""The desk for models: whether there is one, fetching the local one, its window, and waking it before it is asked."""

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from shipchat.commands.model_list import is_fetched
from shipchat.commands.on_turns import model, use_model
from shipchat.core.errors import ModelMissing, ShipchatError
from shipchat.core.models import ModelInfo, ModelRef
from shipchat.tui.messages import OwnMessage
from shipchat.tui.open_session import OpenSession
from shipchat.tui.widgets.first_run import Download, DownloadStopped, FirstRunLeft, ModelWanted, Way

if TYPE_CHECKING:
    from shipchat.tui.screens.chat import ChatScreen

_OTHER = "other"


@runtime_checkable
class Warmable(Protocol):
    """A provider that can be woken before it is asked."""

    async def warm(self, model: str) -> None:
        """Get `model` ready."""
        ...


class PullProgress(Protocol):
    """What a pull tells of itself."""

    stage: str
    done: int
    total: int | None


class _Stopped(Exception):
    """The user stopped the download; raised inside it."""


@dataclass
class ModelKnown(OwnMessage):
    """What the provider says of the model that `opened` asks."""

    opened: OpenSession
    info: ModelInfo


@dataclass
class ModelNotFetched(OwnMessage):
    """The model that `opened` would ask has to be fetched first."""

    opened: OpenSession
    name: str


@dataclass
class Downloaded(OwnMessage):
    """How far a download is; `finished` with an empty `error`: the model is here."""

    download: Download
    finished: bool = False
    error: str = ""


class ModelDesk:
    """Deals with models."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._stop = False
        self._looked_at: tuple[OpenSession, str] | None = None

    def begin(self) -> None:
        """Begin, once the first frame is there."""
        self.look_at_model()

    def end(self) -> None:
        """Stop a download."""
        self._stop = True

    async def handle(self, message: OwnMessage) -> bool:
        """Deal with `message` if it is about models; return whether it was."""
        screen = self._screen
        match message:
            case ModelKnown(opened=opened, info=info):
                opened.info = info
                if opened is screen.window.opened:
                    self._set_no_model(missing=False)
                    screen.view.show_state()
            case ModelNotFetched(opened=opened, name=name):
                if opened is screen.window.opened:
                    self._set_no_model(missing=True)
                    if not opened.session.path:
                        self._show(name)
            case ModelWanted(id=wanted):
                await self._wanted(wanted)
            case DownloadStopped():
                self._stop = True
            case FirstRunLeft():
                screen.view.asking_model = False
                screen.view.show_messages()
                screen.view.show_state()
                screen.view.focus()
            case Downloaded():
                await self._downloaded(message)
            case _:
                return False
        return True

    def look_at_model(self) -> None:
        """Find out about the model of the open session, and wake it."""
        opened = self._screen.window.opened
        name = str(opened.chat.model)
        if self._looked_at != (opened, name):
            self._looked_at = (opened, name)
            self._screen.run_worker(self._find_out(opened, opened.chat.model), group="model")

    async def missing(self, error: ModelMissing) -> None:
        """Offer what can be done about a model that is not here."""
        ref = self._screen.window.opened.chat.model
        if ref.provider == "local" and ref.name in self._screen.services.models.local.catalogue:
            self._show(ref.name, str(error))
        else:
            self._screen.tell(error)

    async def _find_out(self, opened: OpenSession, ref: ModelRef) -> None:
        services = self._screen.services
        try:
            if not await asyncio.to_thread(is_fetched, services, str(ref)):
                self._screen.post_message(ModelNotFetched(opened, ref.name))
                return
            provider = await asyncio.to_thread(services.models.provider, ref)
            self._screen.post_message(ModelKnown(opened, await provider.info(ref.name)))
            if isinstance(provider, Warmable):
                await provider.warm(ref.name)
                self._screen.post_message(ModelKnown(opened, await provider.info(ref.name)))
        except ShipchatError:
            return  # the first turn says it, with what to do about it

    def _set_no_model(self, *, missing: bool) -> None:
        view = self._screen.view
        if not missing and view.asking_model and view.first_run.download is None:
            view.asking_model = False
            view.no_model = missing
            view.show_messages()
            view.focus()
        view.no_model = missing

    def _show(self, name: str, error: str = "") -> None:
        view, catalogue = self._screen.view, self._screen.services.models.local.catalogue
        known = catalogue.get(name) or next(iter(catalogue.values()), None)
        ways: list[Way] = []
        if known is not None:
            local = name if name in catalogue else next(iter(catalogue))
            size = f"{known.download_size / 1e6:.0f} MB"
            ways.append(
                Way(
                    local,
                    "Local model",
                    f"{local} · {size} · free, private, offline, often wrong",
                    "download and start",
                )
            )
        ways.append(Way(_OTHER, "Another model", "one that is set up in the config", "choose"))
        view.first_run.ways = tuple(ways)
        view.first_run.error = error
        view.asking_model = view.no_model = True
        view.show_messages()
        view.show_state()
        view.focus()

    async def _wanted(self, wanted: str) -> None:
        screen = self._screen
        if wanted == _OTHER:
            screen.do(self._another())
            return
        self._stop = False
        screen.view.first_run.error = ""
        screen.view.first_run.download = Download()
        screen.run_worker(lambda: self._pull(wanted), thread=True, group="pull")

    async def _another(self) -> None:
        screen = self._screen
        await model(screen.context, "")
        if str(screen.window.opened.chat.model).partition("/")[0] != "local":
            screen.view.asking_model = False
            screen.view.show_messages()
            screen.view.show_state()
            screen.view.focus()

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
            post(Downloaded(Download(report.done, total, left, report.stage)))

        try:
            self._screen.services.models.local.pull(name, progress=progress)
        except _Stopped:
            post(Downloaded(Download(), finished=True, error="stopped; Enter begins again"))
        except ShipchatError as error:
            post(Downloaded(Download(), finished=True, error=str(error)))
        else:
            post(Downloaded(Download(), finished=True))

    async def _downloaded(self, message: Downloaded) -> None:
        screen = self._screen
        first_run = screen.view.first_run
        if not message.finished:
            first_run.download = message.download
            return
        first_run.download, first_run.error = None, message.error
        if message.error:
            return
        name = first_run.ways[first_run.cursor].id
        screen.view.asking_model = screen.view.no_model = False
        self._looked_at = None
        if str(screen.window.opened.chat.model) != f"local/{name}":
            screen.do(use_model(screen.context, f"local/{name}"))
        self.look_at_model()
        screen.view.show_messages()
        screen.view.show_state()
        screen.view.focus()
        screen.stage.toast("The model is here", f"local/{name}")
