"""What holds for any set of memories."""

from hypothesis import given
from hypothesis import strategies as st

from app.contradictions.claims import claim_key, derive_claim, value_key
from app.contradictions.detect import find_contradictions
from tests.unit.contradictions.builders import BAND, alike, said
from tests.unit.contradictions.pairs import COMPATIBLE, CONTRADICTIONS, PARAPHRASES

TEXTS = sorted({text for pair in COMPATIBLE + CONTRADICTIONS + PARAPHRASES for text in pair})


@given(texts=st.lists(st.sampled_from(TEXTS), min_size=2, max_size=8), data=st.data())
def test_the_order_of_the_statements_is_irrelevant(texts, data):
    statements = [said(number, text) for number, text in enumerate(texts)]
    shuffled = data.draw(st.permutations(statements))
    one = find_contradictions(statements, alike(len(texts)), BAND)
    assert find_contradictions(shuffled, alike(len(texts)), BAND) == one


@given(texts=st.lists(st.sampled_from(TEXTS), min_size=3, max_size=8))
def test_a_third_memory_changes_nothing_between_two(texts):
    statements = [said(number, text) for number, text in enumerate(texts)]
    together = find_contradictions(statements, alike(len(texts)), BAND)
    alone = find_contradictions(statements[:2], alike(2), BAND)
    first_two = {statements[0].id, statements[1].id}
    assert tuple(pair for pair in together if {pair.one, pair.other} == first_two) == alone


@given(text=st.text(max_size=200))
def test_any_text_can_be_read_without_an_error(text):
    claim = derive_claim(text)
    if claim is not None:
        assert all(claim_key(claim))
        assert isinstance(value_key(claim), str)
    find_contradictions([said(1, text), said(2, "Lives in Rome")], alike(2), BAND)


@given(text=st.sampled_from(TEXTS), noise=st.sampled_from(["", ".", "!", " ", "  \n"]))
def test_outer_punctuation_changes_no_claim(text, noise):
    plain, noisy = derive_claim(text), derive_claim(" " + text + noise)
    assert (plain is None) == (noisy is None)
    if plain and noisy:
        assert (claim_key(plain), value_key(plain)) == (claim_key(noisy), value_key(noisy))


def test_no_text_makes_reading_it_run_away():
    """A backtracking pattern would not come back from these."""
    derive_claim("I live in " + "very " * 4000 + "far. " * 4000)
    derive_claim("a" * 20_000)
    derive_claim("my " * 6000 + "is " * 3000)
