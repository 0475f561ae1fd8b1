"""What an assembly works out of an entry, worked out before somebody waits for it."""

from app.assembly.pack import TokenCounter, tokens_of
from app.assembly.pipeline import lasting_of, place_of
from app.assembly.records import SECTION_OF_TIER, Candidate, Format, Section
from app.assembly.render import MARKUP
from app.assembly.screen import statement_of


def work_out(candidate: Candidate, count: TokenCounter) -> None:
    """Fill the memo of a candidate with what most assemblies ask of it. What others ask, they work out themselves."""
    statement_of(candidate)
    place_of(candidate)
    lasting_of(candidate)
    section = Section.PREFERENCES if candidate.may_be_preference else SECTION_OF_TIER[candidate.tier]
    tokens_of(candidate, section, MARKUP[Format.XML], count)
