"""Corrections on the wire."""

from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from app.assembly.service import Assembled
from app.corrections.records import Answer, Correction, Outcome, Wanted
from app.corrections.view import Viewed
from app.domain.entries import Author, Cardinality, Category, Claim
from app.domain.ids import IdKind, PublicId
from app.domain.spaces import SpaceKey
from app.schemas.common import (
    PAGE_ITEMS,
    EntryId,
    IdCursor,
    Instant,
    Line,
    PageLimit,
    ScopePath,
    SpaceName,
    Text,
    WireModel,
    wire_time,
)
from app.schemas.entries import AuthorBody, MemoryReply, entry_json

_CLAIM = ("subject", "attribute", "value")


BATCH_AUTHORS = 200

Batch = Annotated[tuple[AuthorBody, ...], Field(max_length=BATCH_AUTHORS)]
"""Who was present when something was said."""


def require_actor(actor: AuthorBody | None, batch: Batch | None) -> None:
    """A batch says who is present, and so may ask: it goes with an actor.

    Raises:
        ValueError: If there is a batch and no actor.
    """
    if batch is not None and actor is None:
        raise ValueError("batch goes with the actor who asks")


def batch_from(batch: Batch | None) -> tuple[Author, ...] | None:
    """As the domain has it."""
    return None if batch is None else tuple(author.to_domain() for author in batch)


class CorrectionBody(WireModel):
    """What to put right.

    Say it (`said`), or name what is wrong (`id` or `content`) and what is right (`text`), or give a claim (`subject`,
    `attribute`, `value`). An `id` with a `scope` and no `text` changes where a memory holds. `actor` is who says so: in
    a viewer's space that viewer alone, and one of the `batch` if that is given.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"space": "user:42", "said": "Mira's eyes are green, not blue."},
                {"space": "user:42", "subject": "Mira", "attribute": "eye colour", "value": "green"},
            ]
        }
    )

    space: SpaceName
    scopes: Annotated[tuple[ScopePath, ...], Field(max_length=16)] = ()
    said: Text | None = None
    id: EntryId | None = None
    content: Text | None = None
    text: Text | None = None
    subject: Line | None = None
    attribute: Line | None = None
    value: Line | None = None
    scope: ScopePath | None = None
    lasting: Annotated[bool, Field(strict=True)] | None = None
    category: Category | None = None
    valid_from: Instant | None = None
    actor: AuthorBody | None = None
    batch: Batch | None = None
    session: Line | None = None
    source: Line | None = None
    dry_run: Annotated[bool, Field(strict=True)] = False

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        require_actor(self.actor, self.batch)
        claim = [getattr(self, name) for name in _CLAIM]
        if any(claim) and not all(claim):
            raise ValueError("subject, attribute and value go together")
        ways = [self.said is not None, self.id is not None, self.content is not None, all(claim)]
        if sum(ways) != 1:
            raise ValueError("give exactly one of said, id, content, and the claim subject, attribute, value")
        if self.said is not None and self.text is not None:
            raise ValueError("text goes with id, content or a claim")
        if self.content is not None and self.text is None:
            raise ValueError("content needs the text that is right")
        if self.id is not None and self.text is None and self.scope is None:
            raise ValueError("id needs the text that is right, or another scope")
        if self.id is not None and self.id.kind is not IdKind.MEMORY:
            raise ValueError("id must be that of a memory; episodes and procedures are edited")
        return self

    def to_domain(self, space: SpaceKey) -> Wanted:
        """As the domain has it."""
        claim = None
        if self.subject and self.attribute and self.value:
            claim = Claim(self.subject, self.attribute, self.value, Cardinality.ONE)
        return Wanted(
            space=space,
            scopes=self.scopes,
            said=self.said,
            entry_id=self.id,
            wrong=self.content,
            text=self.text,
            claim=claim,
            scope=self.scope,
            lasting=self.lasting,
            category=self.category,
            valid_from=self.valid_from,
            actor=self.actor.to_domain() if self.actor else None,
            batch=batch_from(self.batch),
            session=self.session,
            source=self.source,
        )


class ChoiceBody(WireModel):
    """The answer to a question: the key of one of its options."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"choice": "everywhere"}]})

    choice: Line
    actor: AuthorBody | None = None
    batch: Batch | None = None

    @model_validator(mode="after")
    def _batch_needs_actor(self) -> Self:
        require_actor(self.actor, self.batch)
        return self

    def to_domain(self) -> Answer:
        """As the domain has it."""
        return Answer(self.choice, self.actor.to_domain() if self.actor else None, batch_from(self.batch))


