"""Public bug reports of other memory systems, carried out on the rules."""

from dataclasses import replace
from datetime import timedelta

from app.contradictions.claims import claim_key, derive_claim
from app.contradictions.detect import find_contradictions
from app.contradictions.resolve import direction, resolve
from app.domain.entries import Cardinality
from tests.unit.contradictions.builders import BAND, alike, day, said


def decide(*statements):
    return resolve(statements, find_contradictions(statements, alike(len(statements)), BAND))


def test_a_reversed_taste_replaces_the_old_one_and_leaves_the_new_one():
    """contra-01: 'I love X cuisine' then 'I hate X cuisine' must never leave nothing."""
    love, hate = said(1, "I love Thai cuisine"), said(2, "I hate Thai cuisine")
    outcome = decide(love, hate)
    assert (outcome.kept, outcome.out) == ((hate.id,), (love.id,))
    assert outcome.supersessions[0].for_good


def test_a_name_that_differs_by_one_letter_is_another_name():
    """contra-02: 'My name is A' then 'My name is B' (one letter differs): only B, and it says so."""
    old, new = said(1, "My name is Sara"), said(2, "My name is Zara")
    outcome = decide(old, new)
    assert outcome.kept == (new.id,)
    assert (outcome.supersessions[0].kept, outcome.supersessions[0].superseded) == (new.id, old.id)


def test_who_eats_meat_again_is_no_longer_vegetarian():
    """contra-03: 'I am vegetarian' (day 1), 'I eat meat again now' (day 90): only the current state."""
    old, new = said(1, "I am vegetarian"), said(90, "I eat meat again now")
    assert decide(old, new).kept == (new.id,)
    assert decide(old, replace(new, text="eats steak", claim=derive_claim("eats steak"))).kept == (new.id,)


def test_a_changed_preference_is_directional_and_the_newer_stays_visible():
    """contra-05: 'likes coffee' then 'prefers tea now': the older goes, never both."""
    old, new = said(1, "likes coffee"), said(2, "prefers tea now")
    outcome = decide(old, new)
    assert (outcome.kept, outcome.out) == ((new.id,), (old.id,))


def test_a_changed_preference_does_not_silence_a_later_liking():
    """contra-05: the other way round nothing was taken back: 'prefers tea now', later 'likes coffee'."""
    assert not decide(said(1, "prefers tea now"), said(2, "likes coffee")).out


def test_runs_with_two_models_coexist():
    """contra-06: 'Benchmark was run with model 7B' and '... 3B' are two runs; so are near-duplicates."""
    outcome = decide(
        said(1, "Benchmark was run with model 7B"),
        said(2, "Benchmark was run with model 3B"),
        said(3, "The garden has roses"),
        said(4, "The garden has old roses"),
    )
    assert not outcome.out
    assert not outcome.unresolved


def test_the_order_of_arrival_is_not_the_order_of_truth():
    """contra-10: a fact dated June, then an older conflicting one dated January is back-filled."""
    june = said(1, "Lives in Oslo", recorded=200, true_since=151)
    january = said(2, "Lives in Rome", recorded=201, true_since=0)
    outcome = decide(june, january)
    assert (outcome.kept, outcome.out) == ((june.id,), (january.id,))
    assert direction(new=january, old=june) == "old"


def test_a_pure_negation_50_ms_later_wins():
    """contra-11: 'likes coffee' / 'does not like coffee' 50 ms apart, or at the same tick of the clock."""
    old = said(1, "likes coffee", recorded=0)
    new = replace(said(2, "does not like coffee"), confirmed_at=day(0) + timedelta(milliseconds=50))
    assert decide(old, new).kept == (new.id,)
    assert decide(old, replace(new, confirmed_at=old.confirmed_at)).kept == (new.id,)


def test_emoji_and_greek_are_read_as_text():
    """contra-11: a memory with an emoji and one in Greek are handled like any other."""
    claim = derive_claim("My favourite emoji is \U0001f680")
    assert claim is not None
    assert claim_key(claim) == ("self", "favourite emoji")
    assert claim.cardinality is Cardinality.ONE
    assert not decide(said(1, "Μου αρέσει ο καφές"), said(2, "Μου αρέσει το τσάι")).out
