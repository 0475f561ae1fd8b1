"""What each tenant had a language model take, by day."""

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from app.store.entries import Pool
from app.store.pool import tenant_transaction
from app.store.queries import load

_SQL = load("llm_budget")


@dataclass(frozen=True, slots=True)
class PostgresTokenBudget:
    """Implements `app.extraction.ports.TokenBudget`, for every process of the database.

    Attributes:
        tokens_per_day: The limit of each tenant.
    """

    pool: Pool
    tokens_per_day: int

    async def take(self, tenant_id: UUID, tokens: int, now: datetime) -> bool:
        """Set so many tokens aside; False, and nothing taken, when they are more than is left.

        Raises:
            UnavailableError: If the database does not answer.
        """
        day = now.astimezone(UTC).date()
        async with tenant_transaction(self.pool, tenant_id) as connection:
            await connection.execute(_SQL["purge"], {"tenant_id": tenant_id, "day": day})
            taken = await connection.execute(
                _SQL["take"], {"tenant_id": tenant_id, "day": day, "tokens": tokens, "limit": self.tokens_per_day}
            )
            return taken.rowcount == 1

    async def correct(self, tenant_id: UUID, tokens: int, now: datetime) -> None:
        """Add what was taken beyond what had been set aside, or give back what was not.

        Raises:
            UnavailableError: If the database does not answer.
        """
        day = now.astimezone(UTC).date()
        async with tenant_transaction(self.pool, tenant_id) as connection:
            await connection.execute(_SQL["correct"], {"tenant_id": tenant_id, "day": day, "tokens": tokens})
