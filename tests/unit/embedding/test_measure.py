from collections import Counter

import numpy as np
import pytest

from app.contradictions.detect import SimilarityBand
from app.embedding.calibration import CosineMap, calibrated
from app.embedding.measure import band, cosine_map, measure
from app.embedding.models import BUNDLED
from app.embedding.pairs import Pair, Relation, built_in_pairs, read_pairs, with_crossed
from app.embedding.report import report
from app.scoring.relevance import Calibration, relevance
from tests.fakes.embedder import HashedEmbedder


def test_the_built_in_pairs_are_parallel_in_three_languages():
    counts = Counter((pair.language, pair.relation) for pair in built_in_pairs())
    per_language = {language: [counts[language, r] for r in Relation] for language in ("en", "it", "cs")}
    assert per_language["en"] == per_language["it"] == per_language["cs"] == [10, 15, 10, 3, 12, 0]


def test_a_line_that_is_no_pair_is_named():
    with pytest.raises(ValueError, match="line 2 is no"):
        read_pairs(b'{"language": "en", "kind": "paraphrase", "a": "x", "b": "y"}\n{"language": "en"}\n')


def test_every_question_is_asked_of_every_other_answer_of_its_language():
    pairs = (Pair("en", Relation.ANSWER, "q1", "a1"), Pair("en", Relation.ANSWER, "q2", "a2"))
    assert with_crossed((*pairs, Pair("it", Relation.ANSWER, "d", "r")))[3:] == (
        Pair("en", Relation.IRRELEVANT, "q1", "a2"),
        Pair("en", Relation.IRRELEVANT, "q2", "a1"),
    )


def test_the_band_holds_nine_of_ten_contradictions():
    cosines = np.linspace(0.4, 0.9, 101)
    assert band({Relation.CONTRADICTION: cosines}) == (0.42, 0.88)


def test_a_cosine_map_takes_the_medians_of_one_model_to_those_of_the_other():
    model = {Relation.IRRELEVANT: np.array([0.5, 0.6, 0.7]), Relation.ANSWER: np.array([0.7, 0.8, 0.9])}
    reference = {Relation.IRRELEVANT: np.array([0.0, 0.1, 0.2]), Relation.ANSWER: np.array([0.3, 0.5, 0.6])}
    found = cosine_map(model, reference)
    assert found.scale * 0.6 + found.shift == pytest.approx(0.1, abs=1e-2)
    assert found.scale * 0.8 + found.shift == pytest.approx(0.5, abs=1e-2)


def test_a_model_that_cannot_tell_answers_is_refused():
    same = {Relation.IRRELEVANT: np.array([0.5]), Relation.ANSWER: np.array([0.5])}
    with pytest.raises(ValueError, match="does not tell answers"):
        cosine_map(same, same)


@pytest.mark.parametrize("cosine", [-0.2, 0.0, 0.1, 0.3, 0.8])
@pytest.mark.parametrize("keywords", [(None, None), (7.0, 0.6)])
def test_through_the_map_a_model_has_the_relevance_of_the_bundled_one(cosine: float, keywords):
    line = CosineMap(1.5, -0.05)
    own = relevance(cosine, *keywords, line.relevance())
    assert own == pytest.approx(relevance(line.scale * cosine + line.shift, *keywords, Calibration()))


def test_a_map_that_goes_down_cannot_be_built():
    with pytest.raises(ValueError, match="scale"):
        CosineMap(scale=0)


def test_an_offset_below_zero_counts_as_zero():
    assert CosineMap(shift=-0.5).relevance().cosine_offset == 0


async def test_a_model_measured_beside_itself_needs_no_map():
    hashed = HashedEmbedder()
    measured = await measure(hashed, hashed, built_in_pairs())
    assert measured.cosines == CosineMap()
    assert measured.dimensions == 64
    assert measured.raw[Relation.PARAPHRASE][2] > measured.raw[Relation.UNRELATED][2]


async def test_the_report_ends_in_the_setting_to_copy():
    measured = await measure(HashedEmbedder(), HashedEmbedder(), built_in_pairs())
    last = report(BUNDLED, measured).splitlines()[-1]
    assert last.startswith('RICORDO_EMBEDDER_CALIBRATION=\'{"dimensions":64,"band":[')


async def test_pairs_without_contradictions_are_refused():
    only_answers = tuple(pair for pair in built_in_pairs() if pair.relation is Relation.ANSWER)
    with pytest.raises(ValueError, match="two or more pairs"):
        await measure(HashedEmbedder(), HashedEmbedder(), only_answers)


def test_what_is_measured_becomes_what_the_pipeline_takes():
    assert calibrated((0.84, 0.99), CosineMap()).band == SimilarityBand(0.84, 0.99)
