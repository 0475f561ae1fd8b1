"""What of a conversation is a correction, or a wish to be forgotten: sentences that may be, and those that are. Pure.

Rather one missed than one made up: a contrast puts something right only if something is remembered otherwise.
"""

import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b

from app.contradictions.claims import claim_key, derive_claim
from app.contradictions.subjects import SELF
from app.contradictions.wording import Sentence
from app.corrections.decide import Known, disputed
from app.corrections.lexicon import lexicons
from app.corrections.matching import words_of
from app.corrections.reading import Extent, Reading, language_of, read, read_wish
from app.corrections.records import Ask, Decision, Refuse, Write
from app.domain.entries import Entry
from app.extraction.clauses import blanked, is_prose, own_sentences, quotes
from app.extraction.lexicon import languages
from app.text.content import content_terms
from app.text.normalise import fold
from app.turns.wishes import Wish

_WORD = re.compile(r"\w+")


def wishes(text: str) -> tuple[Wish, ...]:
    """The sentences of a message that may put something right or ask for it to be forgotten, in their order.

    Quotations, code, reports of others and questions are none; "can you forget ...?" is a wish.
    """
    said = {fold(word) for word in _WORD.findall(text)}
    if not is_prose(text) or all(lexicon.triggers.isdisjoint(said) for lexicon in lexicons().values()):
        return ()
    return tuple(_wishes(text))


def _wishes(text: str) -> Iterator[Wish]:
    prose, before = blanked(text), ""
    for sentence in own_sentences(prose):
        start, end = sentence.words[0].start, sentence.words[-1].end
        part = text[start:end]
        if not quotes(sentence, prose):
            denied = _denies(before)
            if read_wish(part) is not None:
                yield _wish(start, end, part, forgets=True)
            elif not sentence.is_question and not _is_unreal(sentence) and _may_correct(read(part), denied=denied):
                yield _wish(start, end, part, denied=denied)
        before = part


def _wish(start: int, end: int, text: str, *, denied: bool = False, forgets: bool = False) -> Wish:
    key = blake2b(" ".join(words_of(text)).encode(), digest_size=16, person=b"wish").digest()
    return Wish(key, start, end, text, denied=denied, forgets=forgets)


def _denies(text: str) -> bool:
    """Whether a sentence says that something was wrong, and nothing else."""
    return bool(text) and any(lexicon.denials.fullmatch(text) for lexicon in lexicons().values())


def _is_unreal(sentence: Sentence) -> bool:
    """Whether a sentence is a condition, a dream or a report of what others say."""
    return bool(languages()[language_of(sentence.joined)].unreal.search(sentence.joined))


def _may_correct(reading: Reading, *, denied: bool) -> bool:
    if reading.moves or reading.old is not None:
        return True
    signs = denied or reading.denies or reading.marks
    return bool(signs) and reading.statement is not None and derive_claim(reading.statement) is not None


def is_meant(wish: Wish, reading: Reading, decision: Decision, known: Known, before: Sequence[str]) -> bool:
    """Whether a sentence that may be a correction is one, given what is remembered and what was said just before it."""
    if wish.forgets:
        is_fact = reading.forget is Extent.FACT  # "forget that I asked" wishes nothing
        return not (is_fact and isinstance(decision, Refuse)) or derive_claim(reading.about) is not None
    if isinstance(decision, Refuse):
        return False
    if reading.moves:
        return True
    if reading.statement is None:
        denied = wish.denied or reading.denies
        return any(_is_about(text, reading.old or "", _named(decision, known), denied=denied) for text in before)
    claim = derive_claim(reading.statement)
    if reading.lasting and claim is not None:
        return True
    return bool(disputed(reading, known, claim))


def _named(decision: Decision, known: Known) -> Sequence[Entry]:
    match decision:
        case Write(_, targets) if targets:
            return targets
        case Ask(_, options):
            named = {option.entry_id for option in options}
            return [e for e in known.entries if e.id in named] or known.entries
        case _:
            return known.entries


def _is_about(text: str, wrong: str, entries: Sequence[Entry], *, denied: bool) -> bool:
    """Whether something said just before names what was wrong, and is about what is remembered of it."""
    words, said = set(words_of(wrong)), words_of(text)
    if not words or not words <= set(said):
        return False
    told = content_terms(text) - content_terms(wrong)
    return denied or any(not told.isdisjoint(content_terms(entry.content.text)) for entry in entries)


def is_of_speaker(reading: Reading) -> bool:
    """Whether a statement is about whoever says it, or somebody or something of theirs; one without a claim may be."""
    claim = derive_claim(reading.statement) if reading.statement else None
    return claim is None or claim_key(claim)[0].partition("'")[0] == SELF
