"""What lore is about: read once, and again when the space was written to."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from app.domain.spaces import SpaceKey
from app.live.planner import entity_names
from app.store.entries import Pool
from app.store.pool import tenant_transaction
from app.store.queries import load

_SQL = load("lore")

_SPACES: Final = 1_000
"""Spaces whose subjects are remembered."""

_Address = tuple[UUID, UUID]


@dataclass(frozen=True, slots=True)
class PostgresLoreSubjects:
    """Subjects by space, never trusted: each use compares the space's state with the database's, in one round trip."""

    pool: Pool
    _known: OrderedDict[_Address, tuple[tuple[Any, ...], tuple[str, ...]]] = field(default_factory=OrderedDict)

    async def subjects(self, spaces: Sequence[SpaceKey]) -> tuple[str, ...]:
        """Names of what the spaces tell of, as they are now."""
        tenant_id = spaces[0].tenant_id
        found: dict[str, None] = {}
        async with tenant_transaction(self.pool, tenant_id) as connection:
            parameters = {"tenant_id": tenant_id, "space_ids": [space.space_id for space in spaces]}
            states = {
                row[0]: row[1:] for row in await (await connection.execute(_SQL["states"], parameters)).fetchall()
            }
            for space_id, state in states.items():
                known = self._known.get((tenant_id, space_id))
                if known is None or known[0] != state:
                    address = {"tenant_id": tenant_id, "space_id": space_id}
                    rows = await (await connection.execute(_SQL["subjects"], address)).fetchall()
                    labels = [label for _, subject, tags in rows for label in (subject or "", *tags)]
                    known = (state, entity_names((text for text, _, _ in rows), labels))
                    self._keep((tenant_id, space_id), known)
                found |= dict.fromkeys(known[1])
        return tuple(found)

    def _keep(self, address: _Address, known: tuple[tuple[Any, ...], tuple[str, ...]]) -> None:
        self._known[address] = known
        self._known.move_to_end(address)
        if len(self._known) > _SPACES:
            self._known.popitem(last=False)
