"""The profile of a space: what matters most of each category, and when it was last confirmed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from app.assembly.render import one_line
from app.domain.callers import Caller
from app.domain.entries import Category, Entry
from app.domain.spaces import SpaceKey, visible_scopes

PER_CATEGORY = 10
"""Memories of a category, by default."""

PER_CATEGORY_LIMIT = 50

_TITLES = {
    Category.OUTPUT_PREFERENCE: "How they want answers",
    Category.PERSONAL_PREFERENCE: "What they prefer",
    Category.ASSISTANT_PREFERENCE: "What they wish of the assistant",
    Category.KNOWLEDGE: "What they know",
    Category.INTEREST: "What interests them",
    Category.DISLIKE: "What they dislike",
    Category.RELATIONSHIP: "Family and friends",
    Category.WORK: "Work",
    Category.GOAL: "Goals",
    Category.DECISION: "Decisions",
    Category.PROJECT: "Projects",
    Category.FACT: "Facts",
    None: "Other",
}

HEADING = "What is remembered of this person. It can be out of date: what is said in this conversation outranks it."


@dataclass(frozen=True, slots=True)
class ProfilePart:
    """The memories of one category, those that matter most first.

    Attributes:
        total: How many there are in all.
    """

    category: Category | None
    memories: tuple[Entry, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Profile:
    """The parts that are not empty, in the order of the categories; what has none comes last."""

    space: str
    parts: tuple[ProfilePart, ...]


class ProfileStore(Protocol):
    """Finds what matters most."""

    async def best(self, space: SpaceKey, scopes: Sequence[str], now: datetime, limit: int) -> tuple[ProfilePart, ...]:
        """Memories that hold now, by category: the most important first, then the last confirmed."""
        ...


@dataclass(frozen=True, slots=True)
class ProfileService:
    """Reads profiles."""

    store: ProfileStore

    async def read(
        self, caller: Caller, space_name: str, now: datetime, *, scopes: tuple[str, ...], limit: int
    ) -> Profile:
        """The profile of a space; empty if nothing is known.

        Args:
            scopes: Where the conversation is; what holds everywhere is always there.
            limit: Memories of each category.

        Raises:
            ForbiddenError: If the key does not reach the space.
        """
        space = caller.space(space_name)
        parts = {part.category: part for part in await self.store.best(space, visible_scopes(scopes), now, limit)}
        return Profile(space.name, tuple(parts[category] for category in _TITLES if category in parts))


def profile_text(profile: Profile) -> str:
    """The profile for a system prompt; empty if nothing is known. No memory can start a line of its own."""
    if not profile.parts:
        return ""
    lines = [HEADING]
    for part in profile.parts:
        lines.append(f"\n## {_TITLES[part.category]}")
        lines += [_line(memory) for memory in part.memories]
    return "\n".join(lines) + "\n"


def _line(memory: Entry) -> str:
    doubt = ", contradicted" if memory.unresolved else ""
    return f"- {one_line(memory.content.text)} (confirmed {memory.last_confirmed_at:%Y-%m-%d}{doubt})"
