"""What is stored of a turn against what is said in it."""

from datetime import UTC, datetime
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from app.domain.entries import Content
from app.domain.evidence import Evidence, KeptEvidence, MessageVersion
from app.domain.ids import IdKind, PublicId
from app.entries.evidence import weigh

AT = datetime(2026, 1, 1, tzinfo=UTC)
ENTRY = PublicId(UUID(int=1), UUID(int=2), IdKind.MEMORY)
TURN = UUID(int=3)


def of(message, version):
    return MessageVersion(UUID(int=message), version)


def said(key, message=1, version=1, text="I sail"):
    return Evidence(of=of(message, version), key=key.encode(), said_at=AT, content=Content(text=text))


def kept(key, message=1, version=1, text: str | None = "I sail"):
    content = None if text is None else Content(text=text)
    return KeptEvidence(turn=TURN, of=of(message, version), key=key.encode(), entry=ENTRY, said_at=AT, content=content)


def test_what_is_said_for_the_first_time_is_fresh():
    weighed = weigh([], [said("a")], frozenset({of(1, 1)}))
    assert (weighed.fresh, weighed.stale, weighed.renewed) == ((said("a"),), (), ())


def test_a_message_that_was_read_stands_whatever_is_found_in_it_now():
    for found in ([], [said("a")], [said("b", text="I ski")]):
        weighed = weigh([kept("a")], found, frozenset({of(1, 1)}))
        assert (weighed.fresh, weighed.stale, weighed.renewed) == ((), (), ())


def test_an_edited_message_renews_what_it_still_says_and_takes_back_the_rest():
    weighed = weigh([kept("a"), kept("b")], [said("a", version=2), said("c", version=2)], frozenset({of(1, 2)}))
    assert weighed.fresh == (said("c", version=2),)
    assert weighed.stale == (kept("b"),)
    assert weighed.renewed == (kept("a", version=2),)


def test_the_same_statement_in_other_words_takes_the_place_of_the_first():
    other = said("a", version=2, text="I sail often")
    weighed = weigh([kept("a")], [other], frozenset({of(1, 2)}))
    assert (weighed.fresh, weighed.stale, weighed.renewed) == ((other,), (kept("a"),), ())


def test_a_deleted_message_says_nothing():
    assert weigh([kept("a"), kept("b", message=2)], [], frozenset({of(2, 1)})).stale == (kept("a"),)


def test_what_was_erased_is_never_fresh_again():
    for version in (1, 2):
        found = [said("a", version=version, text="I sail often")]
        weighed = weigh([kept("a", text=None)], found, frozenset({of(1, version)}))
        assert (weighed.fresh, weighed.stale) == ((), ())


statements = st.tuples(st.sampled_from("abc"), st.integers(1, 3), st.integers(1, 3), st.sampled_from(["x", "y"]))


def unique(found):
    return list({(one.of.message, one.key): one for one in found}.values())


@given(st.lists(statements), st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 3), st.sampled_from("xy"))))
def test_applying_the_difference_leaves_nothing_to_do(before, now):
    """However often it runs, and from whatever was there: then what is stored is what is said."""
    stored = {
        (one.of.message, one.key): one
        for one in unique(kept(key, message, version, text) for key, message, version, text in before)
    }
    found = unique(said(key, message, 4, text) for key, message, text in now)
    standing = frozenset(of(message, 4) for message in (1, 2, 3))
    first = weigh(list(stored.values()), found, standing)
    for one in first.stale:
        del stored[one.of.message, one.key]
    stored |= {(one.of.message, one.key): one for one in first.renewed}
    stored |= {
        (one.of.message, one.key): kept(one.key.decode(), one.of.message.int, 4, one.content.text)
        for one in first.fresh
    }
    again = weigh(list(stored.values()), found, standing)
    assert (again.fresh, again.stale, again.renewed) == ((), (), ())
    assert {(place, one.content) for place, one in stored.items()} == {
        ((one.of.message, one.key), one.content) for one in found
    }
