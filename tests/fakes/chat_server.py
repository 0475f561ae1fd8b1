"""A chat server on the loopback that can misbehave; requests and replies are those of the embedding server."""

from typing import Any

import orjson

from tests.fakes.embedding_server import Asked, Behaviour, EmbeddingServer, Reply


def says(text: str, *, tokens: int | None = 120, finish: str = "stop", **message: Any) -> Behaviour:
    """Answers a text."""

    async def behaviour(_server: EmbeddingServer, _asked: Asked) -> Reply:
        choice = {"finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
        usage = {} if tokens is None else {"usage": {"total_tokens": tokens}}
        return Reply(orjson.dumps({"choices": [choice], **usage}))

    return behaviour


def memory(message: int, quote: str, **fields: Any) -> dict[str, Any]:
    """One memory of an answer."""
    given = {"text": quote, "category": "fact", "tense": "present", "negated": False, "claim": None}
    return {"message": message, "quote": quote, "importance": 0.6, "confidence": 0.8, **given, **fields}


def finds(*memories: dict[str, Any]) -> str:
    """The answer that lists memories."""
    return orjson.dumps({"memories": memories}).decode()


class ChatServer(EmbeddingServer):
    """Finds nothing, unless told otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self.always = says(finds())

    def base_url(self) -> str:
        """What an operator sets."""
        return self.url("/v1")