class CorrectionsQuery(WireModel):
    """Which corrections of a space to list, newest first; `open` for the questions that nobody answered."""

    space: SpaceName
    limit: PageLimit = PAGE_ITEMS
    cursor: IdCursor | None = None
    open: bool = False


class OptionReply(WireModel):
    """One answer to a question, in plain words."""

    key: str
    label: str


class EffectReply(WireModel):
    """The next prompt, without a correction and with it."""

    before: str
    after: str


class CorrectionReply(WireModel):
    """What came of a correction. `told` is the confirmation, the question or the reason, and is in the next prompt.

    `before` are the memories that gave way, as they were; `after` is what holds now; `receipt` is of what was erased.
    One that was found in a conversation has the `turn` and the `message` in which it was said.
    """

    id: str
    created_at: Instant
    outcome: Outcome
    told: str
    scope: str
    before: list[MemoryReply]
    after: list[MemoryReply]
    options: list[OptionReply]
    open: bool
    answered_by: str | None
    turn: str | None
    message: str | None
    receipt: str | None
    dry_run: bool = False
    effect: EffectReply | None = None


class ViewQuery(WireModel):
    """Which memories to show, newest first, and in which language."""

    language: Literal["en", "it", "cs"] = "en"
    standing: Literal["current", "obsolete", "unresolved"] | None = None
    limit: PageLimit = PAGE_ITEMS
    cursor: IdCursor | None = None


class ViewedReply(WireModel):
    """A memory in plain words: how it stands, where it holds, why it is known, what can be done.

    `actions` names what can be done, and how that is called: `correct` and `move` with POST /corrections, `forget` with
    POST /forget.
    """

    id: EntryId
    text: str
    standing: Literal["current", "obsolete", "unresolved"]
    label: str
    scope: str
    where: str
    why: str
    recorded_at: Instant
    actions: dict[str, str]


def viewed_json(viewed: Viewed) -> dict[str, Any]:
    """A memory in plain words, as JSON has it."""
    entry = viewed.entry
    return {
        "id": str(entry.id),
        "text": entry.content.text,
        "standing": viewed.standing,
        "label": viewed.label,
        "scope": entry.content.scope,
        "where": viewed.where,
        "why": viewed.why,
        "recorded_at": wire_time(entry.first_recorded_at),
        "actions": dict(viewed.actions),
    }


def correction_json(correction: Correction) -> dict[str, Any]:
    """A correction as JSON has it."""
    origin = correction.origin
    return {
        "id": str(correction.id),
        "created_at": wire_time(correction.created_at),
        "outcome": correction.outcome.value,
        "told": correction.told,
        "scope": correction.scope,
        "before": [entry_json(entry) for entry in correction.before],
        "after": [entry_json(entry) for entry in correction.after],
        "options": [{"key": option.key, "label": option.label} for option in correction.options],
        "open": correction.asked is not None,
        "answered_by": correction.answered_by and str(correction.answered_by),
        "turn": origin and str(origin.turn),
        "message": origin and str(PublicId(origin.message.message, origin.turn.space_id, IdKind.MESSAGE)),
        "receipt": correction.receipt and str(correction.receipt),
    }


def effect_json(before: Assembled, after: Assembled) -> dict[str, Any]:
    """What a correction would change."""
    return {"dry_run": True, "effect": {"before": before.assembly.prompt, "after": after.assembly.prompt}}
