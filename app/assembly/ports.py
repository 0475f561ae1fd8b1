"""What an assembly needs of the world."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Protocol
from uuid import UUID

from app.assembly.plan import QueryPlan
from app.assembly.records import AssemblyRules, Message, Retrieved
from app.domain.ids import PublicId
from app.scoring.asked import Asked


class Models(Protocol):
    """The embedding models that serve the store: one normally, two while it changes from one to the other."""

    @property
    def rules(self) -> AssemblyRules:
        """What is fixed for the running service, and for each model."""
        ...

    async def ask(self, text: str, timeout_s: float) -> tuple[Asked, ...]:
        """The question as each model hears it, at least one. An empty one, and a model that fails, has no vector."""
        ...

    def expect(self, model_ids: Iterable[int]) -> None:
        """Note which models serve what is read: one that was not there is fetched."""
        ...


Ask = Callable[[], Awaitable[Sequence[Asked]]]
"""Lets the models hear the question. Takes milliseconds, in which the store can be looked at."""


class Retriever(Protocol):
    """Searches every tier of the planned spaces."""

    async def retrieve(self, plan: QueryPlan, ask: Ask) -> Retrieved:
        """Candidates and soul blocks, in one round trip. Without its model's vector a space has no dense arm."""
        ...


class Sessions(Protocol):
    """What was said in a session lately."""

    async def recent(self, tenant_id: UUID, session: PublicId) -> tuple[Message, ...]:
        """Oldest first; nothing for a session that is not known.

        Raises:
            UnavailableError: If it cannot be had.
        """
        ...
