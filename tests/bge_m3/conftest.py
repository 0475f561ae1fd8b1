"""The suite of bge-m3: `make test-bge-m3` runs it in an environment of its own; elsewhere it is left out."""

from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from app.embedding.flag import FlagEmbedder

IS_INSTALLED = find_spec("FlagEmbedding") is not None

collect_ignore_glob = [] if IS_INSTALLED else ["test_*.py"]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny random model of bge-m3's form."""
    from tests.bge_m3.tiny import make_tiny_model  # noqa: PLC0415 - imports torch

    made = tmp_path_factory.mktemp("models") / "tiny-m3"
    make_tiny_model(made)
    return made


@pytest.fixture(scope="session")
async def flag_embedder(folder: Path) -> AsyncIterator[FlagEmbedder]:
    """The backend over that model, as the settings build it."""
    from app.embedding.factory import EmbedderOptions, create_embedder  # noqa: PLC0415

    made = create_embedder("bge-m3", EmbedderOptions(model=str(folder)))
    assert isinstance(made, FlagEmbedder)
    await made.start()
    yield made
    await made.close()
