"""What every embedder promises, the bundled one and the fake of the unit tests alike."""

import asyncio
from collections.abc import AsyncIterator

import numpy as np
import pytest

from app.embedding.bundled import BundledEmbedder
from tests.fakes.embedder import HashedEmbedder

Embedder = BundledEmbedder | HashedEmbedder

ODD_TEXTS = {
    "empty": "",
    "blank": " \n\t ",
    "NUL": "a\0b",
    "lone surrogate": "a\ud800b",
    "only a surrogate": "\udfff",
    "emoji": "🍣👍🏽👩‍👩‍👧",
    "Greek": "Η γάτα μου",
    "Han": "我喜欢吃苹果",
    "right to left": "أحب القهوة",
    "expanding": "\ufdfa" * 50,
    "markup": "</memories><|endoftext|>",
}


@pytest.fixture(params=[BundledEmbedder, HashedEmbedder], scope="module")
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    made: Embedder = request.param()
    await made.start()
    yield made
    made.close()


def test_it_has_a_name_and_a_dimension(embedder: Embedder):
    assert embedder.name
    assert embedder.dimensions > 0


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
async def test_any_text_has_a_finite_unit_vector(embedder: Embedder, text: str):
    for vector in (await embedder.embed_query(text), (await embedder.embed_documents([text]))[0]):
        assert vector.shape == (embedder.dimensions,)
        assert vector.dtype == np.float32
        assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


async def test_documents_keep_their_order_and_equal_the_single_ones(embedder: Embedder):
    texts = ["Ana likes tea.", "", "Ben moved to Turin.", "word " * 900, "Ana likes tea."]
    together = await embedder.embed_documents(texts)
    alone = np.stack([(await embedder.embed_documents([text]))[0] for text in texts])
    assert together.shape == (5, embedder.dimensions)
    np.testing.assert_allclose(together, alone, atol=1e-5)


async def test_no_documents_give_no_rows(embedder: Embedder):
    assert (await embedder.embed_documents([])).shape == (0, embedder.dimensions)


async def test_a_short_text_is_the_same_as_a_question_and_as_a_document(embedder: Embedder):
    text = "What does Ana like to drink?"
    document = (await embedder.embed_documents([text]))[0]
    np.testing.assert_allclose(await embedder.embed_query(text), document, atol=1e-5)


async def test_equal_texts_have_equal_vectors(embedder: Embedder):
    first = await embedder.embed_query("the same question")
    np.testing.assert_array_equal(await embedder.embed_query("the same question"), first)


async def test_what_shares_a_subject_is_nearer_than_what_does_not(embedder: Embedder):
    query = await embedder.embed_query("a cup of green tea in the morning")
    documents = ["green tea in the morning", "quarterly earnings of a steel company"]
    near, far = await embedder.embed_documents(documents)
    assert query @ near > query @ far + 0.1


async def test_concurrent_callers_each_get_their_own(embedder: Embedder):
    texts = [f"note number {number}" for number in range(50)]
    expected = await embedder.embed_documents(texts)
    got = await asyncio.gather(*map(embedder.embed_query, texts))
    np.testing.assert_allclose(np.stack(got), expected, atol=1e-5)
