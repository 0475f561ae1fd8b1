"""Rows to domain records, and back."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb

from app.assembly.outlines import outline, pack_outline
from app.domain.entries import (
    KIND_OF_TIER,
    Author,
    Cardinality,
    Category,
    Claim,
    Content,
    Entry,
    Status,
    Tier,
)
from app.domain.evidence import KeptEvidence, MessageVersion
from app.domain.ids import IdKind, PublicId
from app.domain.soul import SoulBlock
from app.text.content import number_of
from app.text.normalise import normalise_text

Row = Mapping[str, Any]


class Stored(NamedTuple):
    """What is stored of an entry that search brought up.

    The first columns of `candidates` in retrieval.sql, and those of `rows` in resident.sql, in their order.
    """

    id: UUID
    version: int
    sequence: int
    tier: str
    text: str
    scope: str
    recorded_at: datetime
    last_confirmed_at: datetime
    category: str | None
    tags: Sequence[str]
    claim_subject: str | None
    claim_attribute: str
    claim_value: str
    claim_cardinality: str
    importance: float | None
    confidence: float | None
    valid_from: datetime | None
    valid_to: datetime | None
    occurred_at: datetime | None
    trigger: str | None
    unresolved: bool
    outline: bytes | None
    superseded: Sequence[UUID]
    session: str | None
    author: str | None
    uses: int


def claim_from(row: Row) -> Claim | None:
    """The claim of an entry's row."""
    if row["claim_subject"] is None:
        return None
    return Claim(
        row["claim_subject"], row["claim_attribute"], row["claim_value"], Cardinality(row["claim_cardinality"])
    )


def entry_from(row: Row) -> Entry:
    """One version, from a row of entry_versions with the name of its space."""
    tier = Tier(row["tier"])
    kind = KIND_OF_TIER[tier]
    space_id: UUID = row["space_id"]
    superseded_by: UUID | None = row["superseded_by"]
    return Entry(
        id=PublicId(row["id"], space_id, kind),
        version=row["version"],
        text_version=row["text_version"],
        sequence=row["sequence"],
        tier=tier,
        space=row["space"],
        content=_content_from(row),
        status=Status(row["status"]),
        recorded_at=row["recorded_at"],
        first_recorded_at=row["first_recorded_at"],
        last_confirmed_at=row["last_confirmed_at"],
        unresolved=row["unresolved"],
        superseded_by=None if superseded_by is None else PublicId(superseded_by, space_id, kind),
        merged_from=tuple(PublicId(merged, space_id, kind) for merged in row["merged_from"]),
        reason=row["reason"],
        corrected=row["corrected"],
    )


def _content_from(row: Row) -> Content:
    author = Author(row["author_name"], row["author_platform"], row["author_id"])
    return Content(
        text=row["text"],
        category=None if row["category"] is None else Category(row["category"]),
        tags=tuple(row["tags"]),
        scope=row["scope"],
        claim=claim_from(row),
        claim_derived=row["claim_derived"],
        importance=row["importance"],
        confidence=row["confidence"],
        valid_from=row["valid_from"],
        valid_to=row["valid_to"],
        occurred_at=row["occurred_at"],
        participants=tuple(row["participants"]),
        trigger=row["trigger"],
        author=None if author == Author() else author,
        session=row["session"],
        context=row["context"],
        source=row["source"],
    )


def entry_parameters(entry: Entry) -> dict[str, Any]:
    """The columns of one version."""
    content = entry.content
    author = content.author or Author()
    claim = content.claim
    return {
        "id": entry.id.uuid,
        "version": entry.version,
        "text_version": entry.text_version,
        "sequence": entry.sequence,
        "tier": entry.tier.value,
        "status": entry.status.value,
        "text": content.text,
        "category": content.category,
        "tags": list(content.tags),
        "scope": content.scope,
        "claim_subject": claim and claim.subject,
        "claim_attribute": claim and claim.attribute,
        "claim_value": claim and claim.value,
        "claim_cardinality": claim and claim.cardinality.value,
        "claim_derived": content.claim_derived,
        "importance": content.importance,
        "confidence": content.confidence,
        "valid_from": content.valid_from,
        "valid_to": content.valid_to,
        "occurred_at": content.occurred_at,
        "participants": list(content.participants),
        "trigger": content.trigger,
        "author_name": author.name,
        "author_platform": author.platform,
        "author_id": author.id,
        "session": content.session,
        "context": content.context,
        "source": content.source,
        "recorded_at": entry.recorded_at,
        "first_recorded_at": entry.first_recorded_at,
        "last_confirmed_at": entry.last_confirmed_at,
        "unresolved": entry.unresolved,
        "superseded_by": entry.superseded_by and entry.superseded_by.uuid,
        "merged_from": [merged.uuid for merged in entry.merged_from],
        "reason": entry.reason,
        "normal": normal_of(content.text) if entry.tier is Tier.MEMORIES else None,
        "corrected": entry.corrected,
        "outline": pack_outline(outline(content.text, content.claim)),
    }


def normal_of(text: str) -> int:
    """A number that stands for a normalised text; others may share it."""
    return number_of(normalise_text(text))


def evidence_from(row: Row) -> KeptEvidence:
    """Evidence, from its row."""
    return KeptEvidence(
        turn=row["turn"],
        of=MessageVersion(row["message"], row["version"]),
        key=bytes(row["key"]),
        entry=PublicId(row["entry"], row["space_id"], IdKind.MEMORY),
        said_at=row["said_at"],
        content=None if row["content"] is None else _evidence_content(row["content"], row["said_at"]),
        corrects=row["corrects"],
    )


def _evidence_content(stored: Row, said_at: datetime) -> Content:
    author, claim = stored["author"], stored["claim"]
    return Content(
        text=stored["text"],
        category=Category(stored["category"]) if stored["category"] else None,
        scope=stored["scope"],
        claim=None if claim is None else Claim(claim[0], claim[1], claim[2], Cardinality(claim[3])),
        claim_derived=claim is not None,
        importance=stored["importance"],
        confidence=stored["confidence"],
        valid_from=said_at,
        author=None if author is None else Author(*author),
        session=stored["session"],
        source=stored["source"],
    )


def evidence_parameters(evidence: KeptEvidence) -> dict[str, Any]:
    """The columns of a piece of evidence."""
    content = evidence.content
    return {
        "turn": evidence.turn,
        "message": evidence.of.message,
        "version": evidence.of.version,
        "key": evidence.key,
        "entry": evidence.entry.uuid,
        "said_at": evidence.said_at,
        "content": None if content is None else Jsonb(_evidence_fields(content)),
        "corrects": evidence.corrects,
    }


def _evidence_fields(content: Content) -> dict[str, Any]:
    """What extraction can say of a memory; its time is a column."""
    author, claim = content.author, content.claim
    return {
        "text": content.text,
        "category": content.category,
        "scope": content.scope,
        "claim": claim and [claim.subject, claim.attribute, claim.value, claim.cardinality],
        "importance": content.importance,
        "confidence": content.confidence,
        "author": author and [author.name, author.platform, author.id],
        "session": content.session,
        "source": content.source,
    }


def block_from(row: Row, space_id: UUID) -> SoulBlock:
    """A soul block, from its row."""
    return SoulBlock(
        id=PublicId(row["id"], space_id, IdKind.SOUL),
        version=row["version"],
        name=row["name"],
        text=row["text"],
        position=row["position"],
        active=row["active"],
        recorded_at=row["recorded_at"],
        reason=row["reason"],
    )
