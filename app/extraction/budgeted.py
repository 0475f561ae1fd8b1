"""A language model within the budget of a tenant: whatever it is asked for, it is asked through this."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.errors import UnavailableError
from app.extraction.ports import Completer, Completion, NoAnswerError, Prompt, TokenBudget


@dataclass(frozen=True, slots=True)
class BudgetedCompleter:
    """A model that a tenant may have answer as long as its tokens of the day last.

    Attributes:
        count: Counts tokens, for what a question will take.
    """

    completer: Completer
    budget: TokenBudget
    count: Callable[[str], int]

    async def complete(self, tenant_id: UUID, prompt: Prompt, now: datetime) -> Completion:
        """Answer. The most that it can take is set aside before, and corrected by what the server says it took.

        Args:
            now: Tells on which day's budget it is asked.

        Raises:
            NoAnswerError: If there is no whole answer in time, or the budget does not allow one or cannot be read.
        """
        aside = self.count(prompt.system) + self.count(prompt.user) + prompt.answer_tokens
        try:
            if not await self.budget.take(tenant_id, aside, now):
                raise NoAnswerError("the budget of the day is spent")
            try:
                completion = await self.completer.complete(prompt)
            except NoAnswerError as error:
                await self._correct(tenant_id, error.tokens or 0, aside, now)
                raise
            await self._correct(tenant_id, completion.tokens, aside, now)
        except UnavailableError as error:
            raise NoAnswerError(str(error)) from error
        return completion

    async def _correct(self, tenant_id: UUID, tokens: int | None, aside: int, now: datetime) -> None:
        """What was set aside counts where the server does not say what it took."""
        if tokens is not None and tokens != aside:
            await self.budget.correct(tenant_id, tokens - aside, now)
