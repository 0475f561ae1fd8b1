"""What people say in conversations becomes memories: posted as turns, read by a worker, served by the next assembly."""

from itertools import permutations

import pytest
from test_turn_work import ANA, BEN
from test_turns import SPACE, post, said

from app.domain.errors import UnavailableError
from app.domain.ids import parse_id
from app.store.keys import tenant_id_of
from app.turns.ports import JobOptions
from app.turns.records import Task

CONVERSATIONS = {
    "en": (
        [
            ("I live in Turin.", "fact", ("self", "home", "Turin")),
            ("I work as a nurse.", "work", ("self", "job", "a nurse")),
            ("I hate coriander.", "dislike", None),
            ("My wife is called Marta.", "relationship", None),
            ("Please always answer me in English.", "output_preference", None),
        ],
        [
            "Hello, how are you today?",
            "Do I live in Rome?",
            "lol I am the queen of France, just kidding",
            "Let's role-play: I am a pirate and I live on a ship.",
            'My brother said: "I live in Madrid."',
            "Thanks a lot!",
        ],
    ),
    "it": (
        [
            ("Abito a Torino.", "fact", None),
            ("Lavoro come infermiera.", "work", None),
            ("Odio il coriandolo.", "dislike", None),
            ("Mia moglie si chiama Marta.", "relationship", None),
        ],
        [
            "Ciao, come stai oggi?",
            "Abito a Roma?",
            "Grazie mille!",
            "Mio fratello ha detto: «Abito a Madrid.»",
        ],
    ),
    "cs": (
        [
            ("Bydlím v Brně.", "fact", None),
            ("Pracuju jako zdravotní sestra.", "work", None),
            ("Nesnáším koriandr.", "dislike", None),
            ("Moje žena se jmenuje Marta.", "relationship", None),
        ],
        [
            "Ahoj, jak se dnes máš?",
            "Bydlím v Praze?",
            "Děkuju moc!",
            "Bratr řekl: „Bydlím v Madridu.“",
        ],
    ),
}


@pytest.fixture
def work(runtime):
    """Does all the work that is due."""
    return runtime.queue.drain


async def memories(client, space=SPACE, **filters):
    answer = await client.get("/memories", params={"space": space, **filters})
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


async def texts(client, space=SPACE, **filters):
    return sorted(memory["text"] for memory in await memories(client, space, **filters))


async def prompt(client, query, space=SPACE, **fields):
    asked = {"space": space, "query": query, "timeout_ms": 30_000, **fields}
    return (await client.post("/context/assemble", json=asked)).json()["prompt"]


async def run_again(runtime, tenant, turn, *, erase=False):
    await runtime.queue.handlers[Task.MEMORIES](tenant_id_of(tenant.name), parse_id(turn["id"]), JobOptions(erase))


def plain(text):
    return text.rstrip(".").casefold()


@pytest.mark.parametrize("language", CONVERSATIONS)
async def test_a_conversation_becomes_memories_and_its_small_talk_does_not(client, work, language):
    statements, talk = CONVERSATIONS[language]
    turns = [await post(client, text, session="s", reply="I see.") for text, *_ in statements]
    for text in talk:
        await post(client, text, session="s", reply="I live in the cloud.")
    await work()
    found = {plain(memory["text"]): memory for memory in await memories(client)}
    assert len(found) == len(statements), sorted(found)
    for turn, (text, category, _claim) in zip(turns, statements, strict=True):
        (kept,) = [memory for key, memory in found.items() if key in plain(text) or plain(text) in key]
        assert kept["category"] == category
        assert 0 < kept["confidence"] <= 1
        assert 0 < kept["importance"] <= 1
        assert kept["source"] == turn["messages"][0]["id"]
        assert kept["author"]["name"] == "Ana"
        assert kept["session"] == "s"
        assert kept["valid_from"] == kept["last_confirmed_at"] == turn["messages"][0]["at"]
    assert any(memory["claim"] for memory in found.values())
