import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.embedding.windows import WindowLimits, pool, windows

LIMITS = WindowLimits(max_windows=3, window_words=4, window_chars=20)


@given(st.text(max_size=200))
def test_every_window_is_within_the_limits(text: str):
    cut = windows(text, LIMITS)
    assert 1 <= len(cut) <= LIMITS.max_windows
    assert all(len(window) <= LIMITS.window_chars for window in cut)
    assert all(len(window.split()) <= LIMITS.window_words for window in cut)


def test_a_text_of_one_window_stays_as_it_is():
    assert windows("one  two\nthree", LIMITS) == ("one  two\nthree",)


def test_a_long_text_is_cut_between_words_and_its_tail_ignored():
    assert windows("a b c d e f g h i j k l m n", LIMITS) == ("a b c d", "e f g h", "i j k l")


def test_a_text_without_blanks_is_cut_by_characters():
    assert windows("x" * 45, LIMITS) == ("x" * 20, "x" * 20, "x" * 5)


def test_a_lone_surrogate_is_replaced_and_a_character_that_expands_is_bounded():
    assert windows("a\ud800", LIMITS) == ("a\ufffd",)
    assert all(len(window) <= LIMITS.window_chars for window in windows("\ufdfa" * 20, LIMITS))


@pytest.mark.parametrize("text", ["", " " * 500])
def test_a_text_without_words_has_one_window(text: str):
    assert len(windows(text, LIMITS)) == 1


def test_limits_below_one_cannot_be_built():
    with pytest.raises(ValueError, match=">= 1"):
        WindowLimits(max_windows=0, window_words=1, window_chars=1)


def test_pooling_gives_the_mean_direction_of_each_text():
    x, y = np.eye(2, dtype=np.float32)
    pooled = pool(np.stack([x, y, y]), [2, 1])
    np.testing.assert_allclose(pooled, [[0.5**0.5, 0.5**0.5], [0, 1]], atol=1e-6)


def test_windows_that_cancel_out_pool_to_the_first():
    x = np.array([1, 0], np.float32)
    np.testing.assert_array_equal(pool(np.stack([x, -x]), [2]), [x])


def test_a_nul_becomes_a_blank_because_engines_stop_there():
    assert windows("tea\0with milk", LIMITS) == ("tea with milk",)
