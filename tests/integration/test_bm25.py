"""The keyword arm's BM25, against an implementation that is not ours."""

from itertools import groupby
from math import log

import numpy as np
import pytest
from rank_bm25 import BM25Plus

from app.domain.entries import Tier
from app.text.stems import stems
from app.text.terms import document_terms, query_terms


def own_stems(number):
    """Words that are their own stems in every language: one term each, worth 1."""
    syllables = ("bro", "tul", "kam", "zil", "dra", "pom", "gur", "nof", "wek", "rud")
    words = (one + other + end for one in syllables for other in syllables for end in ("k", "x", "b"))
    found = [word for word in words if stems(word) == (word,) and query_terms(word)[0].weight == 1]
    return found[:number]


WORDS = own_stems(80)
FREQUENCIES = 1 / np.arange(1, len(WORDS) + 1)


def some_texts(number, seed):
    random = np.random.default_rng(seed)
    shares = FREQUENCIES / FREQUENCIES.sum()
    return [" ".join(random.choice(WORDS, random.integers(3, 16), p=shares)) + f" n{i}" for i in range(number)]


def some_queries(number, seed):
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, random.integers(1, 5), replace=False)) for _ in range(number)]


def lucene(texts):
    """rank_bm25 without its lower bound, with Lucene's idf over at least 100 documents, over our terms."""
    documents = [document_terms(text) for text in texts]
    model = BM25Plus(
        [[t for t, n in d.frequencies.items() for _ in range(n)] for d in documents], k1=0.6, b=0.4, delta=0
    )
    model.doc_len = [d.length_words for d in documents]
    model.avgdl = np.mean(model.doc_len)
    size = max(len(texts), 100)
    for term in model.idf:
        found = sum(term in d.frequencies for d in documents)
        model.idf[term] = log(1 + (size - found + 0.5) / (found + 0.5))
    return model


def expected_scores(model, query):
    """Each form of a word counts by its weight; the forms of one word are worth 1 together."""
    total = np.zeros(model.corpus_size)
    for _, forms in groupby(query_terms(query), key=lambda term: term.word):
        scores, weights = np.zeros(model.corpus_size), np.zeros(model.corpus_size)
        for form in forms:
            hits = np.array([form.term in frequencies for frequencies in model.doc_freqs])
            scores += form.weight * model.get_scores([form.term])
            weights += form.weight * hits
        total += scores / np.maximum(weights, 1)
    return total


async def found_scores(space, query):
    candidates = await space.search(query, arms="lexical", limit=1000)
    return {c.text: c.bm25_score for c in candidates}


def assert_equal_scores(found, texts, expected):
    hits = {text: score for text, score in zip(texts, expected, strict=True) if score > 0}
    assert found.keys() == hits.keys()
    assert found == pytest.approx(hits, rel=1e-9)


@pytest.mark.parametrize("documents", [7, 300], ids=["fewer than 100 documents", "300 documents"])
async def test_scores_equal_those_of_rank_bm25(space, documents):
    texts = some_texts(documents, seed=1)
    await space.fill(texts)
    model = lucene(texts)
    for query in some_queries(25, seed=2):
        assert_equal_scores(await found_scores(space, query), texts, expected_scores(model, query))


async def test_with_words_that_are_their_own_stems_the_score_is_textbook_bm25(space):
    texts = some_texts(120, seed=3)
    await space.fill(texts)
    size, lengths = len(texts), [len(text.split()) for text in texts]
    for query in some_queries(10, seed=4):
        expected = np.zeros(size)
        for word in query.split():
            counts = np.array([text.split().count(word) for text in texts])
            found = np.count_nonzero(counts)
            idf = log(1 + (size - found + 0.5) / (found + 0.5))
            expected += idf * counts * 1.6 / (counts + 0.36 + 0.24 * np.array(lengths) / np.mean(lengths))
        assert_equal_scores(await found_scores(space, query), texts, expected)


async def test_stems_and_surface_forms_count_by_their_weights_and_together_as_one_word(space):
    texts = [
        "Ana is running three marathons this year, running for charity.",
        "She runs every morning before work.",
        "The run was cancelled because of the rain.",
        "Bees fly three kilometres to find flowers.",
        "A marathon is a long way to run without water.",
    ]
    await space.fill(texts)
    model = lucene(texts)
    for query in ("running marathons", "Who runs in the rain?", "flower bees running", "marathon"):
        assert_equal_scores(await found_scores(space, query), texts, expected_scores(model, query))


async def test_a_text_of_unsure_language_gains_nothing_from_having_the_stems_of_several(space):
    texts = ["positivo", "positivo tulbrok", "violini", "radioamatori", "tulbrok"]
    assert len(document_terms("positivo").frequencies) > 2
    await space.fill(texts)
    model = lucene(texts)
    for query in ("positivo", "violini", "radioamatori tulbrok"):
        assert_equal_scores(await found_scores(space, query), texts, expected_scores(model, query))


async def test_plain_bm25_plus_finds_the_same_best_entries_for_most_queries(space):
    texts = some_texts(300, seed=5)
    await space.fill(texts)
    judge = BM25Plus([text.split() for text in texts])
    overlaps = []
    for query in some_queries(40, seed=6):
        found = await found_scores(space, query)
        ours = sorted(found, key=lambda text: -found[text])[:10]
        scores = judge.get_scores(query.split())
        theirs = [texts[i] for i in np.argsort(-scores, kind="stable")[:10]]
        overlaps.append(len({*ours} & {*theirs}) / len(ours))
    assert np.mean(np.array(overlaps) >= 0.8) >= 0.75, overlaps


async def test_statistics_are_those_of_the_own_space_and_tier_lengths_of_the_own_tier(store):
    caller = store.tenant()
    mine, other = store.space("user:ana", caller), store.space("user:ben", caller)
    texts = some_texts(30, seed=7)
    await mine.fill(texts)
    before = await found_scores(mine, texts[3])
    await other.fill(some_texts(200, seed=8))
    assert await found_scores(mine, texts[3]) == before
    await mine.fill(["unrelated " * 400], tier=Tier.EPISODES)
    assert await found_scores(mine, texts[3]) == before


async def test_a_word_in_every_document_of_a_small_space_still_scores_above_zero(space):
    await space.fill([f"kampomk {word}" for word in WORDS[:20]])
    assert min((await found_scores(space, "kampomk")).values()) > 0
