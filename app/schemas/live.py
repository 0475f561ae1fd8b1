"""Live assemblies on the wire."""

from typing import Annotated, Any, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from app.assembly.records import Format
from app.live.records import VIEWERS, VIEWERS_LIMIT
from app.schemas.assemble import HISTORY_MESSAGES, AssembleReply, OverridesBody
from app.schemas.common import Instant, Line, ScopePath, SpaceName, WireModel
from app.schemas.turns import TURN_MESSAGES, PostedMessage
from app.turns.records import TURN_CHARS


def _is_stream(name: str) -> str:
    if not name.startswith("stream:"):
        raise ValueError("must be a space of the kind stream")
    return name


def _is_lore(name: str) -> str:
    if not name.startswith("lore:"):
        raise ValueError("must be a space of the kind lore")
    return name


StreamName = Annotated[SpaceName, AfterValidator(_is_stream)]
LoreName = Annotated[SpaceName, AfterValidator(_is_lore)]


class LivePlanBody(WireModel):
    """What to plan for: a batch of messages in a stream, in the order in which they were said.

    `agents` is what the agent is called; without it, the name of its persona. `history` are the messages before the
    batch, where the caller keeps them; a `session` has its own.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "stream": "stream:twitch:giulia",
                    "persona": "agent:giulia",
                    "batch": [
                        {"author": {"platform": "twitch", "id": "7", "name": "Ana"}, "text": "Giulia, any news?"},
                        {"author": {"platform": "twitch", "id": "9", "name": "Bob"}, "text": "lol"},
                    ],
                }
            ]
        }
    )

    stream: StreamName
    batch: Annotated[tuple[PostedMessage, ...], Field(min_length=1, max_length=TURN_MESSAGES)]
    persona: SpaceName | None = None
    agents: Annotated[tuple[Line, ...], Field(max_length=8)] = ()
    lore: Annotated[tuple[LoreName, ...], Field(max_length=4)] = ()
    viewers: Annotated[int, Field(ge=1, le=VIEWERS_LIMIT, strict=True)] = VIEWERS
    scopes: Annotated[tuple[ScopePath, ...], Field(max_length=16)] = ()
    history: Annotated[tuple[PostedMessage, ...], Field(max_length=HISTORY_MESSAGES)] = ()
    session: Line | None = None
    timeout_ms: Annotated[int, Field(ge=1, le=60_000, strict=True)] = 1000

    @model_validator(mode="after")
    def _rules(self) -> Self:
        if self.session is not None and self.history:
            raise ValueError("session and history exclude each other: a session has its own history")
        if sum(len(message.text) for message in self.batch) > TURN_CHARS:
            raise ValueError(f"all messages of a batch together have at most {TURN_CHARS} characters")
        return self


class LiveBody(LivePlanBody):
    """What to assemble a prompt for: a batch of messages in a stream."""

    as_of: Instant | None = None
    format: Format = Format.XML
    record: Annotated[bool, Field(strict=True)] = True
    trace: Annotated[bool, Field(strict=True)] = False
    overrides: OverridesBody = OverridesBody()


class PickReply(WireModel):
    """Somebody whose memory may be read; `signals` heaviest first, `why` says why `reads` is what it is."""

    space: str
    name: str
    salience: int
    signals: list[str]
    reads: list[str]
    why: str
    asks_outright: bool


class SourceReply(WireModel):
    """A source that is nobody's own."""

    read: bool
    why: str


class LivePlanReply(WireModel):
    """What is read for a batch, and why. `degraded` names what was missing to decide it."""

    viewers: list[PickReply]
    passed_over: list[str]
    episodes: SourceReply
    lore: SourceReply
    records: SourceReply
    reads_nothing: bool
    degraded: list[str] = []


class LiveReply(AssembleReply):
    """An assembled prompt. With `trace`, `plan` is as from `POST /context/plan`, with `sources`: what each took."""

    plan: dict[str, Any] | None = None
