"""What was not corrected survives a correction of the rest, in three languages."""

import pytest

from app.contradictions.claims import derive_claim
from app.corrections.matching import continued
from app.domain.entries import Content


def known(text):
    return Content(text=text, claim=derive_claim(text))


@pytest.mark.parametrize(
    ("text", "statement", "right"),
    [
        (
            "My sister is called Anna and lives in Brno.",
            "My sister is called Ada.",
            "My sister is called Ada and lives in Brno.",
        ),
        (
            "I have two dogs and my sister is called Anna.",
            "My sister is called Ada.",
            "I have two dogs and my sister is called Ada.",
        ),
        ("I live in Rome. I work as a nurse.", "I live in Turin.", "I live in Turin. I work as a nurse."),
        ("I live in Rome but I was born in Bari.", "I live in Turin.", "I live in Turin but I was born in Bari."),
        (
            "Mia sorella si chiama Anna e vive a Brno.",
            "Mia sorella si chiama Ada.",
            "Mia sorella si chiama Ada e vive a Brno.",
        ),
        ("Vivo a Roma e lavoro come infermiera.", "Vivo a Torino.", "Vivo a Torino e lavoro come infermiera."),
        (
            "Moje sestra se jmenuje Anna a bydlí v Brně.",
            "Moje sestra se jmenuje Ada.",
            "Moje sestra se jmenuje Ada a bydlí v Brně.",
        ),
        ("Bydlím v Praze a mám dva psy.", "Bydlím v Ostravě.", "Bydlím v Ostravě a mám dva psy."),
    ],
)
def test_the_other_clauses_of_a_memory_stay(text, statement, right):
    assert continued(known(text), statement) == right


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("My sister is called Anna.", "My sister is called Ada."),
        ("I live in Rome, by the sea.", "I live in Turin."),
        ("My sister is called Anna and lives in Brno.", "My sister is called Ada and lives in Prague."),
        ("My sister is called Anna and lives in Brno.", "My brother is called Ada."),
        ("We talked for hours and had tea.", "I live in Turin."),
    ],
)
def test_what_is_no_clause_of_its_own_and_what_goes_on_by_itself_is_left(text, statement):
    assert continued(known(text), statement) == statement
