"""When two claims are about the same thing, and when they say the same of it."""

import pytest

from app.contradictions.claims import claim_key, derive_claim, value_key
from app.domain.entries import Claim


@pytest.mark.parametrize(
    "texts",
    [
        ("Lives in Rome", "Abita a Roma", "Bydlí v Římě", "I moved to Rome", "Přestěhoval se do Říma"),
        ("I am 34 years old", "Ho 34 anni", "Je mi třicet čtyři let", "Age: thirty-four"),
        ("Mira has blue eyes", "Mira's eyes are blue", "Mira ha gli occhi blu", "Mira má modré oči"),
        ("I speak English", "Parlo inglese", "Mluvím anglicky"),
        ("Is married", "È sposata", "Je ženatý"),
        ("My birthday is on 5 May", "Was born on May 5th", "È nata il 5 maggio", "Narozeniny má 5. května"),
        ("Prefers short answers", "Preferisce risposte brevi", "Chce stručné odpovědi"),
        ("Is a vegetarian", "Non mangia carne", "Je vegetariánka"),
        ("The meeting is at 3 pm", "The meeting is at 15:00"),
        ("Is 178 cm tall", "Is 1.78 m tall"),
    ],
)
def test_the_same_fact_has_the_same_key_and_value_in_every_wording(texts):
    claims = [derive_claim(text) for text in texts]
    assert None not in claims
    assert len({claim_key(claim) for claim in claims if claim}) == 1
    assert len({value_key(claim) for claim in claims if claim}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Claim("User", "City", "Rome"), Claim("self", "residence", "rome.")),
        (Claim("I", "lives in", "Roma"), Claim("the user", "residence", "Rome")),
        (Claim("Mira", "Eye color", "Blue"), Claim(" mira ", "eye colour", "blue")),
        (Claim("my wife", "name", "Olga"), Claim("self's wife", "NAME", "olga")),
        (Claim("self", "age", "thirty-four"), Claim("self", "età", "34")),
        (Claim("the meeting", "day", "Tuesday"), Claim("meeting", "day", "martedì")),
    ],
)
def test_a_claim_given_by_a_caller_is_compared_in_normal_form(one, other):
    assert claim_key(one) == claim_key(other)
    assert value_key(one) == value_key(other)


def test_a_given_claim_of_an_unknown_attribute_is_compared_as_it_stands():
    one = Claim("The Reactor", "Coolant Loop", "Primary.")
    assert claim_key(one) == ("reactor", "coolant loop")
    assert value_key(one) == "primary"


@pytest.mark.parametrize(("one", "other"), [("Rome", "Turin"), ("34", "43"), ("no", "yes")])
def test_different_values_stay_different(one, other):
    assert value_key(Claim("self", "x", one)) != value_key(Claim("self", "x", other))
