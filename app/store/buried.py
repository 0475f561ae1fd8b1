"""Tombstones of forgotten texts, to look for in what was recorded before: whole, or word for word within more."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from psycopg import AsyncConnection

from app.entries.tombstones import ERASED_SPACE, Mark, erased_mark
from app.forgetting.cutting import WORDS
from app.store.queries import load
from app.store.tombstones import digest_of, find_secret
from app.text.normalise import normalise_text

_SQL = load("tombstones")

_LONGEST_WORDS: Final = 60
"""Longer texts are found whole, and not within others."""


@dataclass(frozen=True, slots=True)
class Buried:
    """What was forgotten in some spaces of a tenant.

    Attributes:
        secret: The tenant's key.
        stones: Keyed hashes to when they were put up.
    """

    secret: bytes
    stones: Mapping[bytes, datetime]

    def has_text(self, text: str, recorded_at: datetime) -> bool:
        """Whether just this was forgotten after it was recorded."""
        return self.has(erased_mark(text), recorded_at)

    def has_space(self, recorded_at: datetime) -> bool:
        """Whether all that a space had was erased after something was recorded."""
        return self.has(ERASED_SPACE, recorded_at)

    def quoted(self, text: str, recorded_at: datetime) -> tuple[str, ...]:
        """What a text holds word for word that was forgotten after it was recorded."""
        if not self.stones:
            return ()
        words = [(normal, word) for word in text.split() if (normal := normalise_text(word))]
        found = dict.fromkeys(
            " ".join(word for _, word in words[start:end])
            for start in range(len(words))
            for end in range(start + WORDS, min(len(words), start + _LONGEST_WORDS) + 1)
            if self.has_text(" ".join(normal for normal, _ in words[start:end]), recorded_at)
        )
        return tuple(found)

    def is_quoted_in(self, value: Any, recorded_at: datetime) -> bool:
        """Whether a text anywhere in a value of JSON is, or quotes, what was forgotten."""
        match value:
            case str():
                return bool(value) and (self.has_text(value, recorded_at) or bool(self.quoted(value, recorded_at)))
            case list():
                return any(self.is_quoted_in(item, recorded_at) for item in value)
            case dict():
                return any(self.is_quoted_in(item, recorded_at) for item in value.values())
            case _:
                return False

    def has(self, mark: Mark, recorded_at: datetime) -> bool:
        """Whether what a mark stands for was forgotten after it was recorded."""
        buried_at = self.stones.get(digest_of(self.secret, mark))
        return buried_at is not None and recorded_at <= buried_at


async def find_buried(connection: AsyncConnection[Any], tenant_id: UUID, space_ids: Sequence[UUID]) -> Buried:
    """What was forgotten in some spaces."""
    secret = await find_secret(connection, tenant_id)
    if secret is None:
        return Buried(b"", {})
    cursor = await connection.execute(_SQL["erased"], {"tenant_id": tenant_id, "space_ids": list(space_ids)})
    return Buried(secret, {bytes(digest): created_at for digest, created_at in await cursor.fetchall()})
