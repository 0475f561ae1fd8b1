"""What maintenance sees of the store."""

from dataclasses import dataclass
from uuid import UUID

from app.domain.spaces import SpaceKey
from app.store.entries import Pool
from app.store.pool import tenant_transaction, transaction
from app.store.queries import load

_SQL = load("maintenance")
_PURGES = (load("assemblies")["purge_assemblies"], load("idempotency")["purge"], load("keys")["purge_expired"])


@dataclass(frozen=True, slots=True)
class PostgresHousekeeping:
    """Housekeeping over one pool."""

    pool: Pool

    async def tenants(self) -> tuple[UUID, ...]:
        """All tenants, in a stable order."""
        async with transaction(self.pool, "app.maintenance", "on") as connection:
            cursor = await connection.execute(_SQL["tenants"])
            return tuple(row[0] for row in await cursor.fetchall())

    async def spaces_with_proposals(self, tenant_id: UUID) -> tuple[SpaceKey, ...]:
        """The spaces of a tenant in which proposals wait."""
        async with tenant_transaction(self.pool, tenant_id) as connection:
            cursor = await connection.execute(_SQL["spaces_with_proposals"], {"tenant_id": tenant_id})
            return tuple(SpaceKey(tenant_id, row[0]) for row in await cursor.fetchall())

    async def purge(self, tenant_id: UUID, assembly_log_days: int) -> int:
        """Remove what has run out."""
        parameters = {"tenant_id": tenant_id, "days": assembly_log_days}
        async with tenant_transaction(self.pool, tenant_id) as connection:
            return sum([(await connection.execute(statement, parameters)).rowcount for statement in _PURGES])
