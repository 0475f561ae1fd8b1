"""What a live assembly needs of the world beside what every assembly needs."""

from collections.abc import Sequence
from typing import Protocol

from app.domain.spaces import SpaceKey


class LoreSubjects(Protocol):
    """What lore is about."""

    async def subjects(self, spaces: Sequence[SpaceKey]) -> tuple[str, ...]:
        """Names of what the spaces tell of, as they are now.

        Raises:
            UnavailableError: If the store does not answer.
        """
        ...
