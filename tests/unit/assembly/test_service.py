"""The shell: what fails or is late is left out, and said so."""

import asyncio
from datetime import timedelta
from time import perf_counter
from uuid import UUID

import pytest

from app.assembly.records import Message, Retrieved
from app.assembly.service import AssemblyService
from app.domain.errors import UnavailableError
from app.domain.ids import IdKind, PublicId
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


class Sessions:
    """Answers with what it is given: messages, an error, or nothing ever."""

    def __init__(self, said=()):
        self.said = said

    async def recent(self, _tenant_id, _session):
        if isinstance(self.said, Exception):
            raise self.said
        if self.said is None:
            await asyncio.Event().wait()
        return self.said


def service(retriever, sessions=None) -> AssemblyService:
    return AssemblyService(
        models=DeafModels(), retriever=retriever, sessions=sessions or Sessions(), count=words, seconds=perf_counter
    )


@pytest.mark.parametrize("retriever", [LateRetriever(), FailingRetriever()], ids=["late", "failing"])
async def test_a_store_that_is_late_or_fails_is_left_out_and_said_so(retriever):
    got = await service(retriever).assemble(request("lunch", timeout_ms=20))
    assert got.degraded == ("store",)
    assert "could not be read" in got.assembly.prompt


async def test_without_the_dense_arm_the_rest_is_assembled():
    got = await service(QuickRetriever()).assemble(request("lunch"))
    assert got.degraded == ("dense",)
    assert "Likes lunch at noon" in got.assembly.prompt


SESSION = PublicId(UUID(int=1), UUID(int=2), IdKind.SESSION)


@pytest.mark.parametrize("said", [None, UnavailableError("no Redis")], ids=["late", "down"])
async def test_without_working_memory_the_prompt_is_assembled_and_says_so(said):
    got = await service(QuickRetriever(), Sessions(said)).assemble(request("lunch", session=SESSION, timeout_ms=50))
    assert got.degraded == ("dense", "session")
    assert "Likes lunch at noon" in got.assembly.prompt


async def test_what_a_session_said_is_the_history_of_the_pipeline():
    said = (Message("Ana likes lunch at noon"),)
    got = await service(QuickRetriever(), Sessions(said)).assemble(request("lunch", session=SESSION))
    assert got.assembly.selection.dropped_counts == {"covered_by_history": 1}


async def test_looking_back_sees_nothing_that_was_said_later():
    asked = request("lunch", session=SESSION, looks_back=True)
    later = (Message("Ana likes lunch at noon", at=asked.as_of + timedelta(seconds=1)),)
    got = await service(QuickRetriever(), Sessions(later)).assemble(asked)
    assert "Likes lunch at noon" in got.assembly.prompt
