"""What people say when they put something right, in three languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.corrections.lexicon import LANGUAGES, lexicons
from app.corrections.reading import read


@pytest.mark.parametrize(
    ("said", "old", "new"),
    [
        ("Not blue but green.", "blue", "green"),
        ("No, it's green, not blue!", "blue", "green"),
        ("I meant Turin, not Rome", "Rome", "Turin"),
        ("green instead of blue", "blue", "green"),
        ("Non il rosso ma il verde.", "il rosso", "il verde"),
        ("Volevo dire Torino, non Roma.", "Roma", "Torino"),
        ("Ne modré, ale zelené.", "modré", "zelené"),
        ("Myslel jsem Brno, ne Prahu.", "Prahu", "Brno"),
    ],
)
def test_what_was_wrong_and_what_is_right(said, old, new):
    reading = read(said)
    assert (reading.old, reading.new, reading.statement) == (old, new, None)


@pytest.mark.parametrize(
    ("said", "statement", "old"),
    [
        ("Mira's eyes are green, not blue.", "Mira's eyes are green.", "blue"),
        ("Actually, I live in Turin, not in Rome.", "I live in Turin.", "in Rome"),
        ("Gli occhi di Mira sono verdi, non azzurri.", "Gli occhi di Mira sono verdi.", "azzurri"),
        ("Mira má zelené oči, ne modré.", "Mira má zelené oči.", "modré"),
        ("Ne, bydlím v Brně.", "Bydlím v Brně.", None),
    ],
)
def test_a_sentence_that_is_right_loses_what_was_wrong(said, statement, old):
    reading = read(said)
    assert (reading.statement, reading.old) == (statement, old)


@pytest.mark.parametrize(
    ("said", "statement", "place", "lasting"),
    [
        ("Only in this story: Mira's eyes are green.", "Mira's eyes are green.", "story", None),
        ("In this scene Mira lives in Rome.", "Mira lives in Rome.", "scene", None),
        ("From now on, answer in Italian.", "Answer in Italian.", None, True),
        ("Just this once, answer in Italian.", "Answer in Italian.", None, False),
        ("Answer in Italian in all chats.", "Answer in Italian.", "everywhere", None),
        ("D'ora in poi, in questa chat, rispondi in inglese.", "Rispondi in inglese.", "chat", True),
        ("Solo in questa storia Mira abita a Torino.", "Mira abita a Torino.", "story", None),
        ("Jen v téhle scéně Mira bydlí v Brně.", "Mira bydlí v Brně.", "scene", None),
        ("Jen v tomhle příběhu má Mira zelené oči.", "Mira má zelené oči.", "story", None),
        ("Od teď odpovídej stručně.", "Odpovídej stručně.", None, True),
        ("I always eat at eight.", "I always eat at eight.", None, None),
    ],
)
def test_where_it_holds_and_whether_it_lasts(said, statement, place, lasting):
    reading = read(said)
    assert (reading.statement, reading.place, reading.lasting) == (statement, place, lasting)


@pytest.mark.parametrize("said", ["Make that true everywhere.", "Fa' che questo valga ovunque.", "Ať to platí všude."])
def test_a_change_of_scope(said):
    reading = read(said)
    assert (reading.moves, reading.place, reading.statement) == (True, "everywhere", None)


@pytest.mark.parametrize("said", ["", " ", "...", "\u200b", "not", "not but", "ne ale", "x" * 5_000, "not " * 600])
def test_whatever_is_said_is_read(said):
    read(said)


def test_every_language_has_the_same_words():
    tables = [lexicons()[code] for code in LANGUAGES]
    for name in ("places", "here", "there", "say", "view"):
        assert {frozenset(getattr(table, name)) for table in tables} == {frozenset(getattr(tables[0], name))}
    assert set(tables[0].here) == set(tables[0].places)


@given(st.text(max_size=300))
def test_no_text_breaks_the_rules_of_reading(said):
    reading = read(said)
    assert reading.statement is None or reading.statement.strip()
    assert (reading.new is None) or (reading.old is not None)


@pytest.mark.parametrize(
    "said",
    ["I'm not going to", "It is not here", "They could not care", "Lui non viene", "Raději ne dnes", "But not today"],
)
def test_a_verb_that_is_denied_names_nothing_that_is_right(said):
    assert read(said).new is None


@pytest.mark.parametrize("said", ["Ada not Anna", "Ada, not Anna", "Ada, non Anna", "Ada, ne Anna"])
def test_two_names_are_one(said):
    reading = read(said)
    assert (reading.old, reading.new) == ("Anna", "Ada")
