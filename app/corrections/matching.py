"""Which entries say something, and what they say once it is replaced. Pure."""

from collections.abc import Iterable, Sequence

from app.contradictions.claims import claim_key, derive_claim, value_key
from app.contradictions.normal import normal_value
from app.contradictions.wording import sentences
from app.corrections.lexicon import lexicons
from app.corrections.reading import language_of
from app.domain.entries import Claim, Content, Entry


def words_of(text: str) -> tuple[str, ...]:
    """The folded words of a text, punctuation left out."""
    return tuple(word for word, _, _ in _placed(text))


def replaced(entry: Entry, old: str, new: str) -> str | None:
    """The text of an entry with one thing in it replaced; None if it does not say that.

    It says so word for word, or its claim has that value in another form.
    """
    text = entry.content.text
    span = _span(text, old) or _span_of_claim(text, entry.content.claim, old)
    if span is None:
        return None
    return text[: span[0]] + new + text[span[1] :]


def says(entry: Entry, old: str) -> bool:
    """Whether an entry says something, word for word or by its claim."""
    return replaced(entry, old, "") is not None


def same_but_for(entries: Iterable[Entry], statement: str, old: str) -> tuple[Entry, ...]:
    """The entries that say the same as a sentence, but for what was wrong in them."""
    said = set(words_of(statement))
    wrong = set(words_of(old))
    return tuple(
        e for e in entries if says(e, old) and (rest := set(words_of(e.content.text)) - wrong) and rest <= said
    )


def rewritten(entry: Entry, claim: Claim) -> str:
    """The text of an entry with the value of its claim replaced; of one without it, the claim in words."""
    known = entry.content.claim
    if known is not None and claim_key(known) == claim_key(claim):
        span = _span(entry.content.text, known.value)
        if span is not None:
            return entry.content.text[: span[0]] + claim.value + entry.content.text[span[1] :]
    return in_words(claim)


def continued(known: Content, statement: str) -> str:
    """A statement, with the other clauses of the memory that it puts right: what was not corrected stays.

    A clause is what is joined to the claim by a full stop or a conjunction; "by the sea" after the name of a town is
    none. A statement that goes on by itself is left as it is.
    """
    text, wrong, claim = known.text, known.claim, derive_claim(statement)
    if wrong is None or claim is None or claim_key(wrong) != claim_key(claim):
        return statement
    said, old = _span(statement, claim.value), _span(text, wrong.value)
    if said is None or old is None or any(char.isalnum() for char in statement[said[1] :]):
        return statement
    joins = lexicons()[language_of(text)].joins
    starts = [0, *(found.end() for found in joins.finditer(text, 0, old[0]))]
    start = next((s for s in reversed(starts) if _claims(text[s : old[1]], wrong)), None)
    if start is None:
        return statement
    before, after = text[:start], text[old[1] :] if joins.match(text, old[1]) else statement[said[1] :]
    first = statement[0].lower() if before and text[start].islower() else statement[0]
    return f"{before}{first}{statement[1 : said[1]]}{after}"


def _claims(text: str, known: Claim) -> bool:
    claim = derive_claim(text)
    return claim is not None and claim_key(claim) == claim_key(known) and value_key(claim) == value_key(known)


def in_words(claim: Claim) -> str:
    """A claim as a short text."""
    return f"{claim.subject} – {claim.attribute}: {claim.value}"


def _span_of_claim(text: str, claim: Claim | None, old: str) -> tuple[int, int] | None:
    if claim is None or normal_value(claim_key(claim)[1], old) != value_key(claim):
        return None
    return _span(text, claim.value)


def _span(text: str, part: str) -> tuple[int, int] | None:
    """Where some words stand in a text, blind to case and accents."""
    placed, wanted = _placed(text), words_of(part)
    if not wanted:
        return None
    for start in range(len(placed) - len(wanted) + 1):
        if tuple(word for word, _, _ in placed[start : start + len(wanted)]) == wanted:
            return placed[start][1], placed[start + len(wanted) - 1][2]
    return None


def _placed(text: str) -> Sequence[tuple[str, int, int]]:
    return [
        (word.folded, word.start, word.end)
        for sentence in sentences(text)
        for word in sentence.words
        if any(char.isalnum() for char in word.folded)
    ]
