"""What is read in a chat request, and heard of an answer, cut anywhere."""

from itertools import pairwise

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.errors import ConflictError, UnavailableError
from app.proxy.afterwards import DELAYS_S, WAITING, Afterwards
from app.proxy.answer import ANSWER_BYTES, AnswerReader
from app.proxy.conversation import read_conversation, with_context

STREAM = b"".join(
    b"data: " + orjson.dumps({"choices": [{"index": i, "delta": {"content": text}}]}) + b"\r\n\r\n"
    for i, text in [(0, "Caffè"), (1, "other"), (0, " ☕"), (0, "!")]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["role", "content", "messages", "choices", "delta", "text", "type"]), inner)
    ),
    max_leaves=8,
)


def said(role, content, **more):
    return {"role": role, "content": content, **more}


@given(cuts=st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_a_stream_says_the_same_wherever_it_is_cut(cuts):
    reader = AnswerReader(streams=True)
    places = sorted({0, *cuts, len(STREAM)})
    for start, end in pairwise(places):
        reader.feed(STREAM[start:end])
    reader.end()
    assert reader.text == "Caffè ☕!"


@given(body=st.binary(max_size=200) | JSON.map(orjson.dumps), streams=st.booleans())
def test_no_bytes_make_a_reader_fail(body, streams):
    reader = AnswerReader(streams=streams)
    reader.feed(b"data: " * streams + body)
    reader.end()


def test_an_answer_that_is_too_long_is_not_heard():
    reader = AnswerReader(streams=False)
    reader.feed(b'{"choices": [{"message": {"content": "' + b"x" * ANSWER_BYTES)
    reader.feed(b'"}}]}')
    reader.end()
    assert reader.text == ""


@given(request=JSON.filter(lambda value: isinstance(value, dict)))
def test_any_request_can_be_read_and_added_to(request):
    conversation = read_conversation(request)
    assert all(line.text.strip() for line in (*conversation.said, *conversation.before))
    first, *_ = with_context(request, "C")["messages"]
    assert "C" in orjson.dumps(first).decode()


def test_what_was_said_since_the_last_answer_is_the_turn():
    messages = [
        said("system", "s"),
        said("user", "a"),
        said("assistant", "b"),
        said("user", "c"),
        said("assistant", "wait", tool_calls=[{}]),
        said("tool", "42"),
        said("user", [{"type": "text", "text": "d"}, {"type": "image_url"}]),
    ]
    conversation = read_conversation({"messages": messages})
    assert [line.text for line in conversation.said] == ["c", "d"]
    assert [line.text for line in conversation.before] == ["a", "b"]
    assert conversation.question == "d"


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        (said("system", "s"), "C\n\ns"),
        (said("developer", "s"), "C\n\ns"),
        (said("system", ""), "C"),
        (
            said("system", [{"type": "text", "text": "s"}]),
            [{"type": "text", "text": "C"}, {"type": "text", "text": "s"}],
        ),
    ],
)
def test_a_context_stands_before_the_system_message(first, expected):
    request = {"messages": [first, said("user", "u")], "seed": 7}
    assert with_context(request, "C") == {"messages": [{**first, "content": expected}, said("user", "u")], "seed": 7}
    assert request["messages"][0] is first


def test_without_a_system_message_the_context_is_one():
    assert with_context({"messages": [said("user", "u")]}, "C")["messages"] == [said("system", "C"), said("user", "u")]


class Work:
    """Fails for some times."""

    def __init__(self, *failures):
        self.failures = list(failures)
        self.done = 0

    async def __call__(self):
        if self.failures:
            raise self.failures.pop(0)
        self.done += 1


async def test_work_is_tried_again_only_while_something_is_unavailable():
    pauses = []

    async def sleep(seconds):
        pauses.append(seconds)

    afterwards = Afterwards(sleep)
    works = [Work(*[UnavailableError("x")] * n) for n in (0, 2, 99)] + [Work(ConflictError("x"))]
    for work in works:
        afterwards.submit(work)
    await afterwards.settled()
    assert [work.done for work in works] == [1, 1, 0, 0]
    assert sorted(pauses) == sorted([*DELAYS_S[:2], *DELAYS_S])


async def test_a_lasting_failure_does_not_fill_the_memory():
    afterwards = Afterwards()
    works = [Work(UnavailableError("x")) for _ in range(WAITING + 1)]
    for work in works:
        afterwards.submit(work)
    assert len(afterwards._tasks) == WAITING
    await afterwards.close()
    assert not afterwards._tasks
