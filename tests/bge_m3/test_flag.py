"""BGEM3FlagModel itself, on a tiny random model: dense and sparse vectors, and what may be wrong with a folder."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from FlagEmbedding import BGEM3FlagModel

from app.domain.errors import UnavailableError
from app.embedding.flag import FlagEmbedder, Machine, this_machine

TEXTS = ["She has two children and a dog.", "tea", "", "Where do I live? " * 20, "The meeting was moved to Thursday."]


@pytest.fixture(scope="module")
def genuine(folder: Path) -> BGEM3FlagModel:
    return BGEM3FlagModel(str(folder), use_fp16=False, devices=["cpu"])


async def test_dense_vectors_are_those_of_flag_embedding(flag_embedder: FlagEmbedder, genuine: BGEM3FlagModel):
    expected = genuine.encode(TEXTS)["dense_vecs"]
    np.testing.assert_allclose(await flag_embedder.embed_documents(TEXTS), expected, atol=1e-5)
    assert expected.shape == (5, 1_024)


async def test_sparse_weights_are_those_of_flag_embedding(flag_embedder: FlagEmbedder, genuine: BGEM3FlagModel):
    found = await flag_embedder.embed_sparse(TEXTS)
    expected = genuine.encode(TEXTS, return_dense=False, return_sparse=True)["lexical_weights"]
    assert all(found[index] for index in (0, 3, 4))
    assert [sorted(weights) for weights in found] == [sorted(map(int, weights)) for weights in expected]
    for own, theirs in zip(found, expected, strict=True):
        assert own == pytest.approx({int(token): float(weight) for token, weight in theirs.items()}, abs=1e-5)


async def test_texts_that_share_words_share_tokens_with_weight(flag_embedder: FlagEmbedder):
    tea, again, other = await flag_embedder.embed_sparse(["green tea", "she likes green tea", "Thursday"])
    assert sum(tea[t] * again.get(t, 0) for t in tea) > sum(tea[t] * other.get(t, 0) for t in tea)


async def test_a_question_costs_one_forward_pass(flag_embedder: FlagEmbedder, monkeypatch: pytest.MonkeyPatch):
    passes: list[int] = []
    network = flag_embedder._loaded._network
    forward = network.forward
    monkeypatch.setattr(network, "forward", lambda *a, **k: passes.append(1) or forward(*a, **k))
    await flag_embedder.embed_query("a question that was not asked before")
    assert len(passes) == 1


async def test_the_tail_of_a_long_text_counts_for_its_sparse_weights(flag_embedder: FlagEmbedder):
    [plain, longer] = await flag_embedder.embed_sparse(["She has a dog. " * 200, "She has a dog. " * 200 + "Thursday"])
    assert set(longer) > set(plain)


def test_the_machine_is_as_torch_sees_it():
    machine = this_machine()
    assert machine.cores == torch.get_num_threads()
    assert machine.has_gpu == (torch.cuda.is_available() or torch.backends.mps.is_available())


async def failure_of(model: str) -> str:
    embedder = FlagEmbedder(model, machine=Machine(1, has_gpu=False))
    with pytest.raises(UnavailableError) as raised:
        await embedder.start()
    await embedder.close()
    return str(raised.value)


async def test_a_folder_that_is_not_there_is_one_clear_line(tmp_path: Path):
    message = await failure_of(str(tmp_path / "nothing"))
    assert "no model in the folder" in message
    assert "\n" not in message


async def test_a_name_that_the_hub_does_not_give_is_one_clear_line(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    message = await failure_of("nobody/nothing-of-this-name")
    assert "nobody/nothing-of-this-name is no folder here, and the hub does not give it" in message
    assert "\n" not in message


@pytest.mark.parametrize("name", ["sparse_linear.pt", "colbert_linear.pt"])
async def test_a_model_without_its_heads_is_refused(folder: Path, tmp_path: Path, name: str):
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / name).unlink()
    assert f"lacks {name}" in await failure_of(str(copy))


async def test_a_damaged_model_is_one_clear_line(folder: Path, tmp_path: Path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / "model.safetensors").write_bytes(b"not a model")
    message = await failure_of(str(copy))
    assert "the embedder copy cannot be loaded" in message
    assert "\n" not in message
