"""Fixtures that every suite shares: one embedded Postgres, one running service, a tenant per test."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import httpx
import hypothesis
import pytest

from app.domain.callers import NewKey, Role
from app.main import create_app
from app.runtime import Runtime, new_secret, new_uuid, open_runtime
from app.settings import Settings
from app.store import embedded
from app.store.keys import ensure_key

hypothesis.settings.register_profile("ricordo", deadline=None)  # how long a test takes says more of the machine
hypothesis.settings.load_profile("ricordo")

_TENANTS = count(1)


@pytest.fixture(scope="session")
def database_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The superuser's URL of a fresh embedded Postgres."""
    with embedded.start(tmp_path_factory.mktemp("data")) as server:
        yield server.url


@pytest.fixture(scope="session")
async def runtime(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Runtime]:
    """The service's runtime over the real database and the real embedder."""
    settings = Settings.model_validate(
        {
            "database_url": database_url,
            "data_dir": tmp_path_factory.mktemp("keys"),
            "database_connections": 4,
            "worker": "none",  # tests say when work is done: `await runtime.queue.drain()`
        }
    )
    async with open_runtime(settings) as opened:
        yield opened


@dataclass(frozen=True)
class Tenant:
    """A tenant of its own, with an administrator's key."""

    name: str
    key: str
    database_url: str

    def issue(self, role: Role, spaces: tuple[str, ...] | None = None) -> str:
        """Another key of this tenant."""
        key = new_secret()
        ensure_key(self.database_url, self.name, key, new_uuid(), NewKey(role.label, role, spaces))
        return key


@pytest.fixture
def new_tenant(runtime: Runtime, database_url: str):
    """A factory of fresh tenants."""

    def make() -> Tenant:
        tenant = Tenant(f"tenant-{next(_TENANTS)}", new_secret(), database_url)
        ensure_key(database_url, tenant.name, tenant.key, new_uuid(), NewKey("test", Role.ADMINISTRATOR))
        return tenant

    return make


@pytest.fixture
def tenant(new_tenant) -> Tenant:
    """A fresh tenant."""
    return new_tenant()


@pytest.fixture(scope="session")
def app(runtime: Runtime):
    """The application over the session's runtime."""
    application = create_app(runtime)
    application.state.runtime = runtime
    return application


@pytest.fixture
async def connect(app):
    """Opens clients for keys."""
    opened: list[httpx.AsyncClient] = []

    def client(key: str) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        made = httpx.AsyncClient(
            transport=transport, base_url="http://test/api/v1", headers={"Authorization": f"Bearer {key}"}
        )
        opened.append(made)
        return made

    yield client
    for client_ in opened:
        await client_.aclose()


@pytest.fixture
async def client(connect, tenant: Tenant) -> httpx.AsyncClient:
    """A client of a fresh tenant's administrator."""
    return connect(tenant.key)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden")


@pytest.fixture
def golden(request: pytest.FixtureRequest):
    """Compares a text with a file of tests/golden, or rewrites it."""

    def check(name: str, text: str) -> None:
        path = Path(__file__).parent / "golden" / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return check
