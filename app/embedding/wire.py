"""What embedding servers are asked and what they answer: pure, and distrustful of the answer."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import numpy as np
import orjson
from numpy.typing import NDArray

Api = Literal["openai", "tei"]
"""`POST /v1/embeddings` of OpenAI, vLLM, Ollama, Infinity and TEI, or TEI's own `POST /embed`."""

BLANK_STAND_IN: Final = "."
"""Sent for a text without a letter: servers refuse the empty one, but whatever can be stored has a vector."""


class BadReplyError(Exception):
    """The server answered something that is not the vectors asked for."""


class NoVectorError(Exception):
    """The model has no vector for one of the texts: it came to NaN, infinity or zero."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to post, and in which words.

    Attributes:
        url: Of the endpoint itself, not of the server.
    """

    url: str
    api: Api
    model: str

    def body(self, texts: Sequence[str]) -> bytes:
        """The request. `dimensions` is never sent: servers refuse it for models that cannot shorten their vectors."""
        inputs = [text if text.strip() else BLANK_STAND_IN for text in texts]
        fields: Mapping[str, Any] = (
            {"inputs": inputs, "normalize": True, "truncate": True}
            if self.api == "tei"
            else {"model": self.model, "input": inputs}
        )
        return orjson.dumps(fields)

    def vectors(self, reply: bytes, texts: int, dimensions: int | None) -> NDArray[np.float32]:
        """The unit vectors (n, d) of a reply, in the order of the texts.

        Args:
            texts: How many were sent, >= 1.
            dimensions: How long a vector must be; None if that is not known yet.

        Raises:
            BadReplyError: If the reply is not JSON of the API, or has too few or too many vectors, or such
                that are empty, or of different or wrong lengths.
            NoVectorError: If a vector is not finite, or zero.
        """
        try:
            parsed = json.loads(reply) if b"NaN" in reply else orjson.loads(reply)  # only the former reads NaN
        except ValueError as error:
            raise BadReplyError("not JSON") from error
        rows = parsed if self.api == "tei" else _in_order(parsed)
        if not isinstance(rows, list) or len(rows) != texts:
            raise BadReplyError(f"{len(rows) if isinstance(rows, list) else 'no'} vectors for {texts} texts")
        return _unit(_matrix(rows), dimensions)


def endpoint(url: str, model: str) -> Endpoint:
    """The endpoint of a URL: its path tells the API. A base URL that ends in /v1 is completed.

    Raises:
        ValueError: If the path is of neither API, or the scheme is not HTTP.
    """
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("it must start with http:// or https:// and name a server")
    if path.endswith("/v1"):
        path += "/embeddings"
    if not path.endswith(("/embeddings", "/embed")):
        raise ValueError("its path must end in /v1/embeddings (vLLM, Ollama, Infinity, TEI) or /embed (TEI)")
    api: Api = "tei" if path.endswith("/embed") else "openai"
    return Endpoint(parts._replace(path=path).geturl(), api, model)


def _in_order(parsed: Any) -> list[Any]:
    """The vectors of OpenAI's reply by their `index`; servers may answer in any order."""
    items = parsed.get("data") if isinstance(parsed, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise BadReplyError("no list `data`")
    indices = [item.get("index", position) for position, item in enumerate(items)]
    if sorted(map(str, indices)) != sorted(map(str, range(len(items)))):
        raise BadReplyError("`index` does not number the vectors")
    rows: list[Any] = [None] * len(items)
    for index, item in zip(indices, items, strict=True):
        rows[int(index)] = item.get("embedding")
    return rows


def _matrix(rows: list[Any]) -> NDArray[np.float32]:
    try:
        with np.errstate(over="ignore"):  # to infinity, which is refused below
            matrix = np.array(rows, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise BadReplyError("vectors that are no numbers, or of different lengths") from error
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise BadReplyError("no vectors of numbers")
    return matrix


def _unit(matrix: NDArray[np.float32], dimensions: int | None) -> NDArray[np.float32]:
    if dimensions is not None and matrix.shape[1] != dimensions:
        raise BadReplyError(f"vectors of {matrix.shape[1]} dimensions, not {dimensions}")
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        raise NoVectorError("a vector that is not finite")
    if norms.min() < 1e-6:
        raise NoVectorError("a vector of zeros")
    return np.asarray(matrix / norms, dtype=np.float32)
