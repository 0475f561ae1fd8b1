"""Similarities are worked out once, and asked for in any order."""

import numpy as np

from app.assembly.likeness import Likeness
from app.text.content import pairs_where
from tests.builders import candidate

EAST, NORTH, BETWEEN = (np.array(v, dtype=np.float32) for v in ([1, 0], [0, 1], [0.6, 0.8]))

ONE = candidate(1, "Lives in Rome", vector=EAST)
TWO = candidate(2, "Likes tea", vector=NORTH)
THREE = candidate(3, "Likes green tea", vector=BETWEEN)
MUTE = candidate(4, "Has a cat")


def test_it_is_in_the_order_that_is_asked_for():
    likeness = Likeness([ONE, TWO, THREE])
    expected = np.array([[1, 0.8, 0.6], [0.8, 1, 0], [0.6, 0, 1]])
    np.testing.assert_allclose(likeness.among([THREE, TWO, ONE]), expected, atol=1e-6)
    np.testing.assert_allclose(likeness.among([ONE, TWO, THREE]), expected[::-1, ::-1], atol=1e-6)


def test_what_has_no_vector_resembles_nothing():
    found = Likeness([ONE, MUTE, TWO]).among([MUTE, ONE])
    assert found is not None
    assert np.isnan(found[0]).all()
    assert np.isnan(found[:, 0]).all()
    assert found[1, 1] == 1
    assert Likeness([MUTE]).among([MUTE]) is None
    assert Likeness([]).among([]) is None


def test_a_pair_stands_once_in_the_order_of_its_first():
    table = np.array([[1, 1, 0], [1, 1, 1], [1, 1, 0]], dtype=bool)
    first, second = pairs_where(table)
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == [(0, 1), (1, 2)]
