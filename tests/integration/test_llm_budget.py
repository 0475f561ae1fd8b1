"""What a tenant may have a language model take in a day."""

import asyncio
from datetime import UTC, datetime, timedelta, timezone

from app.store.llm_budget import PostgresTokenBudget

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


async def test_tokens_are_taken_until_the_day_is_full_and_given_back(store):
    budget, tenant = PostgresTokenBudget(store.pool, 100), store.tenant().tenant_id
    assert await budget.take(tenant, 60, NOON)
    assert not await budget.take(tenant, 50, NOON)
    await budget.correct(tenant, -40, NOON)
    assert await budget.take(tenant, 80, NOON)
    assert not await budget.take(tenant, 1, NOON)


async def test_another_tenant_and_another_day_have_budgets_of_their_own(store):
    budget, tenant = PostgresTokenBudget(store.pool, 100), store.tenant().tenant_id
    assert await budget.take(tenant, 100, NOON)
    assert await budget.take(store.tenant().tenant_id, 100, NOON)
    assert not await budget.take(tenant, 1, (NOON + timedelta(hours=11)).astimezone(timezone(timedelta(hours=9))))
    assert await budget.take(tenant, 100, NOON + timedelta(days=1))


async def test_more_than_a_whole_day_is_refused_at_once_and_a_budget_of_none_refuses_all(store):
    tenant = store.tenant().tenant_id
    assert not await PostgresTokenBudget(store.pool, 100).take(tenant, 101, NOON)
    assert not await PostgresTokenBudget(store.pool, 0).take(tenant, 1, NOON)


async def test_what_is_taken_at_once_never_adds_up_to_more_than_the_limit(store):
    budget, tenant = PostgresTokenBudget(store.pool, 100), store.tenant().tenant_id
    taken = await asyncio.gather(*(budget.take(tenant, 30, NOON) for _ in range(8)))
    assert sum(taken) == 3
