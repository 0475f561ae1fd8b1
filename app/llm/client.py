"""`POST /chat/completions` with structured output."""

from asyncio import timeout
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import orjson
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from app.extraction.ports import Completion, NoAnswerError, Prompt

REPLY_BYTES: Final = 1_000_000
_ATTEMPTS: Final = 2
_TRANSIENT: Final = frozenset({408, 429, 500, 502, 503, 504})


class _TransientError(Exception):
    """It may be well in a moment."""


def completions_url(url: str) -> str:
    """The endpoint of a base URL such as http://127.0.0.1:11434/v1; a whole one stays.

    Raises:
        ValueError: If it is no HTTP URL with a server.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("it must start with http:// or https:// and name a server")
    path = parts.path.rstrip("/")
    return parts._replace(path=path if path.endswith("/chat/completions") else f"{path}/chat/completions").geturl()


@dataclass(frozen=True, slots=True)
class ChatCompleter:
    """A model of one server. Implements `app.extraction.ports.Completer`.

    Attributes:
        timeout_s: For one attempt, from connecting to the last byte.
        wait_s: The longest wait before the second attempt.
    """

    client: httpx.AsyncClient
    url: str
    model: str
    api_key: str | None
    timeout_s: float
    wait_s: float = 2.0

    async def complete(self, prompt: Prompt) -> Completion:
        """Ask; once more if the server was only busy.

        Raises:
            NoAnswerError: If there is no whole answer in time, or the model refused.
        """
        try:
            async for attempt in AsyncRetrying(
                stop=stop_after_attempt(_ATTEMPTS),
                wait=wait_random_exponential(self.wait_s / 4, max=self.wait_s),
                retry=retry_if_exception_type(_TransientError),
                reraise=True,
            ):
                with attempt:
                    return completion_of(await self._post(orjson.dumps(_body(prompt, self.model))))
        except _TransientError as error:
            raise NoAnswerError(str(error)) from error
        raise NoAnswerError("not asked")  # pragma: no cover - the loop returns or raises

    async def _post(self, body: bytes) -> bytes:
        headers = {"Content-Type": "application/json"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        try:
            async with timeout(self.timeout_s):
                async with self.client.stream("POST", self.url, content=body, headers=headers) as reply:
                    if reply.status_code in _TRANSIENT:
                        raise _TransientError(f"status {reply.status_code}")
                    if reply.status_code != httpx.codes.OK:
                        raise NoAnswerError(f"status {reply.status_code}")
                    return await _bounded(reply)
        except TimeoutError as error:
            raise NoAnswerError(f"no answer within {self.timeout_s:g} s") from error
        except httpx.HTTPError as error:
            raise _TransientError(f"{type(error).__name__}") from error


async def _bounded(reply: httpx.Response) -> bytes:
    received = bytearray()
    async for chunk in reply.aiter_bytes():
        received += chunk
        if len(received) > REPLY_BYTES:
            raise NoAnswerError(f"more than {REPLY_BYTES} bytes")
    return bytes(received)


def _body(prompt: Prompt, model: str) -> Mapping[str, Any]:
    return {
        "model": model,
        "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
        "temperature": 0,
        "max_tokens": prompt.answer_tokens,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": prompt.schema},
        },
    }


def completion_of(reply: bytes) -> Completion:
    """The text of a reply, and what it took.

    Raises:
        NoAnswerError: If it is no reply of the API, a refusal, or cut short.
    """
    try:
        parsed = orjson.loads(reply)
        tokens = _tokens(parsed)
        choice = parsed["choices"][0]
        message = choice["message"]
    except (orjson.JSONDecodeError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise NoAnswerError("no reply of the chat API") from error
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise NoAnswerError("no reply of the chat API", tokens)
    if message.get("refusal") or choice.get("finish_reason") == "content_filter":
        raise NoAnswerError("the model refused", tokens)
    if choice.get("finish_reason") == "length":
        raise NoAnswerError("the answer was cut short", tokens)
    if not isinstance(message.get("content"), str):
        raise NoAnswerError("no text in the reply", tokens)
    return Completion(message["content"], tokens)


def _tokens(parsed: Any) -> int | None:
    usage = parsed.get("usage")
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    return total if isinstance(total, int) and not isinstance(total, bool) and 0 <= total < 10**9 else None
