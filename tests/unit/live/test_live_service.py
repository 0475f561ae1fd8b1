"""The shell of live assemblies: what hangs, fails or is late is left out and named."""

import asyncio
from time import perf_counter

import pytest

from app.assembly.records import Message, Retrieved
from app.domain.entries import Author
from app.domain.errors import UnavailableError
from app.domain.spaces import SpaceKey
from app.live.records import Heard
from app.live.service import LiveRequest, LiveService
from app.turns.documents import viewer_of
from app.turns.records import Speaker
from tests.builders import NOW, RULES, SPACE, candidate, request, words

STREAM = SpaceKey(SPACE.tenant_id, "stream:x")
ANA, BOB = "viewer:chat:ana", "viewer:chat:bob"


class DeafModels:
    rules = RULES

    async def ask(self, _text, _timeout_s):
        return ()

    def expect(self, _model_ids):
        pass


class Retriever:
    """Answers by space: with what it knows, an error, or nothing ever."""

    def __init__(self, known):
        self.known = known
        self.asked = []

    async def retrieve(self, plan, ask):
        self.asked.append(plan)
        await ask()
        name = plan.spaces[0].name if plan.spaces else ""
        found = self.known.get(name, ())
        if isinstance(found, Exception):
            raise found
        if found is None:
            await StubbornWait().forever()
        return Retrieved(tuple(found))


class StubbornWait:
    """A driver that takes its time to give up: it swallows the first wishes to stop."""

    async def forever(self):
        for _ in range(3):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                await asyncio.sleep(0)


class Sessions:
    def __init__(self, said=()):
        self.said = said

    async def recent(self, _tenant_id, _session):
        if self.said is None:
            await asyncio.Event().wait()
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


class Lore:
    async def subjects(self, _spaces):
        return ("Zorba",)


def service(known, sessions=None):
    return LiveService(
        models=DeafModels(),
        retriever=Retriever(known),
        sessions=sessions or Sessions(),
        lore=Lore(),
        count=words,
        seconds=perf_counter,
    )


def says(who, text):
    author = Author(who.title(), "chat", who)
    return Heard(text=text, author=author, viewer=viewer_of(author, Speaker.USER))


def live(*batch, fingerprint=b"", **fields):
    base = request("", **{"space": STREAM, "persona": STREAM, "timeout_ms": 50, **fields})
    return LiveRequest(base=base, batch=batch, agents=("Giulia",), fingerprint=fingerprint)


ASK_BOTH = (
    says("ana", "Giulia, what do you remember about me?"),
    says("bob", "Giulia, what do you know about me?"),
)


@pytest.mark.parametrize(("broken", "state"), [(None, "late"), (UnavailableError("no"), "failed")])
async def test_a_source_that_hangs_or_fails_is_left_out_and_the_others_are_there(broken, state):
    got, _ = await service({ANA: broken, BOB: [candidate(1, "Bob has hens", space=BOB)]}).assemble(live(*ASK_BOTH))
    assert got.assembled.degraded == (ANA,)
    assert got.sources[ANA] == state
    prompt = got.assembled.assembly.prompt
    assert "Bob has hens" in prompt
    assert f"The memory of Ana ({ANA}) could not be read just now." in prompt
    assert "Nothing is remembered" not in prompt


async def test_asked_outright_with_nothing_there_it_is_said_of_whom():
    got, _ = await service({BOB: [candidate(1, "Bob has hens", space=BOB)]}).assemble(live(*ASK_BOTH))
    assert f"Nothing is remembered about Ana ({ANA})." in got.assembled.assembly.prompt
    assert f"({BOB})" not in got.assembled.assembly.prompt


@pytest.mark.parametrize("said", [None, UnavailableError("no")])
async def test_without_its_session_the_rest_is_assembled(said):
    asked = live(*ASK_BOTH, session=candidate(1, "x").id)
    got, _ = await service({ANA: [candidate(1, "Ana sings", space=ANA)]}, Sessions(said)).assemble(asked)
    assert got.assembled.degraded == ("session",)
    assert "Ana sings" in got.assembled.assembly.prompt


async def test_identical_requests_share_one_flight_and_others_do_not():
    one = service({})
    same = live(*ASK_BOTH, fingerprint=b"same")
    got = await asyncio.gather(
        *(one.assemble(same) for _ in range(4)), one.assemble(live(*ASK_BOTH, fingerprint=b"other"))
    )
    assert [first for _, first in got] == [True, False, False, False, True]
    for_one = len(one.retriever.asked) // 2
    await one.assemble(same)
    assert len(one.retriever.asked) == 3 * for_one


async def test_who_asks_after_the_reading_has_begun_gets_what_is_there_then():
    """Something was forgotten meanwhile: an answer that was begun before is not shared, the next one is."""
    one = service({ANA: [candidate(1, "Ana sings", space=ANA)]})
    same = live(*ASK_BOTH, fingerprint=b"same", timeout_ms=5_000)
    begun, goes_on = asyncio.Event(), asyncio.Event()
    retrieve = one.retriever.retrieve

    async def held(plan, ask):
        found = await retrieve(plan, ask)
        begun.set()
        await goes_on.wait()
        return found

    one.retriever.retrieve = held
    early = asyncio.create_task(one.assemble(same))
    await begun.wait()
    one.retriever.known = {}
    late = [asyncio.create_task(one.assemble(same)) for _ in range(3)]
    await asyncio.sleep(0)
    goes_on.set()
    assert "Ana sings" in (await early)[0].assembled.assembly.prompt
    got = await asyncio.gather(*late)
    assert [first for _, first in got] == [True, False, False]
    assert all("Ana sings" not in answer.assembled.assembly.prompt for answer, _ in got)


async def test_a_waiter_that_goes_away_does_not_take_the_others_answer_away():
    one = service({ANA: [candidate(1, "Ana sings", space=ANA)]})
    same = live(*ASK_BOTH, fingerprint=b"same")
    first, second = (asyncio.create_task(one.assemble(same)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    got, _ = await second
    assert "Ana sings" in got.assembled.assembly.prompt


async def test_one_persons_history_contradicts_and_hides_nobody_elses_memory():
    rome = [candidate(1, "Ana lives in Rome", space=ANA, days=9)]
    asked = live(
        says("ana", "Giulia, what do you know about me?"), history=(Message("I live in Turin", "Bob", NOW, BOB),)
    )
    got, _ = await service({ANA: rome}).assemble(asked)
    assert "Rome" in got.assembled.assembly.prompt


async def test_each_person_is_asked_in_their_own_words():
    one = service({})
    await one.assemble(live(says("ana", "Giulia, where is my cat?"), says("bob", "Giulia, where is my dog?")))
    assert {plan.spaces[0].name: plan.query for plan in one.retriever.asked if plan.spaces} == {
        ANA: "Giulia, where is my cat?",
        BOB: "Giulia, where is my dog?",
    }
