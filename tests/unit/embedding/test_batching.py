"""The thread, tried with encoders that the test holds back and lets go."""

import asyncio
from collections.abc import Callable
from threading import Event

import numpy as np
import pytest

from app.domain.errors import UnavailableError
from app.embedding.batching import BatchLimits, Encode, EncodingThread, Vectors


def by_length(texts: list[str]) -> Vectors:
    """A unit vector that tells the length of its text."""
    angles = np.array([len(text) / 100 for text in texts], np.float32)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


class HeldEncoder:
    """Notes its batches; waits in each one until `go`. A text `bad` fails its batch."""

    def __init__(self, *, is_open: bool = False) -> None:
        self.batches: list[list[str]] = []
        self.entered, self.go = Event(), Event()
        if is_open:
            self.go.set()

    def __call__(self, texts: list[str]) -> Vectors:
        self.batches.append(texts)
        self.entered.set()
        assert self.go.wait(5)
        if "bad" in texts:
            raise ValueError("cannot read this")
        return by_length(texts)


@pytest.fixture
def thread_of():
    made: list[EncodingThread] = []

    def make(encode: Encode, load: Callable[[], Encode] | None = None, **limits: int) -> EncodingThread:
        made.append(EncodingThread(load or (lambda: encode), BatchLimits(**limits), "test"))
        return made[-1]

    yield make
    for thread in made:
        thread.close()


async def blocked(thread: EncodingThread, encode: HeldEncoder) -> asyncio.Task[Vectors]:
    """A first question that keeps the thread busy, so that what follows must wait."""
    task = asyncio.create_task(thread.query(("first",)))
    await asyncio.to_thread(encode.entered.wait, 5)
    return task


async def queued(*coroutines) -> list[asyncio.Task[Vectors]]:
    """Tasks that have submitted their work, in this order."""
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    await asyncio.sleep(0)
    return tasks


async def test_what_waits_goes_in_one_batch(thread_of):
    encode = HeldEncoder()
    thread = thread_of(encode)
    tasks = [await blocked(thread, encode), *await queued(*(thread.query((str(n),)) for n in range(5)))]
    encode.go.set()
    await asyncio.gather(*tasks)
    assert encode.batches == [["first"], ["0", "1", "2", "3", "4"]]


async def test_questions_go_before_documents_that_waited_longer(thread_of):
    encode = HeldEncoder()
    thread = thread_of(encode)
    tasks = [
        await blocked(thread, encode),
        *await queued(thread.documents([("document",)]), thread.query(("q",))),
    ]
    encode.go.set()
    await asyncio.gather(*tasks)
    assert encode.batches == [["first"], ["q"], ["document"]]


async def test_a_question_waits_for_one_slice_of_an_import_only(thread_of):
    encode = HeldEncoder()
    thread = thread_of(encode, batch_texts=2)
    importing = asyncio.create_task(thread.documents([(f"d{n}",) for n in range(6)]))
    await asyncio.to_thread(encode.entered.wait, 5)
    [asking] = await queued(thread.query(("q",)))
    encode.go.set()
    await asyncio.gather(importing, asking)
    assert encode.batches[:2] == [["d0", "d1"], ["q"]]
    assert [len(batch) for batch in encode.batches[2:]] == [2, 2]


async def test_batches_are_bounded_by_characters_too(thread_of):
    encode = HeldEncoder(is_open=True)
    vectors = await thread_of(encode, batch_chars=10).documents([("aaaa",), ("bbbb",), ("cccc",), ("d" * 50,)])
    assert [[len(text) for text in batch] for batch in encode.batches] == [[4, 4], [4], [50]]
    np.testing.assert_allclose(vectors, by_length(["aaaa", "bbbb", "cccc", "d" * 50]))


