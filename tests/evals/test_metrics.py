"""What the figures mean."""

import pytest

from evals import scores
from evals.bm25 import fill, plain_bm25
from evals.metrics import Tally, all_at, any_at, distinct, fraction_at, ndcg_at, reciprocal_rank
from evals.pairs import count_pairs
from evals.records import Document, Pair, Question
from evals.report import as_json, table


def _documents(*keys: str) -> list[Document]:
    return [Document(key, key, key.partition(":")[0]) for key in keys]


def test_a_piece_of_evidence_is_found_by_any_of_its_keys():
    evidence = (frozenset("ab"), frozenset("c"))
    assert fraction_at(2, ["x", "b", "c"], evidence) == 0.5
    assert fraction_at(3, ["x", "b", "c"], evidence) == 1


def test_any_and_all():
    assert any_at(2, ["x", "a", "b"], frozenset("ab")) == 1
    assert all_at(2, ["x", "a", "b"], frozenset("ab")) == 0
    assert all_at(3, ["x", "a", "b"], frozenset("ab")) == 1


def test_ndcg_is_one_for_the_best_order_and_falls_with_the_rank():
    assert ndcg_at(10, ["a", "b", "x"], frozenset("ab")) == 1
    assert ndcg_at(10, ["x", "a"], frozenset("a")) == pytest.approx(0.6309, abs=1e-4)
    assert ndcg_at(1, ["x", "a"], frozenset("a")) == 0


def test_reciprocal_rank():
    assert reciprocal_rank(["x", "a"], frozenset("a")) == 0.5
    assert reciprocal_rank(["x"], frozenset("a")) == 0


def test_a_session_ranks_where_its_best_turn_does():
    ranking = _documents("s1:1", "s1:2", "s2:1", "s1:3")
    assert distinct(document.session for document in ranking) == ["s1", "s2"]
    question = Question("?", (frozenset({"s2:1"}),), frozenset({"s2"}), "temporal")
    scored = scores.locomo(question, ranking)
    assert scored["locomo.session.any@5"] == scored["locomo.turn.fraction@5.temporal"] == 1


def test_abstention_counts_apart_and_together_but_not_among_the_others():
    scored = scores.longmemeval(Question("?", (), frozenset({"s"}), "abstention"), _documents("s:1"))
    assert scored["longmemeval.abstention.any@5"] == scored["longmemeval.session_with_abstention.any@5"] == 1
    assert not any(key.startswith("longmemeval.session.") for key in scored)


def test_both_sides_must_be_there():
    question = Question("?", (frozenset("a"), frozenset("bc")), kind="update")
    assert scores.beam(question, _documents("a", "x")) == {"beam.update.both@5": 0}
    assert scores.beam(question, _documents("c", "a")) == {"beam.update.both@5": 1}


def _pair(*, contradicts: bool, kind: str = "value") -> Pair:
    return Pair("a", "b", contradicts, ("contradiction_pairs.en",), kind)


def test_precision_and_recall_of_what_is_called_a_contradiction():
    tally = Tally()
    count_pairs(
        [_pair(contradicts=True), _pair(contradicts=True), _pair(contradicts=False), _pair(contradicts=False)],
        [True, False, True, False],
        tally,
    )
    figures = tally.figures()
    assert figures["contradiction_pairs.en.precision"].value == 0.5
    assert figures["contradiction_pairs.en.recall"].value == 0.5
    assert figures["contradiction_pairs.called.value"].value == 0.5


def test_precision_is_unknown_where_nothing_is_called():
    tally = Tally()
    count_pairs([_pair(contradicts=True)], [False], tally)
    figure = tally.figures()["contradiction_pairs.en.precision"]
    assert figure.value is None
    assert figure.interval is None


def test_intervals_hold_the_value_and_are_the_same_each_time():
    def measured():
        tally = Tally()
        for number in range(100):
            tally.add("x", float(number % 4 == 0))
            tally.sample("ms", float(number))
        return tally.figures()

    figures = measured()
    low, high = figures["x"].interval
    assert low < figures["x"].value == 0.25 < high
    assert figures["ms.p50"].value == 49.5
    assert measured() == figures


def test_plain_bm25_ranks_words_without_regard_to_case():
    documents = [Document("a", "Bees and honey"), Document("b", "A red KITE"), Document("c", "Bread")]
    assert plain_bm25(documents).best("kite?", 2)[0].key == "b"


def test_a_budget_is_filled_in_order_up_to_the_first_that_does_not_fit():
    ranking = _documents("aa", "bbbb", "c")
    assert [document.key for document in fill(ranking, 6, len)] == ["aa"]


def test_the_file_has_each_figure_at_its_key_and_the_table_one_line_for_each():
    tally = Tally()
    tally.add("locomo.turn.fraction@5", 1)
    tally.add_plain("locomo.turn.fraction@5", 0)
    figures = tally.figures()
    written = as_json(figures, {"subset": "small"})
    assert written["locomo.turn.fraction@5"] == 1
    assert written["_bm25"]["locomo.turn.fraction@5"] == 0
    assert {one["name"] for one in written["_published"]} == {"DRAGON", "plain BM25"}
    assert "| `locomo.turn.fraction@5` | 1.000 | 1.000–1.000 | 1 | 0.000 | DRAGON 0.567" in table(figures)
