"""What is heard of an answer while it goes through: the text of the first choice, whole or in pieces."""

from collections.abc import Mapping
from typing import Any

import orjson

from app.proxy.conversation import storable

ANSWER_BYTES = 4 << 20
"""Of a whole answer as much is kept as this; a longer one is not remembered."""


class AnswerReader:
    """Listens to the bytes of one answer. Nothing in them makes it fail: what it does not understand is not heard.

    Attributes:
        text: What the first choice said so far.
        calls_tools: Whether it calls tools: then the turn is not over.
    """

    def __init__(self, *, streams: bool) -> None:
        """Nothing was heard yet.

        Args:
            streams: Whether the answer comes as events (`text/event-stream`), or as one document.
        """
        self._streams = streams
        self._rest = bytearray()
        self._parts: list[str] = []
        self._is_lost = False
        self.calls_tools = False

    @property
    def text(self) -> str:
        """What was said."""
        return storable("".join(self._parts))

    def feed(self, part: bytes) -> None:
        """The next bytes, cut anywhere."""
        if self._is_lost:
            return
        self._rest += part
        if self._streams:
            *lines, last = self._rest.split(b"\n")
            self._rest = bytearray(last)
            for line in lines:
                self._event(bytes(line))
        if len(self._rest) > ANSWER_BYTES:
            self._is_lost = True
            self._rest.clear()

    def end(self) -> None:
        """There is no more."""
        if self._streams:
            self._event(bytes(self._rest))
        elif not self._is_lost:
            self._choice(_first_choice(bytes(self._rest)), "message")
        self._rest.clear()

    def _event(self, line: bytes) -> None:
        field, _, value = line.strip().partition(b":")
        if field == b"data":
            self._choice(_first_choice(value), "delta")

    def _choice(self, choice: Mapping[str, Any], key: str) -> None:
        said = choice.get(key)
        if not isinstance(said, Mapping):
            return
        self.calls_tools = self.calls_tools or bool(said.get("tool_calls") or said.get("function_call"))
        if isinstance(said.get("content"), str):
            self._parts.append(said["content"])


def _first_choice(document: bytes) -> Mapping[str, Any]:
    try:
        read = orjson.loads(document)
    except orjson.JSONDecodeError:
        return {}
    choices = read.get("choices") if isinstance(read, Mapping) else None
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, Mapping) and choice.get("index", 0) == 0:
            return choice
    return {}
