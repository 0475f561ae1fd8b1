"""Records: structured state that explicit calls change, and that memories do not contradict."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from app.domain.entries import Claim
from app.domain.ids import PublicId


class RecordStatus(StrEnum):
    """Whether a record holds. Only open ones are in prompts."""

    OPEN = "open"
    DONE = "done"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One version of a record.

    Attributes:
        kind: What its payload is; see `app/records`.
        subjects: Spaces of those it is about, beside its own; none for everybody in its space.
        text: What a prompt says of it.
        claim: What it says in a form that can be compared, if anything.
        expires_at: From when on it holds no longer; None while nobody ends it.
    """

    id: PublicId
    version: int
    space: str
    kind: str
    subjects: tuple[str, ...]
    payload: Mapping[str, Any]
    text: str
    claim: Claim | None
    status: RecordStatus
    expires_at: datetime | None
    created_at: datetime
    recorded_at: datetime
    reason: str = "created"

    def concerns(self, space: str) -> bool:
        """Whether it says something of the owner of a space."""
        return space in self.subjects or (space == self.space and not self.subjects)


@dataclass(frozen=True, slots=True)
class Barrier:
    """What of a turn stays out of personal memory, because a record holds it.

    Attributes:
        space: The space of the turn.
        turn: Its id, ours or the platform's; it may come later.
        viewers: Whose words stay out; none for the whole batch.
    """

    space: str
    turn: str
    viewers: tuple[str, ...]
