"""Soul blocks on the wire."""

from dataclasses import replace
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)

from app.domain.ids import IdKind, PublicId, find_id
from app.domain.soul import SOUL_TEXT_CHARS, SoulBlock
from app.schemas.common import Instant, Line, SpaceName, Text, WireModel, wire_time
from app.soul.ports import PlacedBlock
from app.soul.service import SOUL_BLOCKS, BlockDraft

POSITION_LIMIT = 1_000_000

SoulText = Annotated[Text, Field(max_length=SOUL_TEXT_CHARS)]
Position = Annotated[int, Field(ge=0, le=POSITION_LIMIT, strict=True)]
Flag = Annotated[bool, Field(strict=True)]


def _soul_id(value: Any) -> PublicId:
    found = value if isinstance(value, PublicId) else find_id(value, IdKind.SOUL) if isinstance(value, str) else None
    if found is None:
        raise ValueError("must be the id of a soul block, such as sol_…")
    return found


SoulBlockId = Annotated[
    PublicId,
    PlainValidator(_soul_id),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "pattern": "^sol_[0-9a-v]{52}$"}),
]


class SoulBody(WireModel):
    """A block to create. Without a position it comes last."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"space": "agent:giulia", "name": "persona", "text": "You are Giulia, a patient cook."}]
        }
    )

    space: SpaceName
    name: Line
    text: SoulText
    position: Position | None = None
    active: Flag = True

    def to_draft(self) -> BlockDraft:
        """As the use case has it."""
        return BlockDraft(self.name, self.text, self.position, self.active)


class SoulPatch(WireModel):
    """What to change of a block. Fields that are absent stay; none can be null."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"active": False}]})

    name: Line = Field(default_factory=str)
    text: SoulText = Field(default_factory=str)
    position: Position = Field(default_factory=int)
    active: Flag = Field(default_factory=bool)

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("must change something")
        return self

    def apply(self, block: SoulBlock) -> SoulBlock:
        """The block once changed."""
        return replace(block, **{name: getattr(self, name) for name in self.model_fields_set})


class RestoreBody(WireModel):
    """Which version to go back to."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"version": 1}]})

    version: Annotated[int, Field(ge=1, le=2**31 - 1, strict=True)]


def _each_once(ids: tuple[PublicId, ...]) -> tuple[PublicId, ...]:
    if len(set(ids)) != len(ids):
        raise ValueError("must name each block once")
    return ids


class OrderBody(WireModel):
    """The order of all blocks of a space, inactive ones included."""

    space: SpaceName
    ids: Annotated[tuple[SoulBlockId, ...], Field(max_length=SOUL_BLOCKS), AfterValidator(_each_once)]


class SoulReply(WireModel):
    """A version of a block."""

    id: SoulBlockId
    space: str
    name: str
    text: str
    position: int
    active: bool
    version: int
    recorded_at: Instant
    reason: str


def block_json(placed: PlacedBlock) -> dict[str, Any]:
    """A version as JSON has it: the fields of SoulReply."""
    block = placed.block
    return {
        "id": str(block.id),
        "space": placed.space,
        "name": block.name,
        "text": block.text,
        "position": block.position,
        "active": block.active,
        "version": block.version,
        "recorded_at": wire_time(block.recorded_at),
        "reason": block.reason,
    }


class SoulQuery(WireModel):
    """Whose soul to list."""

    space: SpaceName
