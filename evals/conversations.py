"""Loaders of the data sets that hold conversations: LoCoMo, LongMemEval, BEAM."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from app.domain.entries import TEXT_CHARS
from evals.files import read_all
from evals.records import Corpus, Document, Question

LOCOMO_CATEGORIES = {1: "multi_hop", 2: "temporal", 3: "open_domain", 4: "single_hop", 5: "adversarial"}
BEAM_KINDS = {
    "contradiction": ("contradiction_resolution", ("first_statement", "second_statement")),
    "update": ("knowledge_update", ("original_info", "updated_info")),
}
ABSTENTION = "abstention"

_DIA_ID = re.compile(r"D\s*:?\s*(\d+)\s*:\s*(\d+)")
_SESSION = re.compile(r"session_(\d+)")
_WEEKDAY = re.compile(r"\s*\([A-Za-z]+\)\s*")


def locomo(folder: Path) -> Iterator[Corpus]:
    """One corpus a conversation. Questions without evidence are left out, and evidence that is no turn too."""
    for number, sample in enumerate(read_all(folder, "conversations")):
        documents = tuple(_locomo_turns(sample["conversation"]))
        known = {document.key: document.session for document in documents}
        moments = [document.at for document in documents if document.at]
        asked_at = max(moments) + timedelta(days=1) if moments else None
        questions = []
        for qa in sample["qa"]:
            turns = [key for key in dia_ids(qa.get("evidence") or ()) if key in known]
            if turns:
                evidence = tuple(frozenset((key,)) for key in turns)
                kind = LOCOMO_CATEGORIES.get(qa.get("category"), "other")
                questions.append(
                    Question(qa["question"], evidence, frozenset(map(known.__getitem__, turns)), kind, asked_at)
                )
        yield Corpus(f"locomo-{number}", documents, tuple(questions))


def dia_ids(evidence: Sequence[str]) -> list[str]:
    """The turns that evidence names, once each: one string may name several, or write them as D:11:26 or D30:05."""
    found = (f"D{int(session)}:{int(turn)}" for text in evidence for session, turn in _DIA_ID.findall(text))
    return list(dict.fromkeys(found))


def _locomo_turns(conversation: Mapping[str, Any]) -> Iterator[Document]:
    return in_context(_locomo_said(conversation))


def _locomo_said(conversation: Mapping[str, Any]) -> Iterator[Document]:
    for number in sorted(int(found[1]) for name in conversation if (found := _SESSION.fullmatch(name))):
        started = moment(conversation.get(f"session_{number}_date_time"), "%I:%M %p on %d %B, %Y")
        for position, turn in enumerate(conversation[f"session_{number}"] or ()):
            (key,) = dia_ids([turn["dia_id"]]) or [turn["dia_id"]]
            text = spoken(turn["speaker"], turn.get("text"), turn.get("blip_caption"))
            yield from parts(key, text, f"D{number}", later(started, position), turn["speaker"])


def longmemeval(folder: Path) -> Iterator[Corpus]:
    """One corpus an instance, with its one question."""
    for number, instance in enumerate(read_all(folder, "instances")):
        dates = instance.get("haystack_dates") or [None] * len(instance["haystack_sessions"])
        sessions = zip(instance["haystack_session_ids"], dates, instance["haystack_sessions"], strict=True)
        documents = tuple(
            document
            for place, (session, date, turns) in enumerate(sessions)
            for document in in_context(_longmemeval_said(place, session, date, turns))
        )
        kind = ABSTENTION if instance["question_id"].endswith("_abs") else instance["question_type"].replace("-", "_")
        answer = frozenset(instance["answer_session_ids"])
        question = Question(instance["question"], (), answer, kind, _longmemeval_moment(instance.get("question_date")))
        yield Corpus(f"longmemeval-{number}", documents, (question,))


def _longmemeval_said(
    place: int, session: str, date: str | None, turns: Sequence[Mapping[str, Any]]
) -> Iterator[Document]:
    for position, turn in enumerate(turns):
        at = later(_longmemeval_moment(date), position)
        yield from parts(f"{place}:{position}", spoken(turn["role"], turn.get("content")), session, at, turn["role"])


def _longmemeval_moment(date: str | None) -> datetime | None:
    return moment(_WEEKDAY.sub(" ", date) if date else None, "%Y/%m/%d %H:%M")


def beam(folder: Path) -> Iterator[Corpus]:
    """One corpus a conversation; only questions with two sides that the data name.

    A date stands at the first message of a batch and holds until the next one.
    """
    for number, sample in enumerate(read_all(folder, "conversations")):
        said: list[Document] = []
        anchor: datetime | None = None
        for position, message in enumerate(sample["messages"]):
            anchor = moment(message.get("time_anchor"), "%B-%d-%Y") or anchor
            text = spoken(message["role"], message.get("content"))
            at, session = later(anchor, position), str(message.get("batch", ""))
            said += parts(str(message["id"]), text, session, at, message["role"])
        asked_at = anchor + timedelta(days=1) if anchor else None
        questions = [
            Question(asked["question"], sides, frozenset(), kind, asked_at)
            for kind, (name, fields) in BEAM_KINDS.items()
            for asked in sample["probing_questions"].get(name, ())
            if all(sides := _sides(asked.get("source_chat_ids"), fields))
        ]
        yield Corpus(f"beam-{number}", tuple(in_context(said)), tuple(questions))


def _sides(source: object, fields: Sequence[str]) -> tuple[frozenset[str], ...]:
    """The messages of each side; an empty set for a side that is not named."""
    named = source if isinstance(source, dict) else {}
    return tuple(frozenset(map(str, _flat(named.get(field)))) for field in fields)


def _flat(value: object) -> Iterator[int]:
    if isinstance(value, int):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _flat(one)


def spoken(speaker: str, text: str | None, caption: str | None = None) -> str:
    """`Speaker: text [caption]`; empty if nothing was said."""
    said = " ".join(part for part in ((text or "").strip(), f"[{caption.strip()}]" if caption else "") if part)
    return f"{speaker}: {said}" if said else ""


def parts(key: str, text: str, session: str, at: datetime | None, author: str = "") -> Iterator[Document]:
    """A text as documents that fit an entry; none for an empty text."""
    for start in range(0, len(text), TEXT_CHARS):
        if text[start : start + TEXT_CHARS].strip():
            yield Document(key, text[start : start + TEXT_CHARS], session, at, author)


def in_context(said: Iterable[Document]) -> Iterator[Document]:
    """Each document with the one before it in the same session as its context, as an agent would give it."""
    before: Document | None = None
    for document in said:
        has_context = before is not None and before.session == document.session
        yield replace(document, context=before.text) if before and has_context else document
        before = document


def moment(text: str | None, form: str) -> datetime | None:
    """A date of the data, taken for UTC; None if there is none or it is written otherwise."""
    if not text:
        return None
    try:
        return datetime.strptime(text.strip(), form).replace(tzinfo=UTC)
    except ValueError:
        return None


def later(started: datetime | None, seconds: int) -> datetime | None:
    """A second after the other: the turns of a session share a date, and their order is known."""
    return None if started is None else started + timedelta(seconds=seconds)
