"""Rendering: selected entries to text, in three formats.

Every stored text is escaped here and nowhere else, so that nothing remembered can close a tag, open a
heading or start a line of its own. Each element ends with a newline and starts with a character at which
the tokenizer splits, so that token counts of elements add up (evidence: the property test in
tests/unit/assembly/test_render.py).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType

from app.assembly.records import Candidate, Format, Section
from app.domain.records import Record
from app.domain.soul import SoulBlock
from app.text.normalise import visible

PRECEDENCE = (
    "What is said in this conversation outranks records, and records outrank memories. Memories can be out of date."
)

_Attributes = Mapping[str, str]
_NO_ATTRIBUTES: _Attributes = MappingProxyType({})

_TITLES: Mapping[str, str] = MappingProxyType(
    {
        Section.IDENTITY: "Identity",
        Section.PREFERENCES: "Preferences",
        Section.RELEVANT_FACTS: "Relevant facts",
        Section.RECENT_CONTEXT: "Recent context",
        Section.WORKFLOWS: "Workflows",
        "profile": "Profile",
        "recall": "Recall",
        "lore": "Lore",
    }
)


@dataclass(frozen=True, slots=True)
class Markup:
    """How one format writes its elements.

    Attributes:
        open: Starts a section or, inside one, a group: (name, depth, attributes) to text.
        close: Ends it.
        leaf: One entry: (name, attributes, text) to text.
    """

    open: Callable[[str, int, _Attributes], str]
    close: Callable[[str], str]
    leaf: Callable[[str, _Attributes, str], str]


def _xml_open(name: str, depth: int, attributes: _Attributes) -> str:
    del depth
    return f"<{name}{_xml_attributes(attributes)}>\n"


def _xml_close(name: str) -> str:
    return f"</{name}>\n"


def _xml_leaf(name: str, attributes: _Attributes, text: str) -> str:
    return f"<{name}{_xml_attributes(attributes)}>{_escape_xml(text)}</{name}>\n"


def _xml_attributes(attributes: _Attributes) -> str:
    return "".join(f' {name}="{_escape_xml(value).translate(_QUOTES)}"' for name, value in attributes.items())


_QUOTES = {ord('"'): "&quot;", ord("\n"): "&#10;", ord("\r"): "&#13;", ord("\t"): "&#9;"}
_XML_SPECIAL = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"} | {
    code: f"&#{code};" for code in (*range(0x20), 0x7F) if chr(code) not in "\t\n\r"
}


_ANY_SPECIAL = re.compile(f"[{re.escape(''.join(map(chr, _XML_SPECIAL)))}]")


def _escape_xml(text: str) -> str:
    return text.translate(_XML_SPECIAL) if _ANY_SPECIAL.search(text) else text  # most texts have none


_LINE_BREAKS = {
    ord("\\"): "\\\\",
    ord("\n"): "\\n",
    ord("\r"): "\\r",
    0x85: "\\x85",
    0x2028: "\\u2028",
    0x2029: "\\u2029",
} | {code: f"\\x{code:02x}" for code in (*range(0x20), 0x7F) if chr(code) not in "\t\n\r"}


def one_line(text: str) -> str:
    """Escape backslashes and line breaks, so that a text stays in its own line; reversible."""
    return text.translate(_LINE_BREAKS)


def _line(name: str, attributes: _Attributes, text: str) -> str:
    """One list item: attributes first, in brackets."""
    label = ", ".join(one_line(value) for value in attributes.values())
    if name == "note":
        return f"- Note: {one_line(text)}\n"
    return f"- [{label}] {one_line(text)}\n" if label else f"- {one_line(text)}\n"


def _heading(name: str, attributes: _Attributes) -> str:
    said = {"of": "of ", "name": "called "}
    return " ".join([_TITLES[name], *(f"{said[key]}{one_line(value)}" for key, value in attributes.items())])


def _markdown_open(name: str, depth: int, attributes: _Attributes) -> str:
    return f"{'#' * (depth + 2)} {_heading(name, attributes)}\n"


def _plain_open(name: str, depth: int, attributes: _Attributes) -> str:
    heading = _heading(name, attributes)
    return f"{heading if depth else heading.upper()}:\n"


def _no_close(name: str) -> str:
    del name
    return ""


MARKUP: Mapping[Format, Markup] = MappingProxyType(
    {
        Format.XML: Markup(_xml_open, _xml_close, _xml_leaf),
        Format.MARKDOWN: Markup(_markdown_open, _no_close, _line),
        Format.PLAIN: Markup(_plain_open, _no_close, _line),
    }
)

_LEAF_OF_SECTION: Mapping[Section, str] = MappingProxyType(
    {
        Section.PREFERENCES: "preference",
        Section.RELEVANT_FACTS: "memory",
        Section.RECENT_CONTEXT: "episode",
        Section.WORKFLOWS: "workflow",
    }
)


def render_entry(candidate: Candidate, section: Section, markup: Markup) -> str:
    """One entry as one element, everything in it escaped."""
    key = (section, markup.leaf)
    known = candidate.memo.element
    if known is None or known[0] != key:
        element = markup.leaf(_LEAF_OF_SECTION[section], _entry_attributes(candidate, section), candidate.text)
        known = candidate.memo.element = (key, element)
    return known[1]


def _entry_attributes(candidate: Candidate, section: Section) -> _Attributes:
    of = (
        {"of": visible(candidate.space)} if candidate.space.startswith("viewer:") else _NO_ATTRIBUTES
    )  # one of many voices
    if section is Section.PREFERENCES:
        return of
    if section is Section.WORKFLOWS:
        return {"when": candidate.trigger} if candidate.trigger else _NO_ATTRIBUTES
    moment = candidate.occurred_at or candidate.valid_from or candidate.recorded_at
    return {"at": _day(moment), **(of if section is Section.RECENT_CONTEXT else _NO_ATTRIBUTES)}


def _day(moment: datetime) -> str:
    return moment.astimezone(UTC).date().isoformat()


def render_block(block: SoulBlock, markup: Markup) -> str:
    """One soul block as one element."""
    return markup.leaf("block", {"name": block.name}, block.text)


def render_remark(text: str, markup: Markup) -> str:
    """One sentence about the memory itself."""
    return markup.leaf("note", _NO_ATTRIBUTES, text)


def render_record(record: Record, markup: Markup) -> str:
    """One record as one element: its kind, whom it is about, and what it says."""
    about = visible(", ".join(record.subjects) or record.space)
    return markup.leaf("record", {"kind": record.kind, "of": about}, record.text)


@dataclass(frozen=True, slots=True)
class Group:
    """The facts of one space: its profile or recall, or lore (which has no owner). Its owner goes by `person`."""

    name: str
    space: str
    elements: tuple[str, ...]
    person: str | None = None

    def attributes(self) -> _Attributes:
        """Whose it is."""
        if self.name == "lore":
            return _NO_ATTRIBUTES
        of = visible(self.space)
        return {"of": of} if not self.person else {"of": of, "name": self.person}


def wrapper_of_section(section: Section, markup: Markup) -> str:
    """What a section adds around its elements, the facts' standing note included."""
    note = render_remark(PRECEDENCE, markup) if section is Section.RELEVANT_FACTS else ""
    return markup.open(section, 0, _NO_ATTRIBUTES) + note + markup.close(section)


def wrapper_of_group(group: Group, markup: Markup) -> str:
    """What a group adds around its elements."""
    return markup.open(group.name, 1, group.attributes()) + markup.close(group.name)


def render_section(section: Section, elements: Iterable[str], markup: Markup) -> str:
    """A section around its elements; nothing when there are none."""
    body = "".join(elements)
    if not body:
        return ""
    note = render_remark(PRECEDENCE, markup) if section is Section.RELEVANT_FACTS else ""
    return markup.open(section, 0, _NO_ATTRIBUTES) + note + body + markup.close(section)


def render_groups(groups: Sequence[Group], markup: Markup) -> str:
    """The groups of the facts, empty ones left out."""
    return "".join(
        markup.open(group.name, 1, group.attributes()) + "".join(group.elements) + markup.close(group.name)
        for group in groups
        if group.elements
    )
