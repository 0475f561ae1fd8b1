"""Extraction as a worker calls it: a model where there is one and it may be asked, the rules otherwise."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import structlog

from app.extraction.budgeted import BudgetedCompleter
from app.extraction.model import NonsenseError, batches, believed, prompt_for
from app.extraction.ports import NoAnswerError
from app.extraction.records import Extracted, Said
from app.extraction.rules import extract

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ExtractionService:
    """What messages say that is worth remembering.

    Attributes:
        model: None: the rules read everything.
    """

    model: BudgetedCompleter | None

    async def extract(self, tenant_id: UUID, messages: Sequence[Said], now: datetime) -> tuple[Extracted, ...]:
        """One result for each message, in their order. Never fails for want of a model: the rules stand in.

        Args:
            now: Tells on which day's budget a model is asked.
        """
        if self.model is None:
            return tuple(await _by_rules(messages))
        results: list[Extracted] = []
        for batch in batches(messages):
            results += await _asked(self.model, tenant_id, batch, now) or await _by_rules(batch)
        return tuple(results)


async def _asked(
    model: BudgetedCompleter, tenant_id: UUID, batch: tuple[Said, ...], now: datetime
) -> tuple[Extracted, ...] | None:
    """What the model says and the messages support; None when the rules must stand in."""
    try:
        completion = await model.complete(tenant_id, prompt_for(batch), now)
        return believed(completion.text, batch)
    except (NoAnswerError, NonsenseError) as error:
        _log.warning("extraction_without_model", reason=type(error).__name__, messages=len(batch))
        return None


async def _by_rules(messages: Sequence[Said]) -> list[Extracted]:
    """What the rules find; a message takes a millisecond, and between two of them others have their turn."""
    results: list[Extracted] = []
    for said in messages:
        results.append(extract(said))
        await asyncio.sleep(0)
    return results
