"""A store of its own for the tests of this folder: the session's server, another database, a model that is quick."""

from collections.abc import AsyncIterator, Callable
from itertools import count

import pytest

from tests.integration.stores import Space, Store, create_database, open_store

_NUMBERS = count(1)


@pytest.fixture
def new_database(database_url: str) -> Callable[[], str]:
    """A factory of empty databases."""
    return lambda: create_database(database_url, f"integration-{next(_NUMBERS)}")


@pytest.fixture(scope="session")
async def store(database_url: str) -> AsyncIterator[Store]:
    async with open_store(create_database(database_url, "integration")) as opened:
        yield opened


@pytest.fixture
def space(store: Store) -> Space:
    """A space of a fresh tenant."""
    return store.space()
