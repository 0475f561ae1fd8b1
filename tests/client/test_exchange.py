"""How a call is made: decisions without any network."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo_client import calls
from ricordo_client.errors import (
    ConflictError,
    DeadlineError,
    InvalidInputError,
    NotFoundError,
    ProblemError,
    RicordoError,
    UnreachableError,
    VersionError,
)
from ricordo_client.exchange import Lost, Pause, Policy, Reply, Send, exchange

OURS = {"ricordo-version": "0.1.0"}
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
FOUND = Reply(200, OURS, b'{"items": []}')


class Clock:
    """Seconds that pass when somebody pauses."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def made(call, *outcomes, timeout_s=10.0, retries=2):
    """What a call does when it is told these outcomes: its steps, and its answer or error."""
    clock = Clock()
    steps = exchange(call, Policy(timeout_s, retries, clock, lambda: NOW, lambda: "made-up"))
    done, left = [], list(outcomes)
    try:
        step = next(steps)
        while True:
            done.append(step)
            if isinstance(step, Pause):
                clock.seconds += step.seconds
                step = steps.send(None)
            else:
                step = steps.send(left.pop(0))
    except StopIteration as stop:
        return done, stop.value
    except (RicordoError, ValueError) as error:
        return done, error


def problem(status, code, **headers):
    body = {"type": f"urn:ricordo:problem:{code}", "title": "t", "status": status, "detail": "why"}
    return Reply(status, {**OURS, **headers}, json.dumps(body).encode())


BUSY = problem(503, "unavailable")
READ = calls.search("user:1", "x")
WRITE = calls.remember("user:1", "x")
ERASURE = calls.erase_entry("mem_1")


def test_an_answer_is_a_typed_record():
    [sent], found = made(READ, FOUND)
    assert (sent.method, sent.path, found.items) == ("POST", "/search", [])
    assert json.loads(sent.content) == {"space": "user:1", "query": "x"}


@pytest.mark.parametrize("trouble", [BUSY, Reply(502, {}, b"<html>"), Lost("connection refused")])
def test_reads_and_writes_with_a_key_are_repeated_with_growing_pauses(trouble):
    for call in (READ, WRITE):
        steps, error = made(call, trouble, trouble, trouble)
        assert [type(step) for step in steps] == [Send, Pause, Send, Pause, Send]
        assert steps[1].seconds < steps[3].seconds
        assert isinstance(error, ProblemError | UnreachableError)


def test_a_write_is_repeated_with_the_same_key():
    steps, _ = made(WRITE, BUSY, BUSY, BUSY)
    assert {step.headers["Idempotency-Key"] for step in steps if isinstance(step, Send)} == {"made-up"}
    [own, *_], _ = made(calls.remember("user:1", "x", idempotency_key="mine"), BUSY, BUSY, BUSY)
    assert own.headers["Idempotency-Key"] == "mine"


@pytest.mark.parametrize("call", [ERASURE, calls.issue_token("user:1", "reader"), calls.retry_job("job_1")])
@pytest.mark.parametrize("trouble", [BUSY, Lost("connection reset")])
def test_what_cannot_be_repeated_safely_is_not(call, trouble):
    steps, error = made(call, trouble)
    assert len(steps) == 1
    assert isinstance(error, ProblemError | UnreachableError)


@pytest.mark.parametrize(
    "refusal", [problem(422, "invalid-input"), problem(404, "not-found"), problem(500, "internal")]
)
def test_a_refusal_is_not_repeated(refusal):
    steps, error = made(READ, refusal)
    assert len(steps) == 1
    assert isinstance(error, ProblemError)


@pytest.mark.parametrize("asked", ["3", "Fri, 01 May 2026 12:00:03 GMT"])
def test_retry_after_is_obeyed(asked):
    steps, found = made(READ, problem(503, "unavailable", **{"retry-after": asked}), FOUND)
    assert steps[1] == Pause(3.0)
    assert found.items == []


def test_a_pause_that_would_end_too_late_is_not_made():
    steps, error = made(READ, problem(503, "unavailable", **{"retry-after": "60"}), timeout_s=2.0)
    assert len(steps) == 1
    assert (error.status, error.code) == (503, "unavailable")


@given(asked=st.text(max_size=12))
def test_any_retry_after_can_be_read(asked):
    made(READ, problem(503, "unavailable", **{"retry-after": asked}), FOUND)


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (404, "not-found", NotFoundError),
        (409, "conflict", ConflictError),
        (409, "idempotency-conflict", ConflictError),
        (418, "of-a-later-version", ProblemError),
    ],
)
def test_a_problem_is_an_exception_of_its_kind(status, code, kind):
    _, error = made(READ, problem(status, code))
    assert type(error) is kind
    assert (error.status, error.code, error.detail) == (status, code, "why")


def test_a_problem_names_the_fields():
    body = {"type": "urn:ricordo:problem:invalid-input", "errors": [{"field": "space", "message": "no"}]}
    _, error = made(READ, Reply(422, OURS, json.dumps(body).encode()))
    assert isinstance(error, InvalidInputError)
    assert [(e.field, e.message) for e in error.errors] == [("space", "no")]


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"items": 3}', b"\xff"])
def test_an_answer_that_is_none_is_named_so(body):
    assert isinstance(made(READ, Reply(200, OURS, body))[1], UnreachableError)
    assert isinstance(made(READ, Reply(400, {}, body))[1], UnreachableError)


@pytest.mark.parametrize(
    ("version", "kind"),
    [("0.0.9", VersionError), ("2.0.0", VersionError), ("new", VersionError), (None, UnreachableError)],
)
def test_a_service_of_another_version_is_refused(version, kind):
    headers = {} if version is None else {"ricordo-version": version}
    assert type(made(READ, Reply(200, headers, b'{"items": []}'))[1]) is kind


def test_a_later_field_is_let_pass():
    _, found = made(READ, Reply(200, {"ricordo-version": "1.9.2"}, b'{"items": [], "mood": "good"}'))
    assert found.items == []


def test_an_assembly_leaves_the_service_less_time_than_the_caller_has():
    [sent], _ = made(calls.assemble("user:1", "x"), problem(404, "not-found"), timeout_s=2.0)
    assert json.loads(sent.content)["timeout_ms"] == 1800
    [sent], _ = made(calls.assemble("user:1", "x", timeout_ms=5), problem(404, "not-found"))
    assert json.loads(sent.content)["timeout_ms"] == 5


def test_time_that_ran_out_is_a_deadline():
    assert isinstance(made(READ, Lost("late", late=True), retries=0)[1], DeadlineError)


def test_an_edit_sends_null_and_the_version():
    [sent], _ = made(calls.edit_entry("mem_1", {"category": None}, if_version=3), problem(412, "precondition-failed"))
    assert (json.loads(sent.content), sent.headers["If-Match"]) == ({"category": None}, '"3"')
    assert sent.path == "/memories/mem_1"


def test_an_id_cannot_lead_elsewhere():
    assert calls.message("../spaces?x=").path == "/messages/..%2Fspaces%3Fx%3D"
    with pytest.raises(ValueError, match="no id of a memory"):
        calls.entry("sol_1")
