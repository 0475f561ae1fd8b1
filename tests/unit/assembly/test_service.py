"""The shell: what fails or is late is left out, and said so."""

import asyncio
from time import perf_counter

import pytest

from app.assembly.records import Retrieved
from app.assembly.service import AssemblyService
from app.domain.errors import UnavailableError
from tests.builders import RULES, candidate, request, words


class DeafModels:
    """Models that hear nothing."""

    rules = RULES

    async def ask(self, _text, _timeout_s):
        return ()

    def expect(self, _model_ids):
        pass


class LateRetriever:
    """Never comes back."""

    async def retrieve(self, _plan, _asked):
        await asyncio.Event().wait()


class FailingRetriever:
    """Cannot be reached."""

    async def retrieve(self, _plan, _asked):
        raise UnavailableError("the database does not answer")


class QuickRetriever:
    """Answers at once, without the dense arm."""

    async def retrieve(self, _plan, _asked):
        return Retrieved((candidate(1, "Likes lunch at noon"),), degraded=("dense",))


def service(retriever) -> AssemblyService:
    return AssemblyService(models=DeafModels(), retriever=retriever, count=words, seconds=perf_counter)


@pytest.mark.parametrize("retriever", [LateRetriever(), FailingRetriever()], ids=["late", "failing"])
async def test_a_store_that_is_late_or_fails_is_left_out_and_said_so(retriever):
    got = await service(retriever).assemble(request("lunch", timeout_ms=20))
    assert got.degraded == ("store",)
    assert "could not be read" in got.assembly.prompt


async def test_without_the_dense_arm_the_rest_is_assembled():
    got = await service(QuickRetriever()).assemble(request("lunch"))
    assert got.degraded == ("dense",)
    assert "Likes lunch at noon" in got.assembly.prompt
