"""What extraction by a model needs of the world."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked.

    Attributes:
        schema: The JSON Schema that the answer must fit.
        answer_tokens: The most tokens that the answer may take.
    """

    system: str
    user: str
    schema: Mapping[str, Any]
    answer_tokens: int


@dataclass(frozen=True, slots=True)
class Completion:
    """What it answered, and how many tokens question and answer took; None where the server does not say."""

    text: str
    tokens: int | None


class NoAnswerError(Exception):
    """The model is not there, is late, refused, or was cut short.

    Attributes:
        tokens: What it took all the same, if the server said so.
    """

    def __init__(self, message: str, tokens: int | None = None) -> None:
        super().__init__(message)
        self.tokens = tokens


class Completer(Protocol):
    """A language model."""

    async def complete(self, prompt: Prompt) -> Completion:
        """Answer.

        Raises:
            NoAnswerError: If there is no whole answer in time.
        """
        ...


class TokenBudget(Protocol):
    """How many tokens a tenant may have a model take in a day (UTC)."""

    async def take(self, tenant_id: UUID, tokens: int, now: datetime) -> bool:
        """Set so many tokens aside; False, and nothing taken, when they are more than is left.

        Raises:
            UnavailableError: If the store does not answer.
        """
        ...

    async def correct(self, tenant_id: UUID, tokens: int, now: datetime) -> None:
        """Add what was taken beyond what had been set aside for that day, or give back what was not (negative).

        Raises:
            UnavailableError: If the store does not answer.
        """
        ...
