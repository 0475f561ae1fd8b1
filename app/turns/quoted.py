"""What memory put into a prompt is no thing that somebody said: quotations of our own prompts are taken out."""

import re
from typing import Final

_SECTIONS: Final = "identity|preferences|relevant_facts|recent_context|workflows"
_TITLES: Final = "Identity|Preferences|Relevant facts|Recent context|Workflows"

_XML = re.compile(rf"<({_SECTIONS})(?:\s[^>]*)?>.*?</\1>\n?", re.DOTALL)
_MARKDOWN = re.compile(rf"^## (?:{_TITLES})\n(?:(?:- |### ).*(?:\n|\Z))+", re.MULTILINE)
_PLAIN = re.compile(rf"^(?:{_TITLES.upper()}):\n(?:(?:- .*|(?:Profile|Recall|Lore)\b[^\n]*:)(?:\n|\Z))+", re.MULTILINE)
_PATTERNS: Final = (_XML, _MARKDOWN, _PLAIN)


def without_quoted_memory(text: str) -> str:
    """The text without any section of a prompt in one of our three formats; what is left, without outer blanks."""
    if not any(pattern.search(text) for pattern in _PATTERNS):
        return text
    for pattern in _PATTERNS:
        text = pattern.sub("", text)
    return text.strip()
