"""The desk for models: whether there is one that can answer, its window, and waking it before it is asked."""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from shipchat.commands.connect import VENDORS, found_key
from shipchat.commands.model_list import is_fetched
from shipchat.core.errors import ShipchatError
from shipchat.core.models import ModelInfo, ModelRef
from shipchat.tui.messages import OwnMessage
from shipchat.tui.open_session import OpenSession
from shipchat.tui.screens.chat_first_run import ways_to
from shipchat.tui.widgets.first_run import Way

if TYPE_CHECKING:
    from shipchat.tui.screens.chat import ChatScreen


@runtime_checkable
class Warmable(Protocol):
    """A provider that can be woken before it is asked."""

    async def warm(self, model: str) -> None:
        """Get `model` ready."""
        ...


@dataclass
class ModelKnown(OwnMessage):
    """What the provider says of the model that `opened` asks."""

    opened: OpenSession
    info: ModelInfo


@dataclass
class ModelNotFetched(OwnMessage):
    """The model that `opened` would ask has to be fetched first; `ways` lead to one."""

    opened: OpenSession
    ways: tuple[Way, ...]


class ModelDesk:
    """Deals with models."""

    def __init__(self, screen: "ChatScreen") -> None:
        self._screen = screen
        self._looked_at: tuple[OpenSession, str] | None = None

    def begin(self) -> None:
        """Begin, once the first frame is there."""
        self.look_at_model()

    async def handle(self, message: OwnMessage) -> bool:
        """Deal with `message` if it is about models; return whether it was."""
        screen = self._screen
        match message:
            case ModelKnown(opened=opened, info=info):
                opened.info = info
                if opened is screen.window.opened:
                    self._set_no_model(missing=False)
                    screen.view.show_state()
            case ModelNotFetched(opened=opened, ways=ways):
                if opened is screen.window.opened:
                    self._set_no_model(missing=True)
                    if not opened.session.path:
                        screen.first_run.offer(ways)
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

    def look_again(self) -> None:
        """Find out about the model though it is the same: it may be here now."""
        self._looked_at = None
        self.look_at_model()

    async def missing(self, error: ShipchatError) -> None:
        """Offer what can be done about a model that is not here, or a vendor that there is no key for."""
        screen, ref = self._screen, self._screen.window.opened.chat.model
        fetchable = ref.provider == "local" and ref.name in screen.services.models.local.catalogue
        if fetchable or (ref.provider in VENDORS and not screen.window.opened.session.path):
            screen.first_run.offer(await asyncio.to_thread(ways_to, screen.services, ref.name), str(error))
        else:
            screen.tell(error)

    async def _find_out(self, opened: OpenSession, ref: ModelRef) -> None:
        services = self._screen.services
        try:
            if not await asyncio.to_thread(is_fetched, services, str(ref)):
                ways = await asyncio.to_thread(ways_to, services, ref.name)
                self._screen.post_message(ModelNotFetched(opened, ways))
                return
            if ref.provider in VENDORS and await asyncio.to_thread(found_key, services, ref.provider) is None:
                ways = await asyncio.to_thread(ways_to, services, ref.name)
                self._screen.post_message(ModelNotFetched(opened, ways))
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
        if not missing and view.asking_model and not view.first_run.at_work:
            view.asking_model = False
            view.no_model = missing
            view.show_messages()
            view.focus()
        view.no_model = missing
