"""A text in its context."""

import numpy as np
import pytest

from app.domain.entries import Indexed
from app.scoring.context import mixed, to_embed
from app.text.terms import CONTEXT_WEIGHT, context_share, document_terms

SHORT, LONG = "He said yes", "word " * 400


def test_words_of_the_context_are_found_and_count_less():
    alone, inside = document_terms("He said yes"), document_terms("He said yes", "Did Rex bite the postman?")
    assert inside.frequencies["~postman"] == CONTEXT_WEIGHT
    assert {t: inside.frequencies[t] for t in alone.frequencies} == alone.frequencies
    assert alone.length_words < inside.length_words < alone.length_words + 5


def test_a_word_of_both_counts_once_and_a_share():
    assert document_terms("yes", "yes yes").frequencies["yes"] == 1 + 2 * CONTEXT_WEIGHT


@pytest.mark.parametrize(("text", "context"), [(SHORT, ""), (SHORT, LONG), (LONG, SHORT)])
def test_a_long_text_needs_no_context_and_a_long_one_says_too_much(text, context):
    assert document_terms(text, context) == document_terms(text)


def test_the_share_falls_with_either_length():
    shares = [context_share(10, words) for words in (1, 40, 60, 80, 200)]
    assert shares == sorted(shares, reverse=True)
    assert shares[:2] == [CONTEXT_WEIGHT, CONTEXT_WEIGHT]
    assert [context_share(words, 10) for words in (1, 40, 60, 80, 200)] == shares


def test_vectors_lean_towards_the_context_and_stay_unit():
    texts = [Indexed("a"), Indexed("b", "around b"), Indexed("c", "too long")]
    assert to_embed(texts, [0, 0.5, 0]) == ["a", "b", "c", "around b"]
    vectors = np.eye(4, dtype=np.float32)
    found = mixed(vectors, [0, 0.5, 0])
    assert np.array_equal(found[[0, 2]], vectors[[0, 2]])
    assert found[1] == pytest.approx(np.array([0, 1, 0, 0.5]) / np.sqrt(1.25))
    assert np.array_equal(vectors, np.eye(4, dtype=np.float32))
