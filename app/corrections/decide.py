"""What a correction does: saves, moves, confirms, asks, or nothing. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.contradictions.claims import claim_key, derive_claim, value_key, values_conflict
from app.contradictions.resolve import scope_strength
from app.corrections.matching import continued, in_words, replaced, rewritten, same_but_for, says, words_of
from app.corrections.phrases import quote, say, where
from app.corrections.reading import EVERYWHERE, Extent, Reading
from app.corrections.records import Ask, Confirm, Decision, Erase, Move, Option, Refuse, Wanted, Write
from app.domain.entries import PREFERENCE_CATEGORIES, Category, Claim, Content, Entry
from app.domain.ids import PublicId
from app.domain.spaces import visible_scopes
from app.extraction.records import Said
from app.extraction.rules import extract
from app.text.normalise import normalise_text

OPTIONS = 6
"""A question offers at most so many answers."""

PREFERENCE_IMPORTANCE = 0.9
"""What somebody asks for by a correction is in every prompt."""

_ORDERS = frozenset(("answer language", "answer length", "units"))
"""Attributes that say how to answer."""

_FOR_NOW = ("scene", "chat")
_TOLD = frozenset(("story", "arc", "scene"))


@dataclass(frozen=True, slots=True)
class Known:
    """What a correction can be about.

    Attributes:
        entries: Active memories of the space that may be meant, in every scope; in no order.
        last: What the last correction left, if it is still there: "that" means it.
    """

    entries: tuple[Entry, ...] = ()
    last: Entry | None = None


@dataclass(frozen=True, slots=True)
class _Statement:
    """What is right, and the entries that say otherwise."""

    content: Content
    rivals: tuple[Entry, ...]


def decide(wanted: Wanted, reading: Reading, known: Known) -> Decision:
    """Decide what a correction does."""
    if wanted.whole or wanted.erase is not None:
        return Erase(known.entries) if known.entries else Refuse(say(reading.language, "left"))
    if reading.forget is not None:
        return _forget(reading, known)
    if wanted.entry_id or wanted.wrong:
        return _named_entry(wanted, reading, known)
    if wanted.claim is not None:
        return _claimed(wanted, reading, known)
    if reading.moves:
        return _move(wanted, reading, known.last)
    return _said(wanted, reading, known)


def _named_entry(wanted: Wanted, reading: Reading, known: Known) -> Decision:
    named = _named(wanted, known.entries)
    if not named:
        return Refuse(say(reading.language, "nothing", text=wanted.wrong or str(wanted.entry_id)))
    if len(named) > 1:
        return _which([(entry, wanted.text or entry.content.text) for entry in named], reading.language)
    if wanted.text is None:
        return _move(wanted, reading, named[0])
    return _place(wanted, reading, _Statement(_content(wanted, wanted.text), named), known)


def _named(wanted: Wanted, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries that the caller named, by id or by their exact text."""
    if wanted.entry_id is not None:
        return tuple(entry for entry in entries if entry.id == wanted.entry_id)
    if wanted.wrong is None:
        return ()
    text = normalise_text(wanted.wrong)
    same = [entry for entry in entries if normalise_text(entry.content.text) == text]
    return tuple(sorted(same, key=lambda entry: entry.sequence))


def _move(wanted: Wanted, reading: Reading, entry: Entry | None) -> Decision:
    scope = _said_scope(wanted, reading)
    if isinstance(scope, Refuse):
        return scope
    if entry is None or scope is None:
        return Refuse(say(reading.language, "unclear"))
    return Confirm(entry) if entry.content.scope == scope else Move(entry, scope)


def _claimed(wanted: Wanted, reading: Reading, known: Known) -> Decision:
    claim = wanted.claim
    assert claim is not None  # noqa: S101 - the caller looked
    rivals = _rivals_of(replace(_content(wanted, "x"), claim=claim), known.entries)
    visible = _strongest(_visible(rivals, wanted))
    text = wanted.text or (rewritten(visible[0], claim) if visible else in_words(claim))
    return _place(wanted, reading, _Statement(_content(wanted, text), rivals), known)


def _said(wanted: Wanted, reading: Reading, known: Known) -> Decision:
    if reading.statement is None:
        return _swapped(wanted, reading, known)
    content = _content(wanted, reading.statement)
    if content.claim is None and reading.old is None and not reading.marks:
        return Refuse(say(reading.language, "unclear"))
    rivals = disputed(reading, known, content.claim)
    wrong = _strongest(_visible(rivals, wanted) or rivals)
    if wrong:
        content = replace(content, text=continued(wrong[-1].content, reading.statement))
    return _place(wanted, reading, _Statement(content, rivals), known)


def disputed(reading: Reading, known: Known, claim: Claim | None) -> tuple[Entry, ...]:
    """The entries that say otherwise than a statement: by its claim, or in its words but for what was wrong."""
    rivals = _rivals(claim, known.entries)
    if reading.old is None or reading.statement is None:
        return rivals
    said = tuple(entry for entry in rivals if says(entry, reading.old))
    return said or rivals or same_but_for(known.entries, reading.statement, reading.old)


