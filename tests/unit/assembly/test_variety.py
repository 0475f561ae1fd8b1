"""One fact told many times does not fill the budget."""

import numpy as np

from app.assembly.records import BudgetTokens, Overrides
from tests.builders import assemble, candidate, kept, request


def vector(*towards: float) -> np.ndarray:
    whole = np.zeros(8, dtype=np.float32)
    whole[: len(towards)] = towards
    return (whole / np.linalg.norm(whole)).astype(np.float16)


TELLINGS = [
    candidate(1, "Ana cannot eat peanuts", vector=vector(1, 0.1), cosine_similarity=0.50),
    candidate(2, "Ana has a nut allergy of the peanut sort", vector=vector(1, 0.2), cosine_similarity=0.49),
    candidate(3, "Peanuts make Ana ill", vector=vector(1, 0.3), cosine_similarity=0.48),
    candidate(4, "For Ana peanuts are poison", vector=vector(1, 0.4), cosine_similarity=0.47),
]
OTHERS = [
    candidate(5, "Ana loves lentils", vector=vector(0, 0, 1), cosine_similarity=0.42),
    candidate(6, "Ana eats at noon", vector=vector(0, 0, 0, 1), cosine_similarity=0.41),
]


def test_other_facts_come_before_the_third_telling_of_one():
    assert kept(assemble([*TELLINGS, *OTHERS])) == [1, 5, 6, 2, 3, 4]


def test_within_a_tight_budget_they_take_the_place_of_tellings():
    tight = Overrides(budget_tokens=BudgetTokens(memories=60))
    assert kept(assemble([*TELLINGS, *OTHERS], request(overrides=tight)))[:3] == [1, 5, 6]


def test_nothing_is_lost_where_there_is_room():
    assert sorted(kept(assemble([*TELLINGS, *OTHERS]))) == [1, 2, 3, 4, 5, 6]


def test_a_pinned_telling_stays_first():
    pinned = Overrides(must_include=frozenset({TELLINGS[3].id}))
    assert kept(assemble([*TELLINGS, *OTHERS], request(overrides=pinned)))[0] == 4


def test_entries_without_vectors_keep_their_order():
    bare = [candidate(n, f"Fact {n} about soup", cosine_similarity=0.6 - n / 100) for n in range(1, 5)]
    assert kept(assemble(bare)) == [1, 2, 3, 4]
