"""What every embedder promises, the real ones and the fake of the unit tests alike.

bge-m3 keeps the same promises in an environment of its own: tests/bge_m3.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np
import pytest

from app.embedding.factory import EmbedderKind, EmbedderOptions, RunningEmbedder, create_embedder
from app.embedding.local import Prefixes
from tests.fakes.embedder import HashedEmbedder
from tests.fakes.embedding_server import EmbeddingServer

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


@asynccontextmanager
async def started(kind: EmbedderKind, options: EmbedderOptions | None = None) -> AsyncIterator[RunningEmbedder]:
    embedder = create_embedder(kind, options or EmbedderOptions())
    await embedder.start()
    yield embedder
    await embedder.close()


@asynccontextmanager
async def served(path: str, prefixes: Prefixes | None = None) -> AsyncIterator[RunningEmbedder]:
    async with EmbeddingServer() as server:
        options = EmbedderOptions(model="hashed", url=server.url(path), prefixes=prefixes, batch_texts=8)
        async with started("http", options) as embedder:
            yield embedder


@asynccontextmanager
async def fake() -> AsyncIterator[RunningEmbedder]:
    yield HashedEmbedder()


EMBEDDERS = {
    "bundled": lambda: started("bundled"),
    "e5": lambda: started("e5"),
    "http, OpenAI's way": lambda: served("/v1/embeddings"),
    "http, TEI's way": lambda: served("/embed"),
    "http, with prefixes": lambda: served("/v1/embeddings", Prefixes("query: ", "passage: ")),
    "hashed words": fake,
}


@pytest.fixture(params=EMBEDDERS, scope="module")
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[RunningEmbedder]:
    async with EMBEDDERS[request.param]() as made:
        yield made


def test_it_has_a_name_and_a_dimension(embedder: RunningEmbedder):
    assert embedder.name
    assert embedder.dimensions > 0


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
async def test_any_text_has_a_finite_unit_vector(embedder: RunningEmbedder, text: str):
    for vector in (await embedder.embed_query(text), (await embedder.embed_documents([text]))[0]):
        assert vector.shape == (embedder.dimensions,)
        assert vector.dtype == np.float32
        assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


async def test_documents_keep_their_order_and_equal_the_single_ones(embedder: RunningEmbedder):
    texts = ["Ana likes tea.", "", "Ben moved to Turin.", "word " * 900, "Ana likes tea."]
    together = await embedder.embed_documents(texts)
    alone = np.stack([(await embedder.embed_documents([text]))[0] for text in texts])
    assert together.shape == (5, embedder.dimensions)
    np.testing.assert_allclose(together, alone, atol=1e-5)


async def test_no_documents_give_no_rows(embedder: RunningEmbedder):
    assert (await embedder.embed_documents([])).shape == (0, embedder.dimensions)


async def test_equal_texts_have_equal_vectors(embedder: RunningEmbedder):
    first = await embedder.embed_query("the same question")
    np.testing.assert_array_equal(await embedder.embed_query("the same question"), first)


async def test_what_shares_a_subject_is_nearer_than_what_does_not(embedder: RunningEmbedder):
    query = await embedder.embed_query("a cup of green tea in the morning")
    documents = ["green tea in the morning", "quarterly earnings of a steel company"]
    near, far = await embedder.embed_documents(documents)
    assert query @ near > query @ far + 0.01


async def test_concurrent_callers_each_get_their_own(embedder: RunningEmbedder):
    texts = ["green tea", "a red car", "my sister Irene", "the castle of Turin", "skiing", "the bank", "a piano"]
    got = np.stack(await asyncio.gather(*map(embedder.embed_query, texts * 3)))
    documents = await embedder.embed_documents(texts)
    assert (got @ documents.T).argmax(axis=1).tolist() == [*range(len(texts))] * 3


async def test_a_long_text_is_no_error_and_its_beginning_counts(embedder: RunningEmbedder):
    long = "Ana drinks green tea in the morning. " * 2_000
    short, other = await embedder.embed_documents(["Ana drinks green tea in the morning.", "quarterly earnings"])
    [vector] = await embedder.embed_documents([long])
    assert vector @ short > vector @ other
