"""Soul blocks: the named pieces of an agent's identity."""

from dataclasses import dataclass
from datetime import datetime

from app.domain.ids import PublicId

SOUL_TEXT_CHARS = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SoulBlock:
    """One version of a block. Blocks are rendered by position, then by name.

    Attributes:
        name: What it is (persona, tone, values, limits); unique in its space.
        active: Whether it is rendered.
    """

    id: PublicId
    version: int
    name: str
    text: str
    position: int
    active: bool
    recorded_at: datetime
    reason: str = "created"

    def __post_init__(self) -> None:
        if not (self.text and self.name):
            raise ValueError("a soul block needs a name and a text")
