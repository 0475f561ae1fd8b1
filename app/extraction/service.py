"""Extraction as a worker calls it: a model where there is one and it may be asked, the rules otherwise."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import structlog

from app.domain.errors import UnavailableError
from app.extraction.model import NonsenseError, batches, believed, prompt_for
from app.extraction.ports import Completer, NoAnswerError, Prompt, TokenBudget
from app.extraction.records import Extracted, Said
from app.extraction.rules import extract

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ExtractionService:
    """What messages say that is worth remembering.

    Attributes:
        completer: The model; None: the rules read everything.
        count: Counts tokens, for what a question will take.
    """

    completer: Completer | None
    budget: TokenBudget
    count: Callable[[str], int]

    async def extract(self, tenant_id: UUID, messages: Sequence[Said], now: datetime) -> tuple[Extracted, ...]:
        """One result for each message, in their order. Never fails for want of a model: the rules stand in.

        Args:
            now: Tells on which day's budget a model is asked.
        """
        if self.completer is None:
            return tuple(await _by_rules(messages))
        results: list[Extracted] = []
        for batch in batches(messages):
            results += await self._asked(self.completer, tenant_id, batch, now) or await _by_rules(batch)
        return tuple(results)

    async def _asked(
        self, completer: Completer, tenant_id: UUID, batch: tuple[Said, ...], now: datetime
    ) -> tuple[Extracted, ...] | None:
        """What the model says and the messages support; None when the rules must stand in."""
        prompt = prompt_for(batch)
        try:
            aside = self._most(prompt)
            if not await self.budget.take(tenant_id, aside, now):
                _log.info("extraction_over_budget", messages=len(batch))
                return None
            try:
                completion = await completer.complete(prompt)
            except NoAnswerError as error:
                await self._correct(tenant_id, error.tokens or 0, aside, now)
                _log.warning("extraction_without_model", reason=str(error), messages=len(batch))
                return None
            await self._correct(tenant_id, completion.tokens, aside, now)
            return believed(completion.text, batch)
        except (NonsenseError, UnavailableError) as error:
            _log.warning("extraction_without_model", reason=str(error), messages=len(batch))
            return None

    def _most(self, prompt: Prompt) -> int:
        """The most tokens that a question and its answer can take."""
        return self.count(prompt.system) + self.count(prompt.user) + prompt.answer_tokens

    async def _correct(self, tenant_id: UUID, tokens: int | None, aside: int, now: datetime) -> None:
        """What was set aside counts where the server does not say what it took."""
        if tokens is not None and tokens != aside:
            await self.budget.correct(tenant_id, tokens - aside, now)


async def _by_rules(messages: Sequence[Said]) -> list[Extracted]:
    """What the rules find; a message takes a millisecond, and between two of them others have their turn."""
    results: list[Extracted] = []
    for said in messages:
        results.append(extract(said))
        await asyncio.sleep(0)
    return results
