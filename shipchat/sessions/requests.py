"""Makes the request of one model call: what the model's real input budget is, how full it is, what is sent in it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final, Protocol

from shipchat.core.compaction import active_checkpoint, made_for_window, undone_checkpoint, valid_checkpoints
from shipchat.core.context import MESSAGE_OVERHEAD, Overflow, Projection, path_to, preface, project
from shipchat.core.entries import CheckpointEntry
from shipchat.core.messages import AssistantMessage, Message
from shipchat.core.models import ModelInfo, ModelRef
from shipchat.core.paths import Path
from shipchat.core.protocols import ModelRequest, Provider, ToolSpec
from shipchat.core.session import Session
from shipchat.sessions.options import ChatOptions, CompactionOptions
from shipchat.sessions.token_ledger import PathSums, TokenTable, byte_bound, byte_length, calibrated
from shipchat.sessions.tools import toolbox_of

RESERVE_SHARE: Final = 0.25
"""The share of the window kept for the reply when no limit was asked for."""

UNKNOWN_WINDOW: Final = 8_192
"""Tokens assumed of a model whose provider gives no window."""

_LEAST_ROOM: Final = 0.01
"""The share of the budget that is tried at least beside what tools gave back: then the provider has the last word."""


class RequestMaker(Protocol):
    """Makes the request of one call within a share of the budget. Blocks; raises ContextOverflow."""

    def __call__(self, calls: Sequence[AssistantMessage], share: float) -> ModelRequest:
        """Return the request; `calls` are the messages of this turn that called tools."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What a request is made for and within: the model, what is sent beside the messages, and the rules.

    `ref` is the model's name here, which its provider need not know it by (`info.ref`).
    """

    ref: ModelRef
    info: ModelInfo
    system: str
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int | None = None
    rules: CompactionOptions
    overflow: Overflow = "error"

    @property
    def window(self) -> int:
        """The model's window in tokens, never 0."""
        return self.info.window if self.info.window and self.info.window > 0 else UNKNOWN_WINDOW

    @property
    def reserve(self) -> int:
        """Tokens of the window that are kept for the reply."""
        wanted = self.max_tokens or min(self.info.max_output or self.window, int(self.window * RESERVE_SHARE))
        return min(wanted, self.window // 2)

    @property
    def drops(self) -> bool:
        """Whether oldest turns are left out when nothing else helps: compaction by itself never ends a session."""
        return self.overflow == "drop-oldest" or self.rules.mode == "auto"


def frame_for(options: ChatOptions, session: Session, info: ModelInfo, provider: Provider) -> Frame:
    """Return the frame of requests in `session` to its model, which `info` describes."""
    ref = options.model_for(session)
    return Frame(
        ref=ref,
        info=info,
        system=options.system_for(session),
        tools=toolbox_of(provider).specs,
        max_tokens=options.max_tokens,
        rules=options.compaction.of_model(ref),
        overflow=options.overflow,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How full the window is, in the model's own tokens.

    `tokens` is the messages with the summary, `fixed` the system prompt and the tools, `budget` what there is for
    messages, `limit` the part of it beyond which they are compacted. `counted` is False when `tokens` is only an upper
    bound, which was enough. `scale` is the model's tokens for one of o200k; `first` the first position that is sent
    word for word.
    """

    window: int
    checkpoint: CheckpointEntry | None
    first: int
    tokens: int = 0
    fixed: int = 0
    budget: int = 0
    limit: int = 0
    scale: float = 1.0
    counted: bool = False

    @property
    def due(self) -> bool:
        """Whether the share is passed."""
        return self.tokens > self.limit


class Scales:
    """Weighs what is sent of one session; keeps what was counted. May be used from several threads."""

    def __init__(self, table: TokenTable) -> None:
        self.table = table
        self._sums = PathSums(table.count)
        self._bounds = PathSums(byte_bound)

    def standing(
        self, session: Session, frame: Frame, *, until: str | None = None, exactly: bool = False
    ) -> Standing:
        """Return how full the window is with the path to `until` (None: the head). Blocks.

        Unless `exactly`, nothing is counted where bytes alone tell that there is room.
        """
        path = path_to(session, until)
        checkpoint = self.checkpoint(session, path, frame)
        first = 1 if checkpoint is None else session.tree.depth(checkpoint.covers) + 1
        before = preface(session, path, first, checkpoint)
        standing = Standing(window=frame.window, checkpoint=checkpoint, first=first)
        if not exactly:
            bound = self._bounds.between(session, path, first, len(path))
            bound += sum(byte_bound(message) + MESSAGE_OVERHEAD for message in before)
            bounded = replace(standing, tokens=bound, fixed=_fixed_bytes(frame))
            bounded = _with_limit(bounded, frame, session)
            if not bounded.due:
                return bounded
        fixed = self._fixed(frame)
        raw_before = sum(self.table.count(message) + MESSAGE_OVERHEAD for message in before)
        scale = self._scale(session, path, frame, checkpoint, fixed + raw_before)
        raw = raw_before + self._sums.between(session, path, first, len(path))
        counted = replace(
            standing, tokens=int(raw * scale), fixed=int(fixed * scale), scale=scale, counted=True
        )
        return _with_limit(counted, frame, session)

    def checkpoint(self, session: Session, path: Path, frame: Frame) -> CheckpointEntry | None:
        """Return the checkpoint that a request on `path` is made with. Blocks where the window has grown.

        None where the model's window is larger than those that every checkpoint on the path was made for and the
        whole history fits below the share again.
        """
        automatic = frame.rules.mode != "off"
        checkpoint = active_checkpoint(session, path, automatic=automatic)
        if checkpoint is None:
            return None
        made_for = [made_for_window(one) for one in valid_checkpoints(session, path, automatic=automatic)]
        if any(window is None or window >= frame.window for window in made_for):
            return checkpoint
        fixed = self._fixed(frame)
        scale = frame.info.tokens_per_o200k
        room = (frame.window - frame.reserve - fixed * scale) * frame.rules.share
        return None if self._sums.between(session, path, 1, len(path)) * scale <= room else checkpoint

    def between(self, session: Session, path: Path, scale: float) -> Callable[[int, int], int]:
        """Return what gives the tokens of a range of positions on `path`."""
        return lambda first, last: int(self._sums.between(session, path, first, last) * scale)

    def weigh(self, message: Message, scale: float) -> int:
        """Return the tokens of `message` as it is sent."""
        return int((self.table.count(message) + MESSAGE_OVERHEAD) * scale)

    def make(
        self,
        session: Session,
        frame: Frame,
        *,
        until: str | None = None,
        share: float = 1.0,
        after: Sequence[Message] = (),
        calls: Sequence[Message] = (),
    ) -> tuple[ModelRequest, Projection]:
        """Return what to send within `share` of the budget, and the projection it was made from.

        `until` ends the path before the head; `after` and `calls` are sent behind it: what is not stored, and what
        tools were called for in this turn. Blocks (counting); raises ContextOverflow.
        """
        standing = self.standing(session, frame, until=until)
        behind = (*after, *calls)
        if standing.counted:
            scale = standing.scale
            count = self._scaled(scale)
        else:
            count, scale = byte_bound, 1.0
        taken = sum(count(message) + MESSAGE_OVERHEAD for message in behind)
        whole = int((frame.window - frame.reserve) * share) - standing.fixed
        if not standing.counted and standing.tokens + taken > whole:
            # Bytes told that it needs no compaction, but not that it fits beside what tools gave back.
            standing = self.standing(session, frame, until=until, exactly=True)
            count = self._scaled(standing.scale)
            taken = sum(count(message) + MESSAGE_OVERHEAD for message in behind)
            whole = int((frame.window - frame.reserve) * share) - standing.fixed
        budget = max(whole - taken, int(whole * _LEAST_ROOM) if calls else whole - taken)
        projection = project(
            session,
            system=frame.system,
            budget=budget,
            count=count,
            until=until,
            checkpoint=standing.checkpoint,
            overflow="drop-oldest" if frame.drops else "error",
        )
        messages = (*projection.messages, *behind)
        request = ModelRequest(
            model=frame.ref.name,
            system=frame.system,
            messages=messages,
            max_tokens=frame.max_tokens,
            tools=frame.tools,
        )
        return request, projection

    def _scaled(self, scale: float) -> Callable[[Message], int]:
        table = self.table

        def count(message: Message) -> int:
            return int(table.count(message) * scale)

        return count

    def _scale(
        self, session: Session, path: Path, frame: Frame, checkpoint: CheckpointEntry | None, fixed: int
    ) -> float:
        return calibrated(
            session,
            path,
            1 if checkpoint is None else session.tree.depth(checkpoint.covers) + 1,
            model=str(frame.ref),
            usual=frame.info.tokens_per_o200k,
            since=checkpoint.at.timestamp() if checkpoint is not None else float("-inf"),
            fixed=fixed,
            room=frame.window - frame.reserve,
            raw=lambda first, last: self._sums.between(session, path, first, last),
        )

    def _fixed(self, frame: Frame) -> int:
        tools = sum(self.table.of_text(_tool_text(tool)) + MESSAGE_OVERHEAD for tool in frame.tools)
        return self.table.of_text(frame.system) + MESSAGE_OVERHEAD + tools


def _with_limit(standing: Standing, frame: Frame, session: Session) -> Standing:
    """Return `standing` with what there is for messages, and the share of it that they may come to."""
    budget = max(0, frame.window - frame.reserve - standing.fixed)
    # A compaction that the user took back is not made again while all still fits.
    share = 1.0 if undone_checkpoint(session) is not None else frame.rules.share
    return replace(standing, budget=budget, limit=int(budget * share))


def _tool_text(tool: ToolSpec) -> str:
    return json.dumps(asdict(tool))


def _fixed_bytes(frame: Frame) -> int:
    tools = sum(byte_length(_tool_text(tool)) + MESSAGE_OVERHEAD for tool in frame.tools)
    return byte_length(frame.system) + MESSAGE_OVERHEAD + tools
