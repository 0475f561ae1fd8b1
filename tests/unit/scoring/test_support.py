"""What speaks for a candidate beside its own words."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.scoring.support import AGENT_SAID, IN_PERIOD, NAMED_AUTHOR, SUPPORT, Place, supported
from app.scoring.wording import Wording, wording
from app.text.terms import query_terms
from app.text.times import Period

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ONE = ("user:ana", "s-1")
OTHER = ("user:ana", "s-2")


def place(position: int = 1, session=None, author: str | None = None, days: float = 0) -> Place:
    return Place(session, position, author, NOW - timedelta(days=days))


def asked(query: str) -> Wording:
    return wording(query, query_terms(query), NOW)


def weights(own, places, said=None, least=0.0):
    return supported(np.array(own, dtype=float), places, said or Wording(), least).tolist()


def alone(own: float = 1.0, said: Wording | None = None, **where) -> float:
    """The weight of an entry beside the same one without circumstances."""
    plain, found = weights([own, own], [place(), place(**where)], said)
    return found / plain


def test_neighbours_of_a_session_lift_each_other_by_what_they_say_and_how_near_they_are():
    near, far, elsewhere, good = weights([1, 1, 1, 3], [place(2, ONE), place(30, ONE), place(3, OTHER), place(1, ONE)])
    assert near > far > elsewhere == pytest.approx(1 + SUPPORT)
    assert good == pytest.approx(3 + SUPPORT * (3 + np.exp(-0.1)))


def test_sessions_of_two_spaces_that_share_a_name_are_two():
    one, _ = weights([1, 3], [place(1, ("user:ana", "s")), place(2, ("user:ben", "s"))])
    assert one == pytest.approx(1 + SUPPORT)


def test_what_says_nothing_is_neither_lifted_nor_lifts():
    low, high = weights([0.1, 1], [place(1, ONE), place(2, ONE)], least=0.2)
    assert low == 0.1
    assert high == pytest.approx(1 + SUPPORT)


def test_a_named_author_counts_more():
    said = asked("What did Zoë paint?")
    assert alone(said=said, author="ZOE") == pytest.approx(NAMED_AUTHOR)
    assert alone(said=said, author="Ben") == 1


@pytest.mark.parametrize("query", ["What do I eat?", "Dove abito?", "Kde bydlím?"])
def test_what_the_agent_said_counts_less(query):
    assert alone(said=asked(query), author="assistant") == pytest.approx(AGENT_SAID)


@pytest.mark.parametrize("query", ["What did you recommend?", "Cosa mi hai consigliato?", "Co jsi mi doporučil?"])
def test_unless_the_question_is_about_that(query):
    assert alone(said=asked(query), author="Assistant") == 1


def test_what_happened_in_the_period_counts_more_and_less_beside_it():
    said = asked("What did I say about the boat last week?")  # NOW is a Sunday: 16 to 22 February
    inside, beside, long_ago = (weights([1], [place(days=days)], said)[0] for days in (10, 17, 400))
    assert inside == pytest.approx(IN_PERIOD * (1 + SUPPORT))
    assert inside > beside > long_ago == pytest.approx(1 + SUPPORT, abs=1e-3)


PLACES = st.builds(
    place,
    st.integers(1, 200),
    st.sampled_from([None, ONE, OTHER]),
    st.sampled_from([None, "Ana", "assistant"]),
    st.floats(0, 400),
)


@given(
    entries=st.lists(st.tuples(st.floats(0, 20), PLACES), min_size=1, max_size=12),
    number=st.integers(0, 11),
    more=st.floats(0, 5),
    least=st.floats(0, 1),
)
def test_rises_in_every_weight_and_never_falls_below_zero(entries, number, more, least):
    own, places = [list(column) for column in zip(*entries, strict=True)]
    said = Wording(frozenset({"ana"}), period=Period(NOW - timedelta(days=9), NOW))
    before = np.array(weights(own, places, said, least))
    own[number % len(own)] += more
    after = np.array(weights(own, places, said, least))
    moved = np.array(own) >= least
    assert (before >= 0).all()
    rises = after >= before - 1e-9
    discounted = np.array([p.author == "assistant" for p in places])
    assert rises[~discounted | ~moved].all()


def test_nothing_in_nothing_out():
    assert weights([], []) == []
