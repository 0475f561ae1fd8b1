"""The thesaurus: words of one meaning find each other."""

import tomllib
from importlib.resources import files

import pytest

from app.text.concepts import concepts
from app.text.language import LANGUAGES
from app.text.terms import CONCEPT_MARK, CONCEPT_WEIGHT, document_terms, query_terms


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("Which company employed me?", "Her first job was in a bank"),
        ("Jak se jmenuje můj pes?", "Mám štěně labradora"),
        ("Cosa bevo la mattina?", "Beve solo caffè"),
        ("Quanti figli ho?", "Has two daughters, Nora and Ivy"),
    ],
)
def test_a_question_shares_a_concept_with_what_says_it_in_other_words(question, statement):
    asked = {t.term for t in query_terms(question) if t.term.startswith(CONCEPT_MARK)}
    assert asked & document_terms(statement).frequencies.keys()


def test_every_form_of_a_word_has_its_concept():
    assert concepts("dogs", ("en",)) == concepts("dog", ("en",)) == ("dog", "pet")
    assert concepts("psa", ("cs",)) == ("dog",)


def test_a_word_has_a_concept_in_its_own_language_only():
    assert concepts("štěně", ("cs",))
    assert concepts("štěně", ("en", "it")) == ()
    assert concepts("štěně", ("de", "fr")) == ()


def test_a_word_and_its_concept_are_worth_one_together():
    weights = [t.weight for t in query_terms("What is my profession?")]
    assert sum(weights) >= 1
    assert {t.weight for t in query_terms("What is my profession?") if t.term.startswith(CONCEPT_MARK)} == {
        CONCEPT_WEIGHT
    }


def test_the_list_names_supported_languages_and_no_word_twice():
    listed = tomllib.loads(files("app.text").joinpath("data", "concepts.toml").read_text("utf-8"))
    for concept, lines in listed.items():
        assert set(lines) <= set(LANGUAGES), concept
        for words in lines.values():
            assert len(set(words.split())) == len(words.split()), concept