def _forget(reading: Reading, known: Known) -> Decision:
    """What is named exactly is forgotten; anything else is asked about first."""
    language = reading.language
    if reading.forget is Extent.ALL:
        return Ask(say(language, "ask_whole"), (_everything(language, whole=True), _nothing(language)))
    exact: tuple[Entry, ...] = ()
    found = known.entries
    if reading.forget is Extent.FACT:
        exact = _exactly(reading.about, known.entries)
        said = frozenset(words_of(reading.about))
        found = exact or tuple(entry for entry in known.entries if said <= set(words_of(entry.content.text)))
    if exact and len({entry.content.scope for entry in exact}) == 1:
        return Erase(exact)
    if not found:
        return Refuse(say(language, "not_known"))
    shown = found[-OPTIONS:]  # what is not shown is not erased
    options = [Option(str(e.id), f"“{quote(e.content.text)}”", scope=e.content.scope, erase=(e.id,)) for e in shown]
    if len(shown) > 1:
        options.append(_everything(language, erase=tuple(entry.id for entry in shown)))
    return Ask(say(language, "ask_forget"), (*options, _nothing(language)))


def _exactly(fact: str, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries that say just this: in the same words, or as the same claim."""
    text, claim = normalise_text(fact), derive_claim(fact)
    return tuple(
        entry
        for entry in entries
        if normalise_text(entry.content.text) == text
        or (
            claim is not None
            and entry.content.claim is not None
            and claim_key(entry.content.claim) == claim_key(claim)
            and value_key(entry.content.claim) == value_key(claim)
        )
    )


def _everything(language: str, *, erase: tuple[PublicId, ...] | None = None, whole: bool = False) -> Option:
    return Option("everything", say(language, "whole" if whole else "all"), erase=erase, whole=whole)


def _nothing(language: str) -> Option:
    return Option("nothing", say(language, "none"), erase=())


def _swapped(wanted: Wanted, reading: Reading, known: Known) -> Decision:
    """Only the wrong thing and the right one are named: what says the wrong one is rewritten."""
    old, new = reading.old or "", reading.new or ""
    if not old or not new:
        return Refuse(say(reading.language, "unclear"))
    found = [(e, text) for e in known.entries if (text := replaced(e, old, new)) is not None]
    visible = {entry.id for entry in _visible([e for e, _ in found], wanted)}
    meant = [(entry, text) for entry, text in found if entry.id in visible] or found
    if not meant:
        return Refuse(say(reading.language, "nothing", text=old))
    if len({normalise_text(text) for _, text in meant}) > 1:
        return _which(meant, reading.language)
    strongest = _strongest([entry for entry, _ in meant])
    text = next(text for entry, text in meant if entry is strongest[0])
    content = _content(wanted, text)
    rivals = (*strongest, *(e for e in _rivals_of(content, known.entries) if e not in strongest))
    return _place(wanted, reading, _Statement(content, tuple(r for r in rivals if says(r, old))), known)


def _content(wanted: Wanted, text: str) -> Content:
    claim = wanted.claim or derive_claim(text)
    category = wanted.category
    if category is None and claim is not None and claim_key(claim)[1] in _ORDERS:
        category = Category.OUTPUT_PREFERENCE
    if category is None:
        found = extract(Said("", text)).proposals
        category = found[0].category if len(found) == 1 and found[0].category in PREFERENCE_CATEGORIES else None
    asks = category is Category.OUTPUT_PREFERENCE or (wanted.category is None and category in PREFERENCE_CATEGORIES)
    return Content(
        text=text,
        claim=claim,
        claim_derived=claim is not None and wanted.claim is None,
        category=category,
        importance=PREFERENCE_IMPORTANCE if asks else None,
        valid_from=wanted.valid_from,
        author=wanted.actor,
        session=wanted.session,
        source=wanted.source,
    )


def _rivals_of(content: Content, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries that claim another value of the same, in any scope."""
    return _rivals(content.claim, entries)


def _rivals(claim: Claim | None, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    if claim is None:
        return ()
    found = [
        entry
        for entry in entries
        if entry.content.claim is not None
        and claim_key(entry.content.claim) == claim_key(claim)
        and values_conflict(claim, entry.content.claim)
    ]
    return tuple(sorted(found, key=lambda entry: entry.sequence))


def _place(wanted: Wanted, reading: Reading, statement: _Statement, known: Known) -> Decision:
    """Decide where a statement holds, and with that what it replaces."""
    scope = _said_scope(wanted, reading)
    if isinstance(scope, Refuse):
        return scope
    if scope is None:
        options = _scopes_that_matter(wanted, statement)
        if len(options) > 1:
            return _ask_scope(wanted, reading, statement, options)
        scope = options[0]
    targets = tuple(entry for entry in statement.rivals if entry.content.scope == scope)
    same = [
        entry
        for entry in known.entries
        if entry.content.scope == scope and normalise_text(entry.content.text) == normalise_text(statement.content.text)
    ]
    if same:
        return Confirm(same[0], tuple(target for target in targets if target.id != same[0].id))
    return Write(_inherited(replace(statement.content, scope=scope), statement.rivals), _with_copies(targets, known))


def _inherited(content: Content, rivals: Sequence[Entry]) -> Content:
    """What a new statement takes over from the one that it puts right."""
    if not rivals:
        return content
    before = _strongest(rivals)[0].content
    return replace(
        content,
        category=content.category if content.category is not None else before.category,
        importance=content.importance if content.importance is not None else before.importance,
        tags=before.tags,
    )


def _with_copies(targets: Sequence[Entry], known: Known) -> tuple[Entry, ...]:
    """What gives way, and whatever says the very same in the same scope."""
    said = {(entry.content.scope, normalise_text(entry.content.text)) for entry in targets}
    copies = [e for e in known.entries if (e.content.scope, normalise_text(e.content.text)) in said]
    found = {entry.id: entry for entry in (*targets, *copies)}
    return tuple(sorted(found.values(), key=lambda entry: entry.sequence))


def _said_scope(wanted: Wanted, reading: Reading) -> str | Refuse | None:
    """Where it holds, if somebody said so."""
    if wanted.scope is not None:
        return wanted.scope
    if reading.place == EVERYWHERE:
        return ""
    if reading.place is not None:
        scope = _scope_of_kind(wanted.scopes, reading.place)
        return Refuse(say(reading.language, "no_place", kind=reading.place)) if scope is None else scope
    lasting = reading.lasting if wanted.lasting is None else wanted.lasting
    if lasting is False:
        found = [scope for kind in _FOR_NOW if (scope := _scope_of_kind(wanted.scopes, kind)) is not None]
        return found[0] if found else Refuse(say(reading.language, "not_lasting"))
    return None


def _scope_of_kind(scopes: Sequence[str], kind: str) -> str | None:
    """The deepest place of a kind in which the conversation is."""
    found = [scope for scope in visible_scopes(tuple(scopes)) if _kind(scope) == kind]
    return max(found, key=scope_strength, default=None)


def _kind(scope: str) -> str:
    return scope.rpartition("/")[2].partition(":")[0]


def _scopes_that_matter(wanted: Wanted, statement: _Statement) -> tuple[str, ...]:
    """Every scope that may be meant, the most particular first; one if there is nothing to ask."""
    visible = visible_scopes(wanted.scopes)
    known = {entry.content.scope for entry in statement.rivals}
    seen = known.intersection(visible)
    if not seen and known:  # it is told elsewhere, and this conversation is not there
        return _ordered({*known, ""})
    least = max(seen, key=scope_strength) if seen else ""
    if _is_about_speaker(statement.content) and not _in_story(wanted.scopes):
        return (least,) if len(seen) < 2 else _ordered(seen)
    if len(seen) > 1:
        return _ordered(seen)
    return _ordered({least, *(scope for scope in visible if scope_strength(scope) > scope_strength(least))})


def _ordered(scopes: set[str]) -> tuple[str, ...]:
    return tuple(sorted(scopes, key=lambda scope: (*(-part for part in scope_strength(scope)), scope))[:OPTIONS])


def _is_about_speaker(content: Content) -> bool:
    """Whether it says something of the person, and not how to answer, which may differ from chat to chat."""
    if content.claim is None or content.category is Category.OUTPUT_PREFERENCE:
        return False
    return claim_key(content.claim)[0].partition("'")[0] == "self"


def _in_story(scopes: Sequence[str]) -> bool:
    return any(segment.partition(":")[0] in _TOLD for scope in scopes for segment in scope.split("/"))


def _visible(entries: Sequence[Entry], wanted: Wanted) -> tuple[Entry, ...]:
    visible = set(visible_scopes(wanted.scopes))
    return tuple(entry for entry in entries if entry.content.scope in visible)


def _strongest(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries of the most particular scope, in the order of the history."""
    if not entries:
        return ()
    best = max(scope_strength(entry.content.scope) for entry in entries)
    found = [entry for entry in entries if scope_strength(entry.content.scope) == best]
    return tuple(sorted(found, key=lambda entry: entry.sequence))


def _ask_scope(wanted: Wanted, reading: Reading, statement: _Statement, scopes: Sequence[str]) -> Ask:
    text = statement.content.text
    options = tuple(
        Option(scope or EVERYWHERE, where(scope, reading.language, wanted.scopes), scope=scope, text=text)
        for scope in scopes
    )
    return Ask(say(reading.language, "ask_scope", text=text), options)


def _which(meant: Sequence[tuple[Entry, str]], language: str) -> Ask:
    options = tuple(
        Option(str(e.id), f"“{quote(e.content.text)}”", scope=e.content.scope, entry_id=e.id, text=text)
        for e, text in meant[:OPTIONS]
    )
    return Ask(say(language, "ask_entry"), options)


def searched(wanted: Wanted, reading: Reading) -> tuple[str, ...]:
    """The words by which the entries are found that may be meant, beside those with the same claim."""
    texts = (wanted.wrong, reading.old, reading.statement, wanted.text, reading.about)
    return tuple(dict.fromkeys(text for text in texts if text))
