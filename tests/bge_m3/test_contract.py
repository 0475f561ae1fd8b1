"""bge-m3 keeps the promises of every embedder."""

from tests.contract.test_embedder_contract import *  # noqa: F403 - the tests, over this suite's embedder
from tests.bge_m3.conftest import embedder  # noqa: F401 - goes before the one above
