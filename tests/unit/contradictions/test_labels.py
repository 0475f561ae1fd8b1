"""A number that names a thing is no quantity: other numbers name other things."""

import pytest

from app.contradictions.detect import contradicts


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Cooking note number 1 about tonight", "Cooking note number 2 about tonight"),
        ("Memory 17 about sailing", "Memory 18 about sailing"),
        ("Chapter 3 describes the war", "Chapter 4 describes the war"),
        ("Entry #4 text", "Entry #5 text"),
        ("Ricordo numero 3 su Roma", "Ricordo numero 4 su Roma"),
        ("Zpráva 3 popisuje město", "Zpráva 4 popisuje město"),
    ],
)
def test_things_with_other_numbers_do_not_contradict_each_other(one, other):
    assert contradicts(one, other) is None


@pytest.mark.parametrize(("one", "other"), [("He has 3 dogs", "He has 4 dogs"), ("Ha 3 cani", "Ha 4 cani")])
def test_another_quantity_of_the_same_thing_does(one, other):
    assert contradicts(one, other) == "number"
