"""bge-m3 in this process, through FlagEmbedding. An extra."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from app.domain.errors import UnavailableError
from app.embedding.batching import BatchLimits, Encode
from app.embedding.local import LocalEmbedder
from app.embedding.models import BGE_M3
from app.embedding.windows import windows

HUB_NAME: Final = "BAAI/bge-m3"

SparseWeights = Mapping[int, float]
"""Weights > 0 by the id of a token in the model's vocabulary; specials left out."""

_MAX_TOKENS: Final = 8_192
_PADDING: Final = 2
"""A forward pass may hold this many times as many tokens as are meant."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Where the model runs.

    Attributes:
        cores: CPU cores that this process may use, >= 1.
        has_gpu: Whether the model runs on an accelerator, in half precision.
    """

    cores: int
    has_gpu: bool

    @property
    def threads(self) -> int:
        """Threads of one forward pass: all cores, but no more than eight, where a short question gains nothing."""
        return min(self.cores, 8)

    def limits(self, batch_texts: int | None = None) -> BatchLimits:
        """What one batch holds, so that a question waits about a second for an import at most.

        A CPU core does some 50 billion operations a second, a token takes 0.6 billion: 250 characters
        (60 to 250 tokens) a core. An accelerator does a hundred times as many.
        """
        if self.has_gpu:
            return BatchLimits(batch_texts=batch_texts or 64, batch_chars=64_000)
        return BatchLimits(batch_texts=batch_texts or 16, batch_chars=250 * self.threads)


def this_machine() -> Machine:
    """The machine as torch sees it. Takes a second: it imports torch."""
    import torch  # noqa: PLC0415 - an extra

    return Machine(torch.get_num_threads(), torch.cuda.is_available() or torch.backends.mps.is_available())


class FlagEmbedder(LocalEmbedder):
    """BGEM3FlagModel: dense vectors of 1,024 dimensions, and sparse lexical weights on demand.

    Half precision on an accelerator, single precision on a CPU. Questions and documents of one window have
    the same vector; bge-m3 wants no prefix. Published speed on two CPU cores: 40 ms a question of 9 tokens.

    Source: Chen et al., M3-Embedding, ACL Findings 2024 (arXiv:2402.03216).
    """

    def __init__(self, folder_or_hub_name: str = HUB_NAME, *, machine: Machine, batch_texts: int | None = None) -> None:
        """Nothing is loaded before `start` or the first text."""
        self._path = folder_or_hub_name
        self._machine = machine
        self._loaded: _Forward | None = None
        model = replace(BGE_M3, name=stored_name(folder_or_hub_name))
        super().__init__(model, self._load, machine.limits(batch_texts))

    async def embed_sparse(self, texts: Sequence[str]) -> tuple[SparseWeights, ...]:
        """The lexical weights of texts, in order: what bge-m3 offers in place of BM25. The pipeline does not use it.

        Of a text of several windows, a token has its greatest weight.

        Raises:
            UnavailableError: If the model cannot be loaded.
        """
        await self.start()
        return await asyncio.to_thread(self._sparse, texts)

    def _sparse(self, texts: Sequence[str]) -> tuple[SparseWeights, ...]:
        assert self._loaded is not None  # noqa: S101 - started before
        return tuple(_greatest(self._loaded.sparse(list(windows(text, self.model.document_windows)))) for text in texts)

    def _load(self) -> Encode:
        self._loaded = _Forward(self._path, self._machine)
        if self._loaded.dimensions != self.dimensions:
            raise UnavailableError(f"{self._path} has {self._loaded.dimensions} dimensions, not {self.dimensions}")
        self._loaded.dense(["warm", "A first pass reserves memory and chooses kernels."])
        return self._loaded.dense


def stored_name(model: str) -> str:
    """The name for vectors of a model: the same for bge-m3 from the hub, a folder or a server; else as given.

    Of a folder it is the last part of its path. A tag `:latest` is left out.
    """
    name = Path(model).name if is_folder(model) else model.removesuffix(":latest")
    return BGE_M3.name if name.casefold() in {"bge-m3", "baai/bge-m3", "bge-m3:567m"} else name


def is_folder(model: str) -> bool:
    """Whether a model is given by its folder: an absolute path, one that starts with a dot or ~, or one that exists."""
    return model.startswith(("/", ".", "~")) or Path(model).is_dir()


