import pytest

from app.embedding.breaker import Breaker, OpenError


class SickError(Exception):
    pass


class Patient:
    """A breaker, its clock, and what it told."""

    def __init__(self) -> None:
        self.now = 0.0
        self.told: list[bool] = []
        self.breaker = Breaker(seconds=lambda: self.now, failures=3, pause_s=5, on_change=self.told.append)

    def attempt(self, error: BaseException | None = None, asked_s: float | None = None) -> None:
        with self.breaker.attempt(SickError, lambda _: asked_s):
            if error is not None:
                raise error

    def fail(self, times: int = 1, asked_s: float | None = None) -> None:
        for _ in range(times):
            with pytest.raises(SickError):
                self.attempt(SickError(), asked_s)


@pytest.fixture
def patient() -> Patient:
    return Patient()


def test_it_opens_after_three_failures_in_a_row(patient: Patient):
    patient.fail(2)
    patient.attempt()
    patient.fail(2)
    assert not patient.breaker.is_open
    patient.fail()
    with pytest.raises(OpenError):
        patient.attempt()


def test_it_tells_once_that_it_opened_and_once_that_it_closed(patient: Patient):
    patient.fail(3)
    patient.now = 5
    patient.fail()
    patient.now = 10
    patient.attempt()
    patient.attempt()
    assert patient.told == [True, False]


def test_one_may_try_after_the_pause_and_if_that_fails_the_pause_begins_anew(patient: Patient):
    patient.fail(3)
    patient.now = 5
    patient.fail()
    patient.now = 9.9
    with pytest.raises(OpenError):
        patient.attempt()
    patient.now = 10
    patient.attempt()
    patient.attempt()


def test_a_server_that_asks_for_more_is_left_alone_for_longer(patient: Patient):
    patient.fail(3, asked_s=60)
    patient.now = 59
    with pytest.raises(OpenError):
        patient.attempt()


def test_an_error_of_another_kind_shows_that_the_server_answers(patient: Patient):
    patient.fail(2)
    with pytest.raises(ValueError, match="not the server"):
        patient.attempt(ValueError("not the server"))
    patient.fail(2)
    assert not patient.breaker.is_open


def test_a_probe_that_is_cancelled_leaves_its_place_to_the_next(patient: Patient):
    patient.fail(3)
    patient.now = 5
    with pytest.raises(KeyboardInterrupt):
        patient.attempt(KeyboardInterrupt())
    patient.attempt()
    assert not patient.breaker.is_open
