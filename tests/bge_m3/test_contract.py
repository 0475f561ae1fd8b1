"""bge-m3 keeps the promises of every embedder."""

import pytest

from app.embedding.flag import FlagEmbedder
from tests.contract.test_embedder_contract import *  # noqa: F403 - the tests, over the embedder below


@pytest.fixture(scope="module")
def embedder(flag_embedder: FlagEmbedder) -> FlagEmbedder:
    """Goes before the parametrised one."""
    return flag_embedder
