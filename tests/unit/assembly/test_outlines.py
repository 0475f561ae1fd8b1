"""Outlines: whatever two texts share is in what is stored of them, and nothing else is believed."""

from hypothesis import given, settings
from hypothesis import strategies as st

from app.assembly.outlines import outline, pack_outline, rules_fingerprint, unpack_outline
from app.contradictions.facts import facts_of
from app.contradictions.features import features
from app.domain.entries import Claim
from app.text.content import content_terms, number_of

CLAIM = Claim("user", "residence", "Turin")
TEXTS = st.text(max_size=80) | st.sampled_from(
    ("", "I live in Turin.", "Ana does not eat meat, and never on Fridays.", "!!!", "Abito a Torino dal 2019.")
)


@given(text=TEXTS, claim=st.none() | st.just(CLAIM))
@settings(deadline=None)  # the first example loads word lists
def test_what_is_stored_comes_back(text, claim):
    known = outline(text, claim)
    assert unpack_outline(pack_outline(known)) == known


@given(text=TEXTS)
@settings(deadline=None)
def test_an_outline_holds_a_number_for_every_key_and_every_content_word(text):
    known = outline(text, CLAIM)
    assert len(known.topics.keys) <= len(facts_of(text, CLAIM).keys)
    assert known.topics.words == {number_of(word) for word in features(text).content}
    assert known.gist.words >= {number_of(word) for word in content_terms(text)}
    assert known.gist.length == len(content_terms(text))


def test_an_outline_of_other_rules_is_not_believed():
    stored = pack_outline(outline("I live in Turin.", None))
    other = (rules_fingerprint() ^ 1).to_bytes(4, "little")
    assert unpack_outline(other + stored[4:]) is None


def test_nothing_stored_is_nothing_known():
    assert unpack_outline(None) is None
    assert unpack_outline(b"") is None
