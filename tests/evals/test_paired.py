"""Comparing two ways on the same questions, and the stores in which relevance ties."""

from dataclasses import astuple

import orjson
import pytest

from app.scoring.weights import WEIGHTS
from evals.paired import paired, paired_json, paired_table, sign_test
from evals.ties import labelled, ties
from evals.weighing import weight_sets, without_each


def test_a_difference_is_that_of_the_means_with_an_interval_around_it():
    found = paired([0, 0, 1, 1] * 10, [1, 0, 1, 1] * 10)
    assert (found.first, found.second, found.difference) == (0.5, 0.75, 0.25)
    assert found.interval[0] <= 0.25 <= found.interval[1]
    assert (found.better, found.worse, found.items) == (10, 0, 40)
    assert found.p < 0.01


def test_what_is_the_same_differs_in_nothing():
    found = paired([0.5, 1], [0.5, 1])
    assert (found.difference, found.interval, found.p) == (0, (0, 0), 1)


@pytest.mark.parametrize(
    ("better", "worse", "p"), [(0, 0, 1), (5, 5, 1), (5, 0, 0.0625), (0, 5, 0.0625), (9, 1, 0.0215)]
)
def test_the_sign_test_is_two_sided(better, worse, p):
    assert sign_test(better, worse) == pytest.approx(p, abs=1e-4)


@pytest.mark.parametrize(("first", "second"), [([], []), ([1], [1, 2])])
def test_pairs_need_partners(first, second):
    with pytest.raises(ValueError, match="as many"):
        paired(first, second)


def test_table_and_file_have_every_figure():
    found = {"some.figure": paired([0, 1], [1, 1])}
    assert "`some.figure` | 0.500 | 1.000 | +0.500" in paired_table(found, ("a", "b"))
    assert paired_json(found)["some.figure"]["difference"] == 0.5


def test_every_case_is_asked_on_every_topic_and_says_why():
    found, cases = list(ties()), labelled()
    assert {tie.name.partition(".")[0] for tie in found} == cases.keys()
    assert len({tie.name for tie in found}) == len(found) == 6 * len(cases)
    assert all(case["why"] for case in cases.values())


def test_a_tie_holds_one_right_fact_among_near_equal_ones_wherever_it_stands():
    found = list(ties())
    assert len({tie.right for tie in found}) > 6
    for tie in found:
        right = tie.facts[tie.right]
        assert all(fact != right for place, fact in enumerate(tie.facts) if place != tie.right)
        profiles = {(f.importance, f.age_days, f.uses, f.confidence) for f in tie.facts}
        assert (right.importance, right.age_days, right.uses, right.confidence) in profiles
        assert len({fact.text for fact in tie.facts}) == len(tie.facts) == 12


def test_each_weight_is_taken_out_once_and_the_others_share_it():
    found = [astuple(weights) for weights in without_each(WEIGHTS)]
    assert [shares.index(0) for shares in found] == [0, 1, 2, 3, 4]
    assert [shares.count(0) for shares in found] == [1] * 5


def test_a_file_holds_two_sets_of_weights(tmp_path):
    file = tmp_path / "ab.json"
    names = ("relevance", "importance", "recency", "frequency", "confidence")
    one = dict(zip(names, astuple(WEIGHTS), strict=True))
    file.write_bytes(orjson.dumps({"a": one, "b": {**one, "relevance": 0.65, "importance": 0.07}}))
    found = weight_sets(file)
    assert found["a"] == WEIGHTS
    assert found["b"].importance == 0.07


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"a": {}, "b": {}}', b'{"a": 1, "b": 2}', b'{"a": {"relevance": 2}, "b": {}}']
)
def test_a_file_that_holds_something_else_is_named(tmp_path, content):
    file = tmp_path / "ab.json"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"ab\.json"):
        weight_sets(file)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ValueError, match="nowhere"):
        weight_sets(tmp_path / "nowhere.json")
