"""Texts that differ in one word: what allows one answer, and what somebody can have, do or like beside it."""

import pytest

from app.contradictions.detect import Statement, contradicts, find_contradictions
from tests.unit.contradictions.builders import BAND, said


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A tall man in a green hat is reading on a bench", "A tall man in a yellow hat is reading on a bench"),
        ("Two Irish children are playing in the yard", "Two Kenyan children are playing in the yard"),
        ("A woman stands on a wooden bridge", "A woman stands on a stone bridge"),
        ("The girls are eating soup in the kitchen", "The girls are eating soup in the garage"),
        ("A boy is waving in front of a shop", "A boy is waving behind a shop"),
        ("A dog is not sleeping on the sofa", "A dog is sleeping on the sofa"),
        ("Una signora beve birra al bancone", "Una signora beve vino al bancone"),
        ("Starý pán v černém kabátě krmí holuby", "Starý pán v hnědém kabátě krmí holuby"),
        ("The front door is made of steel", "The front door is made of oak"),
        ("La porta di casa è di legno", "La porta di casa è di ferro"),
        ("Náš učitel je Norka", "Náš učitel je Řek"),
    ],
)
def test_two_descriptions_that_differ_in_one_exclusive_word_contradict_each_other(one, other):
    assert contradicts(one, other) == contradicts(other, one) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I play guitar", "I play piano"),
        ("Plays the guitar in a band", "Plays the piano in a band"),
        ("The dog eats carrots every day", "The dog eats potatoes every day"),
        ("Likes red dresses", "Likes blue dresses"),
        ("Has a Polish friend", "Has a Greek friend"),
        ("I am Italian", "I am American"),
        ("A colleague lives in Rome", "A colleague lives in Paris"),
        ("A friend has two children", "A friend has four children"),
        ("A man in a red coat called us", "A woman in a blue coat called us"),
        ("A man told me about Peru", "A man told me about Chile"),
        ("A woman is buying carrots and onions", "A woman is buying carrots and leeks"),
        ("A man is sitting on a wooden chair", "A man is sitting on an oak chair"),
        ("A small boy is waiting", "A little boy is waiting"),
        ("Ha una sorella svedese", "Ha una sorella danese"),
        ("Žena pije čaj", "Žena pije kávu"),
        ("Bought a glass table", "Bought a marble table"),
    ],
)
def test_what_can_stand_beside_the_other_does_not(one, other):
    assert contradicts(one, other) is None


def test_frames_meet_however_alike_two_texts_are():
    first = said(1, "A man in a red shirt is cleaning the window of a large shop")
    second: Statement = said(2, "A man in a white shirt is cleaning the window of a large shop")
    (found,) = find_contradictions((first, second), None, BAND)
    assert found.why == "claim"
