"""Data sets as they come, with their quirks; every text here is made up."""

import lzma
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import orjson
import pytest

from app.domain.entries import TEXT_CHARS
from evals import conversations, facts
from evals.files import read_all, spread
from evals.plan import plan
from evals.report import as_json, table


def _write(path: Path, *rows: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = b"\n".join(orjson.dumps(row) for row in rows)
    path.write_bytes(lzma.compress(content) if path.suffix == ".xz" else content)
    return path.parent


def _locomo(**changes: object) -> dict:
    return {
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Bo",
            "session_1_date_time": "1:05 pm on 3 March, 2024",
            "session_1": [
                {"speaker": "Ada", "dia_id": "D1:1", "text": "I keep bees."},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "Look!", "blip_caption": "a red kite"},
            ],
            "session_2_date_time": "9:00 am on 4 March, 2024",
            "session_10_date_time": "9:00 am on 5 March, 2024",
            "session_10": [{"speaker": "Bo", "dia_id": "D10:5", "text": "The kite tore."}],
        },
        "qa": [{"question": "Who keeps bees?", "answer": "Ada", "evidence": ["D1:1"], "category": 4}],
        **changes,
    }


def _locomo_of(tmp_path, evidence: list[str]):
    sample = _locomo(qa=[{"question": "?", "adversarial_answer": "x", "evidence": evidence, "category": 5}])
    (corpus,) = conversations.locomo(_write(tmp_path / "conversations.dev.jsonl.xz", sample))
    return corpus


def test_a_turn_is_its_speaker_what_was_said_and_the_caption_of_its_picture(tmp_path):
    corpus = _locomo_of(tmp_path, ["D1:1"])
    assert [document.text for document in corpus.documents] == [
        "Ada: I keep bees.",
        "Bo: Look! [a red kite]",
        "Bo: The kite tore.",
    ]


def test_turns_have_the_date_of_their_session_in_the_order_of_the_conversation(tmp_path):
    corpus = _locomo_of(tmp_path, ["D1:1"])
    assert corpus.documents[0].at == datetime(2024, 3, 3, 13, 5, tzinfo=UTC)
    assert all(one.at < next_one.at for one, next_one in pairwise(corpus.documents))
    assert corpus.questions[0].at > corpus.documents[-1].at


@pytest.mark.parametrize(
    ("evidence", "turns"),
    [
        (["D1:1; D10:5"], {"D1:1", "D10:5"}),
        (["D1:1 D1:2"], {"D1:1", "D1:2"}),
        (["D:10:5"], {"D10:5"}),
        (["D10:05"], {"D10:5"}),
        (["D1:1", "D7:99"], {"D1:1"}),
        (["D1:1", "D1:01"], {"D1:1"}),
    ],
)
def test_evidence_is_read_however_it_is_written(tmp_path, evidence, turns):
    (question,) = _locomo_of(tmp_path, evidence).questions
    assert {key for piece in question.evidence for key in piece} == turns
    assert len(question.evidence) == len(turns)
    assert question.kind == "adversarial"


@pytest.mark.parametrize("evidence", [[], ["D7:99"], ["D"]])
def test_questions_without_evidence_are_not_asked(tmp_path, evidence):
    assert _locomo_of(tmp_path, evidence).questions == ()


def _instance(**changes: object) -> dict:
    return {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Where are my keys?",
        "question_date": "2024/03/05 (Tue) 10:00",
        "haystack_session_ids": ["s", "t", "s"],
        "haystack_dates": ["2024/03/01 (Fri) 10:00", "2024/03/02 (Sat) 10:00", "2024/03/03 (Sun) 10:00"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "Keys on the shelf.", "has_answer": True},
                {"role": "assistant", "content": ""},
            ],
            [{"role": "user", "content": "Hello."}],
            [{"role": "user", "content": "Bye."}],
        ],
        "answer_session_ids": ["s"],
        **changes,
    }


def test_a_session_id_that_comes_twice_stays_one_session_of_distinct_turns(tmp_path):
    (corpus,) = conversations.longmemeval(_write(tmp_path / "instances.x.jsonl", _instance()))
    assert [document.session for document in corpus.documents] == ["s", "t", "s"]
    assert len({document.key for document in corpus.documents}) == 3
    assert corpus.questions[0].at == datetime(2024, 3, 5, 10, tzinfo=UTC)