class _Forward:
    """The loaded model, and its forward pass.

    Not FlagEmbedding's own `encode`: that passes the first batch twice (to see whether it fits in memory),
    so that each question would cost double, and never returns if a batch of one fails.
    """

    def __init__(self, folder_or_hub_name: str, machine: Machine) -> None:
        import torch  # noqa: PLC0415 - an extra

        torch.set_num_threads(machine.threads)
        self._torch = torch
        self._flag = _flag_model(folder_or_hub_name, machine)
        self._device = self._flag.target_devices[0]
        self._network = self._flag.model.to(self._device).eval()
        if not machine.has_gpu:
            self._network.float()
        self.dimensions = int(self._network.config.hidden_size)
        tokenizer = self._flag.tokenizer
        self._specials = {
            tokenizer.cls_token_id,
            tokenizer.eos_token_id,
            tokenizer.pad_token_id,
            tokenizer.unk_token_id,
        }

    def dense(self, texts: list[str]) -> NDArray[np.float32]:
        """The unit vectors (n, d) of n >= 1 texts, in order."""
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for rows, batch in self._batches(texts):
            out = self._network(batch, return_dense=True, return_sparse=False, return_colbert_vecs=False)
            vectors[rows] = out["dense_vecs"].float().cpu().numpy()
        return vectors

    def sparse(self, texts: list[str]) -> list[dict[int, float]]:
        """The lexical weights of n >= 1 texts, in order."""
        weights: list[dict[int, float]] = [{} for _ in texts]
        for rows, batch in self._batches(texts):
            out = self._network(batch, return_dense=False, return_sparse=True, return_colbert_vecs=False)
            found = out["sparse_vecs"].squeeze(-1).float().cpu().tolist()
            for row, ids, values in zip(rows, batch["input_ids"].cpu().tolist(), found, strict=True):
                pairs = zip(ids, values, strict=True)
                weights[row] = _greatest({i: w} for i, w in pairs if w > 0 and i not in self._specials)
        return weights

    def _batches(self, texts: list[str]) -> Any:
        """Rows and padded inputs for one forward pass each, texts of similar length together."""
        tokenizer = self._flag.tokenizer
        inputs = tokenizer(texts, truncation=True, max_length=_MAX_TOKENS)["input_ids"]
        with self._torch.inference_mode():
            for rows in similar_lengths([len(one) for one in inputs]):
                batch = tokenizer.pad({"input_ids": [inputs[row] for row in rows]}, return_tensors="pt")
                yield rows, batch.to(self._device)


def similar_lengths(lengths: Sequence[int]) -> list[list[int]]:
    """Indices in groups that pad little, the shortest first: a group padded to its longest at most doubles."""
    groups: list[list[int]] = []
    meant = 0
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        padded = lengths[index] * (len(groups[-1]) + 1) if groups else 0
        if not groups or padded > _PADDING * (meant + lengths[index]):
            groups.append([])
            meant = 0
        groups[-1].append(index)
        meant += lengths[index]
    return groups


def _greatest(weights: Any) -> dict[int, float]:
    """The greatest weight of each token."""
    merged: dict[int, float] = {}
    for one in weights:
        for token, weight in one.items():
            merged[token] = max(merged.get(token, 0.0), weight)
    return merged


def _flag_model(folder_or_hub_name: str, machine: Machine) -> Any:
    """The model, from a folder or the hub.

    Raises:
        UnavailableError: If neither has it.
    """
    from FlagEmbedding import BGEM3FlagModel  # noqa: PLC0415 - an extra

    path = str(_local_folder(folder_or_hub_name))
    return BGEM3FlagModel(path, use_fp16=machine.has_gpu, devices=None if machine.has_gpu else ["cpu"])


def _local_folder(folder_or_hub_name: str) -> Path:
    """The folder of a model; one from the hub is downloaded unless it was before."""
    if is_folder(folder_or_hub_name):
        folder = Path(folder_or_hub_name).expanduser()
        if not (folder / "config.json").is_file():
            raise UnavailableError(f"no model in the folder {folder}: it has no config.json")
        _require_heads(folder)
        return folder
    from huggingface_hub import snapshot_download  # noqa: PLC0415 - comes with FlagEmbedding

    try:
        folder = Path(snapshot_download(folder_or_hub_name, ignore_patterns=["onnx/*", "imgs/*"]))
    except (OSError, ValueError) as error:
        raise UnavailableError(
            f"{folder_or_hub_name} is no folder here, and the hub does not give it ({_first_line(error)}): "
            "set RICORDO_EMBEDDER_MODEL to a folder with the model"
        ) from error
    _require_heads(folder)
    return folder


def _require_heads(folder: Path) -> None:
    """Without its files FlagEmbedding makes up a sparse head at random, at each start another one."""
    for name in ("sparse_linear.pt", "colbert_linear.pt"):
        if not (folder / name).is_file():
            raise UnavailableError(f"the model in {folder} lacks {name}: download all files of {HUB_NAME}")


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
