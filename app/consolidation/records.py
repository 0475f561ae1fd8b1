"""What consolidation looks at, and what it proposes."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from app.assembly.outlines import Outline
from app.domain.entries import Category, Entry, Tier
from app.domain.ids import PublicId

ClaimTriple = tuple[str, str, str]
"""Subject, attribute and value in normal form."""


@dataclass(frozen=True, slots=True)
class Vitality:
    """What decides how long an entry is kept.

    Attributes:
        confirmed_at: When somebody last said, restored or kept it.
        uses: How many sessions it was used in.
        is_pinned: Whether it carries the tag `pinned`.
        in_doubt: Whether it is in an unresolved contradiction.
    """

    tier: Tier
    category: Category | None
    importance: float | None
    confirmed_at: datetime
    uses: int
    is_pinned: bool = False
    in_doubt: bool = False


@dataclass(frozen=True, slots=True)
class Sketch:
    """A live entry without its text: enough to know what it must be compared with."""

    id: PublicId
    version: int
    tier: Tier
    scope: str
    outline: Outline
    claim: ClaimTriple | None
    vitality: Vitality


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """A live entry in full, with its raw unit vector, shape (d,); None if the serving model has none of it."""

    entry: Entry
    vector: NDArray[np.float32] | None = None


class Action(StrEnum):
    """What happens to an entry."""

    SUPERSEDE = "supersede"
    MERGE = "merge"
    ARCHIVE = "archive"


class Why(StrEnum):
    """Why something happens to an entry. The last five are those of a contradiction."""

    SAME_TEXT = "same_text"
    SAME_WORDING = "same_wording"
    SAME_CLAIM = "same_claim"
    FADED = "faded"
    CLAIM = "claim"
    NEGATION = "negation"
    ANTONYM = "antonym"
    NUMBER = "number"
    TIME = "time"
    PLACE = "place"


@dataclass(frozen=True, slots=True)
class Change:
    """One proposal: what becomes of an entry, and why.

    Attributes:
        version: The version that was seen; only that one is changed. `kept_version` likewise.
        kept: The entry that stays instead of it; None when it is archived.
    """

    action: Action
    why: Why
    entry: PublicId
    version: int
    text: str
    kept: PublicId | None = None
    kept_version: int | None = None
    kept_text: str | None = None
