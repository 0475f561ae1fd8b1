"""Records on the wire."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, model_validator

from app.domain.entries import Claim
from app.domain.records import Record, RecordStatus
from app.records.service import Draft, FromTurn
from app.schemas.common import PAGE_ITEMS, IdCursor, Instant, Line, PageLimit, SpaceName, WireModel, wire_time

SUBJECTS = 32

Payload = Annotated[dict[str, Any], Field(max_length=32)]
Subjects = Annotated[tuple[SpaceName, ...], Field(max_length=SUBJECTS)]


class RecordClaimBody(WireModel):
    """What a record says in a form that can be compared: no memory with this subject and attribute is served."""

    subject: Line
    attribute: Line
    value: Line

    def to_domain(self) -> Claim:
        """As the domain has it."""
        return Claim(self.subject, self.attribute, self.value)


class SourceTurnBody(WireModel):
    """The turn that a change comes from: it raises the ingestion barrier for it, now or when the turn comes.

    `id` is ours or the platform's; `space` is where it was said, the record's own if absent. The words of the
    record's subjects stay out of personal memory; with `whole_batch`, or without subjects, everybody's.
    """

    id: Line
    space: SpaceName | None = None
    whole_batch: Annotated[bool, Field(strict=True)] = False

    def to_domain(self) -> FromTurn:
        """As the use case has it."""
        return FromTurn(self.id, self.space, self.whole_batch)


class RecordBody(WireModel):
    """A record to create. Its payload has the fields of its kind."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "space": "stream:twitch:giulia",
                    "kind": "request",
                    "subjects": ["viewer:twitch:7"],
                    "payload": {"what": "Play a song by Mina on Friday."},
                    "expires_at": "2030-01-01T00:00:00Z",
                }
            ]
        }
    )

    space: SpaceName
    kind: Line
    payload: Payload
    subjects: Subjects = ()
    claim: RecordClaimBody | None = None
    status: RecordStatus = RecordStatus.OPEN
    expires_at: Instant | None = None
    turn: SourceTurnBody | None = None

    def to_draft(self) -> Draft:
        """As the use case has it."""
        return Draft(
            kind=self.kind,
            payload=self.payload,
            subjects=self.subjects,
            claim=None if self.claim is None else self.claim.to_domain(),
            status=self.status,
            expires_at=self.expires_at,
        )


class RecordPatch(WireModel):
    """What to change of a record. Fields that are absent stay; `claim` and `expires_at` can be null."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"status": "done"}]})

    payload: Payload = Field(default_factory=dict)
    subjects: Subjects = Field(default_factory=tuple)
    claim: RecordClaimBody | None = None
    status: RecordStatus = RecordStatus.OPEN
    expires_at: Instant | None = None
    turn: SourceTurnBody | None = None

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not self.model_fields_set - {"turn"}:
            raise ValueError("must change something")
        return self

    def apply(self, draft: Draft) -> Draft:
        """The draft with what is to be changed."""
        given: dict[str, Any] = {name: getattr(self, name) for name in self.model_fields_set - {"turn"}}
        if given.get("claim") is not None:
            given["claim"] = given["claim"].to_domain()
        return replace(draft, **given)


class RecordQuery(WireModel):
    """Which current records to list, newest first. What has expired is listed too."""

    space: SpaceName
    kind: Line | None = None
    subject: SpaceName | None = None
    status: RecordStatus | None = None
    limit: PageLimit = PAGE_ITEMS
    cursor: IdCursor | None = None


class RecordReply(WireModel):
    """One version of a record. `text` is what a prompt says of it."""

    id: str
    version: int
    space: str
    kind: str
    subjects: list[str]
    payload: dict[str, Any]
    text: str
    claim: RecordClaimBody | None
    status: RecordStatus
    expires_at: Instant | None
    created_at: Instant
    recorded_at: Instant
    reason: str


def record_json(record: Record) -> Mapping[str, Any]:
    """One version, in JSON."""
    claim = record.claim
    return {
        "id": str(record.id),
        "version": record.version,
        "space": record.space,
        "kind": record.kind,
        "subjects": list(record.subjects),
        "payload": dict(record.payload),
        "text": record.text,
        "claim": claim and {"subject": claim.subject, "attribute": claim.attribute, "value": claim.value},
        "status": record.status.value,
        "expires_at": record.expires_at and wire_time(record.expires_at),
        "created_at": wire_time(record.created_at),
        "recorded_at": wire_time(record.recorded_at),
        "reason": record.reason,
    }