async def test_equal_questions_in_flight_share_one_computation_and_then_the_cache(thread_of):
    encode = HeldEncoder()
    thread = thread_of(encode)
    tasks = [await blocked(thread, encode), *await queued(*(thread.query(("same",)) for _ in range(3)))]
    encode.go.set()
    _, *same = await asyncio.gather(*tasks)
    again = await thread.query(("same",))
    assert encode.batches == [["first"], ["same"]]
    assert all(np.array_equal(vector, again) for vector in same)


async def test_the_cache_forgets_the_least_recently_used(thread_of):
    encode = HeldEncoder(is_open=True)
    thread = thread_of(encode, cached_queries=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        await thread.query((text,))
    assert encode.batches == [["a"], ["b"], ["c"], ["b"]]


async def test_nobody_can_spoil_a_cached_vector(thread_of):
    vector = await thread_of(by_length).query(("a",))
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 7


async def test_a_cancelled_caller_does_not_break_the_batch_nor_those_who_share(thread_of):
    encode = HeldEncoder()
    thread = thread_of(encode)
    first = await blocked(thread, encode)
    leaving, staying, other = await queued(*(thread.query((text,)) for text in ("same", "same", "other")))
    leaving.cancel()
    encode.go.set()
    await asyncio.gather(first, staying, other)
    assert leaving.cancelled()
    assert encode.batches[1] == ["same", "other"]


async def test_a_cancelled_import_stops_after_the_slice_at_hand(thread_of):
    encode = HeldEncoder()
    thread = thread_of(encode, batch_texts=1)
    importing = asyncio.create_task(thread.documents([(f"d{n}",) for n in range(100)]))
    await asyncio.to_thread(encode.entered.wait, 5)
    importing.cancel()
    await asyncio.gather(importing, return_exceptions=True)
    encode.go.set()
    await thread.query(("q",))
    assert encode.batches == [["d0"], ["q"]]


async def test_a_text_that_fails_fails_its_own_caller_only_and_the_thread_lives_on(thread_of):
    encode = HeldEncoder()
    thread = thread_of(encode)
    first = await blocked(thread, encode)
    bad, good = await queued(thread.query(("bad",)), thread.query(("good",)))
    encode.go.set()
    np.testing.assert_allclose(await good, by_length(["good"])[0])
    with pytest.raises(UnavailableError, match="cannot read this"):
        await bad
    with pytest.raises(UnavailableError, match="cannot read this"):
        await thread.query(("bad",))
    await asyncio.gather(first, thread.query(("later",)))


async def test_a_model_that_cannot_be_loaded_says_so_at_the_start_and_to_every_caller(thread_of):
    def load() -> Encode:
        raise OSError("no such file")

    thread = thread_of(by_length, load)
    for call in (thread.start(), thread.query(("q",)), thread.documents([("d",)])):
        with pytest.raises(UnavailableError, match="no such file"):
            await call


async def test_closing_answers_those_who_wait_and_refuses_those_who_come(thread_of):
    encode = HeldEncoder()
    thread = thread_of(encode)
    first = await blocked(thread, encode)
    [waiting] = await queued(thread.query(("q",)))
    thread.close()
    with pytest.raises(UnavailableError, match="closed"):
        await waiting
    encode.go.set()
    await first
    with pytest.raises(UnavailableError, match="closed"):
        await thread.query(("late",))


async def test_the_model_is_loaded_once_and_by_the_first_text_if_nobody_started(thread_of):
    loads: list[int] = []

    def load() -> Encode:
        loads.append(1)
        return by_length

    thread = thread_of(by_length, load)
    await thread.query(("q",))
    await asyncio.gather(thread.start(), thread.start())
    assert loads == [1]


def test_a_thread_serves_several_event_loops(thread_of):
    thread = thread_of(by_length)
    for text in ("a", "b", "a"):
        np.testing.assert_allclose(asyncio.run(thread.query((text,))), by_length([text])[0])


def test_limits_out_of_range_cannot_be_built():
    with pytest.raises(ValueError, match="out of range"):
        BatchLimits(batch_texts=0)
