"""Forgetting on the wire."""

from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from app.domain.entries import Author
from app.domain.ids import IdKind, PublicId
from app.domain.spaces import SpaceKey
from app.forgetting.records import Forgotten, Receipt, Selector, Verified
from app.schemas.common import EntryId, Instant, Line, SpaceName, Text, TurnPublicId, WireModel, wire_time
from app.schemas.corrections import Batch, batch_from, require_actor
from app.schemas.entries import AuthorBody
from app.turns.service import session_of

FORGET_IDS = 500


class ForgetAuthor(WireModel):
    """Whose words: the fields that are given must be equal. A platform alone names nobody."""

    name: Line | None = None
    platform: Line | None = None
    id: Line | None = None

    @model_validator(mode="after")
    def _somebody(self) -> Self:
        if self.name is None and self.id is None:
            raise ValueError("needs a name or an id")
        return self


class ForgetBody(WireModel):
    """What to forget: `ids`, exact `content`, a `turn`, `session`, `author`, or when recorded (`since`, `until`).

    `actor` is who asks for it: in a viewer's space that viewer alone, and one of the `batch` if that is given, unless
    the key is an administrator's.
    """

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"space": "user:42", "since": "2020-01-01T00:00:00Z", "dry_run": True}]}
    )

    space: SpaceName
    ids: Annotated[tuple[EntryId, ...], Field(min_length=1, max_length=FORGET_IDS)] | None = None
    content: Text | None = None
    turn: TurnPublicId | None = None
    session: Line | None = Field(None, description="Our id, or the platform's name.")
    author: ForgetAuthor | None = None
    since: Instant | None = None
    until: Instant | None = None
    actor: AuthorBody | None = None
    batch: Batch | None = None
    dry_run: Annotated[bool, Field(strict=True)] = False

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        require_actor(self.actor, self.batch)
        times = self.since is not None or self.until is not None
        ways = (self.ids, self.content, self.turn, self.session, self.author)
        if sum(one is not None for one in ways) + times != 1:
            raise ValueError("give exactly one of ids, content, turn, session, author, and a time (since, until)")
        if self.since and self.until and self.until <= self.since:
            raise ValueError("until must be after since")
        return self

    def to_domain(self, space: SpaceKey) -> Selector:
        """As the domain has it."""
        author = Author(self.author.name, self.author.platform, self.author.id) if self.author else None
        session = None
        if self.session is not None:
            session = PublicId(session_of(space, self.session), space.space_id, IdKind.SESSION)
        return Selector(
            ids=tuple(dict.fromkeys(self.ids or ())),
            content=self.content,
            turn=self.turn,
            session=session,
            author=author,
            since=self.since,
            until=self.until,
            actor=self.actor.to_domain() if self.actor else None,
            batch=batch_from(self.batch),
        )


class MatchReply(WireModel):
    """One of several entries that have the very text."""

    id: EntryId
    text: str
    scope: str
    recorded_at: Instant


class ReceiptReply(WireModel):
    """What an erasure removed: counts and ids, never a text. `digest` seals it with a key of the tenant.

    `turns` are those whose messages were emptied or shortened; `jobs` take that out of what is derived from them.
    """

    id: str
    created_at: Instant
    kind: Literal["entries", "space"]
    by: str
    entries: int | None
    derived: int
    ids: list[str]
    removed: dict[str, int]
    turns: list[str]
    jobs: int
    digest: str
    dry_run: bool = False


class ForgetReply(WireModel):
    """A receipt; or, if several entries have the very text, those: nothing was erased, name one by its id.

    `mentioned_in` are other entries that contain an erased text word for word.
    """

    outcome: Literal["erased", "ambiguous"]
    entries: int
    receipt: ReceiptReply | None
    matches: list[MatchReply]
    mentioned_in: list[EntryId]


class DryRunQuery(WireModel):
    """Whether to tell only what would go."""

    dry_run: bool = False


class VerifyReply(WireModel):
    """Whether a receipt is genuine (`sealed`) and nothing of what it says is gone is there (`remaining`).

    While work is still to take what was forgotten out of what was derived, `remaining` has the `jobs`.
    """

    valid: bool
    sealed: bool
    remaining: dict[str, int]


def receipt_json(receipt: Receipt, *, dry_run: bool = False) -> dict[str, Any]:
    """A receipt as JSON has it. A dry run leaves none behind."""
    return {
        "id": str(receipt.id),
        "created_at": wire_time(receipt.created_at),
        "derived": 0,
        "turns": [],
        "jobs": 0,
        **receipt.body,
        "digest": receipt.digest,
        "dry_run": dry_run,
    }


def forgotten_json(forgotten: Forgotten, *, dry_run: bool) -> dict[str, Any]:
    """What came of it, as JSON has it."""
    receipt = forgotten.receipt
    return {
        "outcome": "ambiguous" if receipt is None else "erased",
        "entries": 0 if receipt is None else receipt.body["entries"],
        "receipt": None if receipt is None else receipt_json(receipt, dry_run=dry_run),
        "matches": [
            {
                "id": str(entry.id),
                "text": entry.content.text,
                "scope": entry.content.scope,
                "recorded_at": wire_time(entry.first_recorded_at),
            }
            for entry in forgotten.matches
        ],
        "mentioned_in": [str(entry_id) for entry_id in forgotten.mentioned_in],
    }


def verified_json(verified: Verified) -> dict[str, Any]:
    """Whether a receipt holds, as JSON has it."""
    return {"valid": verified.is_valid, "sealed": verified.is_sealed, "remaining": dict(verified.remaining)}