def test_abstention_is_a_kind_of_its_own(tmp_path):
    folder = _write(tmp_path / "instances.x.jsonl", _instance(), _instance(question_id="q2_abs"))
    kinds = [corpus.questions[0].kind for corpus in conversations.longmemeval(folder)]
    assert kinds == ["single_session_user", "abstention"]


def test_a_text_that_is_too_long_for_an_entry_becomes_several_with_one_key(tmp_path):
    session = [{"role": "user", "content": "a" * TEXT_CHARS}]
    instance = _instance(haystack_session_ids=["s"], haystack_dates=[None], haystack_sessions=[session])
    (corpus,) = conversations.longmemeval(_write(tmp_path / "instances.x.jsonl", instance))
    assert [len(document.text) for document in corpus.documents] == [TEXT_CHARS, len("user: ")]
    assert len({document.key for document in corpus.documents}) == 1


def test_beam_has_two_sides_and_a_date_that_holds_until_the_next(tmp_path):
    messages = [
        {"id": 0, "batch": 1, "role": "user", "time_anchor": "March-15-2024", "content": "I use Go."},
        {"id": 1, "batch": 1, "role": "user", "time_anchor": None, "content": "I never used Go."},
    ]
    questions = {
        "contradiction_resolution": [
            {"question": "Go?", "source_chat_ids": {"first_statement": [0], "second_statement": [[1]]}},
            {"question": "No sides?"},
        ],
        "knowledge_update": [{"question": "A list?", "source_chat_ids": [0, 1]}],
    }
    sample = {"messages": messages, "probing_questions": questions}
    (corpus,) = conversations.beam(_write(tmp_path / "conversations.dev.jsonl", sample))
    assert [question.text for question in corpus.questions] == ["Go?"]
    assert corpus.questions[0].evidence == (frozenset("0"), frozenset("1"))
    assert corpus.documents[1].at == datetime(2024, 3, 15, 0, 0, 1, tzinfo=UTC)


def test_what_rte_does_not_decide_is_left_out(tmp_path):
    row = {"Text": "It rains.", "Hypothesis": "It is dry.", "gold_label": "contradiction"}
    _write(tmp_path / "snli.dev.jsonl", row)
    _write(tmp_path / "rte.dev.jsonl", {**row, "gold_label": "not_entailment"}, {**row, "gold_label": "entailment"})
    assert [pair.contradicts for pair in facts.negation_nli(tmp_path)] == [True, False]


def test_every_half_is_read(tmp_path):
    _write(tmp_path / "pairs.a.jsonl", {"n": 1})
    _write(tmp_path / "pairs.b.jsonl.xz", {"n": 2}, {"n": 3})
    _write(tmp_path / "pairs_of_others.jsonl", {"n": 4})
    assert [row["n"] for row in read_all(tmp_path, "pairs")] == [1, 2, 3]


def test_a_broken_line_is_named(tmp_path):
    (tmp_path / "pairs.jsonl").write_text('{"n": 1}\n{"n"\n')
    with pytest.raises(ValueError, match=r"pairs.jsonl, line 2"):
        list(read_all(tmp_path, "pairs"))


def test_a_sample_is_evenly_spaced_and_the_same_each_time():
    assert spread(range(10), 5) == [0, 2, 4, 6, 8]
    assert list(spread(range(3), 5)) == [0, 1, 2]
    assert list(spread(range(3), None)) == [0, 1, 2]


def test_what_is_missing_is_named_and_what_is_there_is_loaded(tmp_path):
    _write(tmp_path / "short_facts" / "memories.dev.jsonl", {"id": 0, "text": "Keeps bees"})
    _write(tmp_path / "short_facts" / "questions.dev.jsonl", {"set": "en", "question": "Which animals?", "id": 0})
    _write(tmp_path / "squad_it" / "paragraphs.dev.jsonl", {"pid": 0, "text": "Api."})
    work = plan(tmp_path, small=True)
    assert [task.folder for task, _ in work.retrieval] == ["short_facts"]
    assert "squad_it" in work.missing
    assert "locomo" in work.missing


def test_nothing_measured_is_an_empty_table():
    assert len(table({}).splitlines()) == 2
    assert as_json({}, {})["_published"] == []


def test_a_turn_knows_who_said_it_where_and_after_what(tmp_path):
    corpus = _locomo_of(tmp_path, ["D1:1"])
    assert [(d.author, d.session, d.context) for d in corpus.documents] == [
        ("Ada", "D1", ""),
        ("Bo", "D1", "Ada: I keep bees."),
        ("Bo", "D10", ""),
    ]
