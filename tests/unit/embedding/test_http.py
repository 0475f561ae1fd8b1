"""The embedder behind a server, against one on the loopback that misbehaves."""

import asyncio
from collections.abc import AsyncIterator

import numpy as np
import orjson
import pytest

from app.domain.errors import UnavailableError
from app.embedding.http import HttpEmbedder, ServerLimits, World
from app.embedding.local import Prefixes
from app.embedding.models import SERVED_DOCUMENT_WINDOWS, SERVED_QUERY_WINDOWS, EmbeddingModel
from app.embedding.wire import endpoint
from tests.fakes.embedding_server import EmbeddingServer, answers, changed, hangs_up, stalls, truncates, well

KEY = "sk-secret-1234"
OLLAMA_NAN = b'{"error": {"message": "failed to encode response: json: unsupported value: NaN"}}'
PAUSE_S = 5.0


class Clock:
    """Time that passes by sleeping only."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def seconds(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def server() -> AsyncIterator[EmbeddingServer]:
    async with EmbeddingServer() as made:
        yield made


@pytest.fixture
async def embedder_of(server: EmbeddingServer, clock: Clock):
    """Makes embedders over the server; started unless told otherwise."""
    made: list[HttpEmbedder] = []

    async def make(
        path: str = "/v1/embeddings",
        *,
        url: str | None = None,
        dimensions: int | None = None,
        start: bool = True,
        timeout_s: float = 10.0,
        batch_texts: int = 32,
        prefixes: Prefixes | None = None,
    ) -> HttpEmbedder:
        model = EmbeddingModel("hashed", dimensions, "any", SERVED_QUERY_WINDOWS, SERVED_DOCUMENT_WINDOWS)
        where = endpoint(url or server.url(path), "the-model")
        limits, world = ServerLimits(batch_texts, timeout_s), World(clock.seconds, clock.sleep)
        embedder = HttpEmbedder(where, model, limits, api_key=KEY, prefixes=prefixes, world=world)
        made.append(embedder)
        if start:
            await embedder.start()
            server.asked.clear()
        return embedder

    yield make
    for embedder in made:
        await embedder.close()


# --- what is sent ----------------------------------------------------------------------------


async def test_openai_is_asked_for_the_model_and_never_for_dimensions(embedder_of, server):
    embedder = await embedder_of()
    await embedder.embed_query("hello")
    [asked] = server.asked
    assert asked.fields == {"model": "the-model", "input": ["hello"]}
    assert asked.headers["authorization"] == f"Bearer {KEY}"


async def test_tei_is_asked_to_normalise_and_to_truncate(embedder_of, server):
    embedder = await embedder_of("/embed")
    await embedder.embed_query("hello")
    assert server.asked[0].fields == {"inputs": ["hello"], "normalize": True, "truncate": True}


async def test_documents_go_in_batches_that_the_server_takes(embedder_of, server):
    embedder = await embedder_of(batch_texts=4)
    vectors = await embedder.embed_documents([f"note {n}" for n in range(10)])
    assert [len(asked.texts) for asked in server.asked] == [4, 4, 2]
    np.testing.assert_allclose(vectors[9], await server.model.embed_query("note 9"), atol=1e-6)


async def test_a_long_text_is_cut_into_windows_and_its_tail_is_not_sent(embedder_of, server):
    embedder = await embedder_of()
    await embedder.embed_documents(["word " * 100_000])
    assert [len(asked.texts) for asked in server.asked] == [SERVED_DOCUMENT_WINDOWS.max_windows]
    assert all(len(text) <= SERVED_DOCUMENT_WINDOWS.window_chars for text in server.asked[0].texts)


async def test_prefixes_stand_before_questions_and_documents(embedder_of, server):
    embedder = await embedder_of(prefixes=Prefixes("query: ", "passage: "))
    await embedder.embed_query("tea")
    await embedder.embed_documents(["tea"])
    assert [asked.texts for asked in server.asked] == [["query: tea"], ["passage: tea"]]


async def test_a_blank_text_is_sent_as_a_full_stop_because_servers_refuse_the_empty_one(embedder_of, server):
    embedder = await embedder_of()
    await embedder.embed_documents([" ", "tea"])
    assert server.asked[0].texts == [".", "tea"]


async def test_equal_questions_are_asked_once(embedder_of, server):
    embedder = await embedder_of()
    first, *others = await asyncio.gather(*(embedder.embed_query("tea") for _ in range(5)))
    assert len(server.asked) == 1
    assert all(other is first for other in [*others, await embedder.embed_query("tea")])
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 7


# --- what comes back -------------------------------------------------------------------------


async def test_the_dimensions_are_learnt_at_the_start(embedder_of):
    assert (await embedder_of()).dimensions == 64


async def test_vectors_are_normalised(embedder_of, server):
    embedder = await embedder_of()
    server.coming.append(changed(lambda rows: [[7 * x for x in row] for row in rows]))
    assert np.linalg.norm(await embedder.embed_query("tea")) == pytest.approx(1, abs=1e-5)


BAD_REPLIES = {
    "one vector too few": (changed(lambda rows: rows[1:]), "0 vectors for 1 texts"),
    "one too many": (changed(lambda rows: [*rows, rows[0]]), "2 vectors for 1 texts"),
    "wrong size": (changed(lambda rows: [row[:3] for row in rows]), "3 dimensions, not 64"),
    "different sizes": (changed(lambda rows: [rows[0], rows[0][:3]]), "vectors for 1 texts"),
    "NaN": (answers(200, orjson.dumps({"data": [{"embedding": [0.5] * 64}]}).replace(b"0.5", b"NaN")), "not finite"),
    "NaN that Ollama cannot write": (answers(500, OLLAMA_NAN), "unsupported value: NaN"),
    "nulls": (changed(lambda rows: [[None] * 64 for _ in rows]), "no|finite"),
    "overflow": (changed(lambda rows: [[1e300] * 64 for _ in rows]), "not finite"),
    "zeros": (changed(lambda rows: [[0.0] * 64 for _ in rows]), "zeros"),
    "words": (changed(lambda rows: [["x"] * 64 for _ in rows]), "no numbers"),
    "base64": (changed(lambda rows: ["AAAA" for _ in rows]), "no"),
    "HTML": (answers(200, b"<html><body>Welcome to nginx</body></html>"), "Welcome to nginx"),
    "wrong numbering": (answers(200, orjson.dumps({"data": [{"index": 7, "embedding": [1.0]}]})), "index"),
    "no data": (answers(200, b'{"object": "list"}'), "no list"),
    "not found": (answers(404, b'{"error": "model not found"}'), 'HTTP 404: {"error": "model not found"}'),
    "unauthorised": (answers(401, f"bad key {KEY}".encode()), r"HTTP 401: bad key \*\*\*"),
    "refused": (answers(413, b"too long"), "HTTP 413: too long"),
    "moved": (answers(307, b"", Location="http://elsewhere/"), "HTTP 307"),
    "failing": (answers(500, b"out of memory"), "HTTP 500: out of memory"),
    "busy": (answers(429, b"slow down"), "HTTP 429: slow down"),
    "cut short": (truncates, "server for hashed"),
    "connection closed": (hangs_up, "server for hashed"),
}


@pytest.mark.parametrize(("behaviour", "message"), BAD_REPLIES.values(), ids=BAD_REPLIES)
@pytest.mark.parametrize("kind", ["question", "document"])
async def test_a_bad_reply_is_an_error_that_names_it(embedder_of, server, behaviour, message, kind):
    embedder = await embedder_of()
    server.always = behaviour
    with pytest.raises(UnavailableError, match=message) as raised:
        await (embedder.embed_query("tea") if kind == "question" else embedder.embed_documents(["tea"]))
    assert type(raised.value) is UnavailableError
    assert KEY not in str(raised.value)


async def test_only_the_first_characters_of_an_answer_are_named(embedder_of, server):
    embedder = await embedder_of()
    server.always = answers(500, b"x" * 100_000)
    with pytest.raises(UnavailableError) as raised:
        await embedder.embed_query("tea")
    assert str(raised.value).count("x") == 200


async def test_a_server_that_stalls_is_given_up_after_the_timeout_and_not_asked_again(embedder_of, server):
    embedder = await embedder_of(timeout_s=0.05)
    server.always = stalls
    for call in (embedder.embed_query("tea"), embedder.embed_documents(["tea"])):
        with pytest.raises(UnavailableError, match=r"no answer within 0\.05 s"):
            await call


# --- again -----------------------------------------------------------------------------------


@pytest.mark.parametrize("behaviour", [hangs_up, truncates, answers(503), answers(500), answers(200, b"<html>")])
async def test_one_failure_is_not_noticed(embedder_of, server, clock, behaviour):
    embedder = await embedder_of()
    server.coming.extend([behaviour])
    expected = await server.model.embed_query("tea")
    np.testing.assert_allclose(await embedder.embed_query("tea"), expected, atol=1e-6)
    server.coming.extend([behaviour, behaviour, behaviour])
    np.testing.assert_allclose((await embedder.embed_documents(["tea"]))[0], expected, atol=1e-6)
    assert len(clock.slept) == 4
    assert all(0 <= slept <= 2 for slept in clock.slept)


async def test_retry_after_is_heeded_for_documents_and_too_long_for_questions(embedder_of, server, clock):
    embedder = await embedder_of()
    server.coming.append(answers(429, Retry_After="3"))
    await embedder.embed_documents(["tea"])
    assert clock.slept == [3.0]
    server.coming.append(answers(429, Retry_After="3"))
    with pytest.raises(UnavailableError, match="429"):
        await embedder.embed_query("tea")
    assert clock.slept == [3.0]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
async def test_what_will_not_change_is_not_asked_again(embedder_of, server, status):
    embedder = await embedder_of()
    server.always = answers(status)
    with pytest.raises(UnavailableError):
        await embedder.embed_documents(["tea"])
    assert len(server.asked) == 1


# --- leaving it alone ------------------------------------------------------------------------


async def fail_until_open(embedder: HttpEmbedder, server: EmbeddingServer) -> None:
    server.always = answers(500)
    for n in range(3):
        with pytest.raises(UnavailableError):
            await embedder.embed_query(f"question {n}")
    server.asked.clear()


async def test_a_failing_server_is_left_alone_and_questions_fail_at_once(embedder_of, server):
    embedder = await embedder_of()
    await fail_until_open(embedder, server)
    for n in range(20):
        with pytest.raises(UnavailableError, match="left alone"):
            await embedder.embed_query(f"another {n}")
    assert not server.asked


async def test_after_a_pause_one_question_looks_and_the_others_do_not_wait_for_it(embedder_of, server, clock):
    embedder = await embedder_of()
    await fail_until_open(embedder, server)
    clock.now += PAUSE_S
    server.always = stalls
    server.arrived.clear()
    probe = asyncio.create_task(embedder.embed_query("is it back?"))
    await server.arrived.wait()
    with pytest.raises(UnavailableError, match="left alone"):
        await embedder.embed_query("another")
    probe.cancel()


async def test_it_recovers_when_the_server_does(embedder_of, server, clock):
    embedder = await embedder_of()
    await fail_until_open(embedder, server)
    server.always = well
    clock.now += PAUSE_S
    await embedder.embed_query("is it back?")
    await asyncio.gather(*(embedder.embed_query(f"another {n}") for n in range(5)))
    assert len(server.asked) == 6


async def test_a_probe_that_fails_leaves_it_alone_for_another_pause(embedder_of, server, clock):
    embedder = await embedder_of()
    await fail_until_open(embedder, server)
    clock.now += PAUSE_S
    for _ in range(2):
        with pytest.raises(UnavailableError):
            await embedder.embed_query("is it back?")
    assert len(server.asked) == 1


async def test_documents_do_not_suffer_for_questions_nor_questions_for_documents(embedder_of, server):
    embedder = await embedder_of()
    await fail_until_open(embedder, server)
    server.always = well
    await embedder.embed_documents(["tea"])


@pytest.mark.parametrize("refusal", [answers(413), answers(500, OLLAMA_NAN), changed(lambda _: [[0.0] * 64])])
async def test_texts_for_which_the_server_has_no_vector_do_not_count_against_it(embedder_of, server, refusal):
    embedder = await embedder_of()
    server.always = refusal
    for n in range(10):
        with pytest.raises(UnavailableError, match="the embedding server for"):
            await embedder.embed_query(f"odd {n}")
    assert len(server.asked) == 10
    server.always = well
    await embedder.embed_query("short")


async def test_a_question_that_nobody_waits_for_still_tells_whether_the_server_is_well(embedder_of, server):
    embedder = await embedder_of(timeout_s=0.05)
    server.always = stalls
    for n in range(3):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(embedder.embed_query(f"question {n}"), 0.001)
    with pytest.raises(UnavailableError, match="no answer"):
        await embedder.embed_query("question 2")
    with pytest.raises(UnavailableError, match="left alone"):
        await embedder.embed_query("question 3")


async def test_a_caller_that_leaves_takes_the_answer_from_nobody(embedder_of):
    embedder = await embedder_of()
    leaving, staying = (asyncio.create_task(embedder.embed_query("tea")) for _ in range(2))
    await asyncio.sleep(0)
    leaving.cancel()
    assert (await staying).shape == (64,)


# --- start and end ---------------------------------------------------------------------------


async def test_a_server_that_is_not_there_yet_is_no_error_if_the_dimensions_are_known(embedder_of, server):
    server.always = answers(503)
    embedder = await embedder_of(dimensions=64)
    assert embedder.dimensions == 64
    server.always = well
    assert (await embedder.embed_query("tea")).shape == (64,)


@pytest.mark.parametrize(
    ("behaviour", "dimensions", "message"),
    [
        (answers(503), None, "HTTP 503"),
        (well, 1024, "64 dimensions, not 1024"),
        (answers(401), 64, "HTTP 401"),
        (answers(200, b"<html>"), 64, "not JSON"),
    ],
)
async def test_a_server_that_answers_wrongly_stops_the_start(embedder_of, server, behaviour, dimensions, message):
    server.always = behaviour
    with pytest.raises(UnavailableError, match=message):
        await embedder_of(dimensions=dimensions)


async def test_nobody_listening_is_an_error_of_one_line(embedder_of, server):
    with pytest.raises(UnavailableError, match=r"the embedding server for hashed: .*connect"):
        await embedder_of(url="http://127.0.0.1:9/v1/embeddings")


async def test_dimensions_are_unknown_before_the_start(embedder_of):
    with pytest.raises(UnavailableError, match="not been started"):
        _ = (await embedder_of(start=False)).dimensions


async def test_closing_answers_those_who_wait_and_refuses_those_who_come(embedder_of, server):
    embedder = await embedder_of()
    server.always = stalls
    server.arrived.clear()
    waiting = asyncio.create_task(embedder.embed_query("tea"))
    await server.arrived.wait()
    await embedder.close()
    with pytest.raises(UnavailableError, match="closed"):
        await waiting
    await embedder.close()
    for call in (embedder.embed_query("late"), embedder.embed_documents(["late"])):
        with pytest.raises(UnavailableError, match="closed"):
            await call
