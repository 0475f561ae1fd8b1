import asyncio
from collections.abc import AsyncIterator

import numpy as np
import pytest

from app.embedding.bundled import BundledEmbedder
from app.embedding.models import BUNDLED


@pytest.fixture(scope="module")
async def embedder() -> AsyncIterator[BundledEmbedder]:
    made = BundledEmbedder()
    await made.start()
    yield made
    await made.close()


async def test_the_event_loop_runs_on_while_a_thousand_documents_are_embedded(embedder: BundledEmbedder):
    before = embedder.counts.batches
    importing = asyncio.create_task(embedder.embed_documents([f"Ana has {n} cats and a dog" for n in range(1000)]))
    turns = 0
    while not importing.done():
        await asyncio.sleep(0)
        turns += 1
    assert (await importing).shape == (1000, 512)
    assert turns > 10 * (embedder.counts.batches - before)  # a blocked loop turns once or twice a batch


@pytest.mark.parametrize(
    "text", ["the house in Turin " * 55_000, "字" * 1_000_000, "a " * 500_000, "\ufdfa" * 1_000_000]
)
async def test_of_a_megabyte_the_model_reads_its_windows_alone(embedder: BundledEmbedder, text: str):
    before = embedder.counts.texts
    await embedder.embed_documents([text])
    assert embedder.counts.texts - before <= BUNDLED.document_windows.max_windows


async def test_what_lies_behind_the_last_window_is_ignored(embedder: BundledEmbedder):
    head = "tea " * 1_250
    with_tail, without = await embedder.embed_documents([head + "and a long story", head])
    np.testing.assert_allclose(with_tail, without, atol=1e-6)


async def test_every_window_of_a_long_text_leaves_its_mark(embedder: BundledEmbedder):
    story = "She was born in Turin and studied music. " * 60
    plain, with_end = await embedder.embed_documents([story, story + "The volcano erupted in June. " * 20])
    volcano = await embedder.embed_query("volcanic eruption")
    assert volcano @ with_end > volcano @ plain


async def test_the_same_thing_said_in_two_languages_is_near(embedder: BundledEmbedder):
    query = await embedder.embed_query("Quali animali ha Ana?")
    cats, taxes = await embedder.embed_documents(["Ana has two cats", "Taxes are due in June"])
    assert query @ cats > query @ taxes + 0.2


async def test_a_short_text_is_the_same_as_a_question_and_as_a_document(embedder: BundledEmbedder):
    text = "What does Ana like to drink?"
    document = (await embedder.embed_documents([text]))[0]
    np.testing.assert_allclose(await embedder.embed_query(text), document, atol=1e-5)
