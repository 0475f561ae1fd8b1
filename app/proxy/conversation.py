"""A chat request in the format of OpenAI: who said what, and the same request with a context in front."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

USER = "user"
ASSISTANT = "assistant"
_SYSTEM = ("system", "developer")


@dataclass(frozen=True, slots=True)
class Line:
    """What one side said, images and files left out.

    Attributes:
        role: `user` or `assistant`.
    """

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation that waits for an answer.

    Attributes:
        said: What the user said since the last answer, oldest first.
        before: What both said until then.
    """

    said: tuple[Line, ...]
    before: tuple[Line, ...]

    @property
    def question(self) -> str:
        """The message that is to be answered; empty if there is none."""
        return self.said[-1].text if self.said else ""


def read_conversation(request: Mapping[str, Any]) -> Conversation:
    """What was said. Calls of tools, and what an assistant says along with them, are no answers."""
    lines = [line for message in _messages(request) if (line := _line(message)) is not None]
    answered = max((at + 1 for at, line in enumerate(lines) if line.role == ASSISTANT), default=0)
    return Conversation(tuple(lines[answered:]), tuple(lines[:answered]))


def with_context(request: Mapping[str, Any], context: str) -> dict[str, Any]:
    """The request with a context in front of its system message, or as one."""
    messages = list(_messages(request))
    first = messages[0] if messages else None
    if isinstance(first, Mapping) and first.get("role") in _SYSTEM:
        messages[0] = {**first, "content": _in_front(context, first.get("content"))}
    else:
        messages.insert(0, {"role": "system", "content": context})
    return {**request, "messages": messages}


def _in_front(context: str, content: Any) -> Any:
    if isinstance(content, list):
        return [{"type": "text", "text": context}, *content]
    return f"{context}\n\n{content}" if isinstance(content, str) and content else context


def _messages(request: Mapping[str, Any]) -> Sequence[Any]:
    messages = request.get("messages")
    return messages if isinstance(messages, list) else ()


def _line(message: Any) -> Line | None:
    if not isinstance(message, Mapping) or message.get("role") not in {USER, ASSISTANT} or message.get("tool_calls"):
        return None
    text = _text(message.get("content"))
    return Line(message["role"], text) if text.strip() else None


def _text(content: Any) -> str:
    """The text of a message, whose content may be parts; without NUL, which nothing can store."""
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = (part.get("text") for part in parts if isinstance(part, Mapping) and part.get("type") == "text")
    return storable("\n".join(text for text in texts if isinstance(text, str)))


def storable(text: str) -> str:
    """A text without NUL, and with every lone surrogate replaced."""
    return text.replace("\x00", " ").encode("utf-8", "replace").decode()
