"""What came from elsewhere already, and what of it was forgotten since."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.spaces import SpaceKey
from app.entries.tombstones import ERASED_SPACE, Mark, erased_mark, erased_since
from app.store.entries import Pool
from app.store.pool import tenant_transaction
from app.store.queries import load
from app.store.tombstones import find_tombstones

_SQL = load("arrivals")


@dataclass(frozen=True, slots=True)
class PostgresArrivals:
    """The marks of one pool. They outlive what was made of the things that they stand for."""

    pool: Pool

    async def known(self, space: SpaceKey, marks: Collection[UUID]) -> frozenset[UUID]:
        """Those of some marks that were set."""
        parameters = {"tenant_id": space.tenant_id, "space_id": space.space_id, "marks": list(marks)}
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            cursor = await connection.execute(_SQL["known"], parameters)
            return frozenset([row[0] for row in await cursor.fetchall()])

    async def note(self, space: SpaceKey, marks: Collection[UUID]) -> None:
        """Set marks."""
        parameters = {"tenant_id": space.tenant_id, "space_id": space.space_id, "marks": list(marks)}
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            await connection.execute(_SQL["note"], parameters)

    async def forgotten(
        self, space: SpaceKey, texts: Sequence[str], mark_of: Callable[[str], Mark] = erased_mark
    ) -> Mapping[str, datetime]:
        """When those of some texts were forgotten that were, by themselves or with the whole space.

        Args:
            mark_of: What a text of their kind is forgotten under.
        """
        marks = {text: mark_of(text) for text in texts}
        address = {"tenant_id": space.tenant_id, "space_id": space.space_id}
        async with tenant_transaction(self.pool, space.tenant_id) as connection:
            buried = await find_tombstones(connection, address, [*set(marks.values()), ERASED_SPACE])
        since = {text: erased_since(mark, buried) for text, mark in marks.items()}
        return {text: at for text, at in since.items() if at is not None}
