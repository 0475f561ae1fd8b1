"""What the rules see of a message: sentences that its author means, and where a statement may begin in each."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from app.contradictions.wording import TEXT_CHARS, Sentence, sentences
from app.extraction.lexicon import Language, languages

_NOT_PROSE = re.compile(
    r"```.*?(?:```|\Z)"  # code
    r"|`[^`\n]*`"
    r"|<(?P<section>identity|preferences|relevant_facts|recent_context|workflows)\b.*?(?:</(?P=section)>|\Z)"
    r"|https?://\S+"
    r"|^[ \t]*>[^\n]*"  # a quoted line
    r"|\*[^*\n]{2,}\*"  # *draws a sword*
    r"|\[[^\]\n]*\]",
    re.DOTALL | re.MULTILINE,
)
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»")
_COMMAND = re.compile(r"\s*[/!][^\W\d_]")
_CODE = re.compile(
    r"[;{}]\s*$|^\s*[\w.]+\([^)]*\)\s*;?\s*$|^\s*(?:def|class|import|from|const|let|var|return|SELECT)\s", re.MULTILINE
)
_ACTION = re.compile(r"\s*(?:\*[^*\n]{2,}\*|\([^)\n]*\))")
_DASHES = str.maketrans("–—", "--")


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence from some word on. `offsets[i]` is where word `i` starts in `text`, which is folded and joined."""

    sentence: Sentence
    first: int
    text: str
    offsets: tuple[int, ...]

    def word_at(self, position: int) -> int:
        """The index, in the sentence, of the word that begins at or after a position of the text."""
        return self.first + bisect_left(self.offsets, position)


def is_prose(text: str) -> bool:
    """Whether a message is somebody speaking as themselves: no command, no code, no stage direction first."""
    return not (_COMMAND.match(text) or _CODE.search(text) or _ACTION.match(text))


def meant_sentences(text: str, language: Language) -> Iterator[Sentence]:
    """What is stated: sentences, and what stands before a question; no code, no quotation, nothing unreal."""
    prose = blanked(text)
    for sentence in own_sentences(prose):
        stated = _before_the_question(sentence, language) if sentence.is_question else sentence
        if stated and not language.unreal.search(stated.joined) and not quotes(stated, prose):
            yield stated


def own_sentences(prose: str) -> Iterator[Sentence]:
    """Sentences without those that begin as somebody else's words, and without the rest of the lines of these."""
    reported_to = 0
    for sentence in sentences(prose):
        start = sentence.words[0].start
        if start < reported_to:
            continue
        if any(language.reported.match(sentence.joined) for language in languages().values()):
            line = prose.find("\n", start)
            reported_to = len(prose) if line < 0 else line
            continue
        yield sentence


def _before_the_question(sentence: Sentence, language: Language) -> Sentence | None:
    """What a sentence states before it asks: "I have two dogs, can you help me?"; None when it only asks."""
    words = sentence.words
    first = next((i for i, word in enumerate(words) if word.folded not in language.leads), 0)
    if words[first].folded in language.asking:
        return None
    asks = next(
        (
            index
            for index in range(first + 1, len(words) - 1)
            if words[index].folded in language.splitters and words[index + 1].folded in language.asking
        ),
        0,
    )
    if not asks:
        return None
    stated = words[:asks]
    return Sentence(stated, " ".join(word.folded for word in stated), is_question=False)


def blanked(text: str) -> str:
    """The first `TEXT_CHARS` of a text, as long as before, with line ends in place of what is no prose.

    No prose are code, addresses, quoted lines, stage directions, and sections of an assembled prompt.
    """
    return _NOT_PROSE.sub(lambda found: "\n" * len(found.group()), text[:TEXT_CHARS]).translate(_DASHES)


def quotes(sentence: Sentence, prose: str) -> bool:
    """Whether a sentence begins with a quotation or ends with one that somebody said: titles are quoted too."""
    start, end = sentence.words[0].start, sentence.words[-1].end
    for found in _QUOTED.finditer(prose):
        if found.start() < end and found.end() > start:
            before = prose[: found.start()].rstrip()
            if found.start() <= start or before.endswith((":", ",")) or " " in found.group().strip('"“”„«»')[40:]:
                return True
    return False


def clause_at(sentence: Sentence, first: int) -> Clause:
    """The sentence from a word on."""
    folded = [word.folded for word in sentence.words[first:]]
    return Clause(sentence, first, " ".join(folded), tuple(accumulate((len(word) + 1 for word in folded), initial=0)))


def starts(sentence: Sentence, language: Language) -> list[int]:
    """The words at which a statement may begin: the first one, and the one after each splitter."""
    found = [0]
    for index, word in enumerate(sentence.words[:-1]):
        if word.folded in language.splitters:
            found.append(index + 1)
    return found
