"""A budget of tokens in memory."""

from datetime import datetime
from uuid import UUID

from app.domain.errors import UnavailableError


class Budget:
    """One tenant's day."""

    def __init__(self, left: int = 100_000) -> None:
        self.left = left
        self.fails = False

    async def take(self, _tenant_id: UUID, tokens: int, _now: datetime) -> bool:
        if self.fails:
            raise UnavailableError("the database does not answer")
        if tokens > self.left:
            return False
        self.left -= tokens
        return True

    async def correct(self, _tenant_id: UUID, tokens: int, _now: datetime) -> None:
        self.left -= tokens
