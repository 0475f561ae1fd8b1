"""The service over each embedder, and while the embedder is down."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from app import cli
from app.domain.errors import UnavailableError
from app.embedding.models import BUNDLED
from app.main import create_app
from app.runtime import ConfigurationError, Runtime, first_key, open_runtime, open_runtime_with
from app.settings import Settings
from app.store.models import WrongModelError
from tests.fakes.embedder import HashedEmbedder
from tests.fakes.embedding_server import EmbeddingServer, answers, well

MEASURED = {"dimensions": 64, "band": [0.5, 0.95], "scale": 1.0, "shift": 0.0}


class FlakyEmbedder(HashedEmbedder):
    """Passes for the bundled model, and fails while told to."""

    def __init__(self) -> None:
        super().__init__(512)
        self.name = BUNDLED.name
        self.is_down = False

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        self._check()
        return await super().embed_query(text)

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self._check()
        return await super().embed_documents(texts)

    def _check(self) -> None:
        if self.is_down:
            raise UnavailableError("the embedder is down")


def client_of(runtime: Runtime, key: str) -> httpx.AsyncClient:
    app = create_app(runtime)
    app.state.runtime = runtime
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app=app),
        base_url="http://test/api/v1",
        headers={"Authorization": f"Bearer {key}"},
    )


async def remembered(client: httpx.AsyncClient) -> list[str]:
    return [entry["text"] for entry in (await client.get("/memories", params={"space": "user:1"})).json()["items"]]


async def assembled(client: httpx.AsyncClient, query: str) -> dict[str, Any]:
    return (await client.post("/context/assemble", json={"space": "user:1", "query": query})).json()


@pytest.fixture
def embedder() -> FlakyEmbedder:
    return FlakyEmbedder()


@pytest.fixture
async def flaky(database_url: str, tmp_path: Path, tenant, embedder: FlakyEmbedder) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a service whose embedder can go down."""
    settings = Settings.model_validate({"database_url": database_url, "data_dir": tmp_path, "database_connections": 2})
    async with (
        open_runtime_with(settings, embedder, BUNDLED.calibration) as runtime,
        client_of(runtime, tenant.key) as client,
    ):
        yield client


async def test_a_write_while_the_embedder_is_down_is_a_503_and_nothing_else_is_lost(flaky, embedder):
    kept = await flaky.post("/memories", json={"space": "user:1", "text": "I live in Turin."})
    embedder.is_down = True
    refused = await flaky.post("/memories", json={"space": "user:1", "text": "I have a cat."})
    edited = await flaky.patch(f"/memories/{kept.json()['id']}", json={"text": "I live in Rome."})
    assert [kept.status_code, refused.status_code, edited.status_code] == [201, 503, 503]
    assert refused.headers["Retry-After"]
    assert refused.json()["type"] == "urn:ricordo:problem:unavailable"
    assert await remembered(flaky) == ["I live in Turin."]


async def test_the_same_write_succeeds_with_the_same_idempotency_key_once_the_embedder_is_back(flaky, embedder):
    embedder.is_down = True
    body, headers = {"space": "user:1", "text": "I have a cat."}, {"Idempotency-Key": "write-1"}
    statuses = [(await flaky.post("/memories", json=body, headers=headers)).status_code]
    embedder.is_down = False
    statuses += [(await flaky.post("/memories", json=body, headers=headers)).status_code for _ in range(2)]
    assert statuses == [503, 201, 201]
    assert await remembered(flaky) == ["I have a cat."]


async def test_an_assembly_goes_on_with_keywords_while_the_embedder_is_down_and_says_so(flaky, embedder):
    await flaky.post("/memories", json={"space": "user:1", "text": "My cat is called Oscar."})
    embedder.is_down = True
    reply = await assembled(flaky, "What is my cat called?")
    assert "Oscar" in reply["prompt"]
    assert reply["degraded"] == ["dense"]
    embedder.is_down = False
    assert (await assembled(flaky, "What is my cat called?"))["degraded"] == []


async def test_an_update_with_a_high_cosine_is_stored_and_supersedes(client):
    """Public report contra-07: an update was taken for a duplicate and dropped."""
    first = await client.post("/memories", json={"space": "user:1", "text": "I work at Globex"})
    second = await client.post("/memories", json={"space": "user:1", "text": "I just joined Initech"})
    assert [first.status_code, second.status_code] == [201, 201]
    assert await remembered(client) == ["I just joined Initech"]
    prompt = (await assembled(client, "Which company did I join, and where did I work?"))["prompt"]
    assert "Initech" in prompt
    assert "Globex" not in prompt


# --- each embedder, over a store of its own -------------------------------------------------


@asynccontextmanager
async def service(data_dir: Path, **fields: Any) -> AsyncIterator[httpx.AsyncClient]:
    settings = Settings.model_validate({"data_dir": data_dir, "database_connections": 2, **fields})
    async with open_runtime(settings) as runtime, client_of(runtime, first_key(data_dir)) as client:
        yield client


async def check_one_memory(client: httpx.AsyncClient) -> None:
    written = await client.post("/memories", json={"space": "user:1", "text": "Bydlím v Brně."})
    assert written.status_code == 201
    reply = await assembled(client, "Kde bydlím?")
    assert "Bydlím v Brně." in reply["prompt"]
    assert reply["degraded"] == []


async def test_e5_starts_embeds_and_assembles(tmp_path: Path):
    async with service(tmp_path, embedder="e5") as client:
        await check_one_memory(client)


@pytest.mark.parametrize("path", ["/v1/embeddings", "/embed"])
async def test_a_server_starts_embeds_and_assembles_and_may_go_and_come_back(tmp_path: Path, path: str):
    async with EmbeddingServer() as server:
        fields = {"embedder": "http", "embedder_model": "hashed", "embedder_url": server.url(path)}
        async with service(tmp_path, **fields, embedder_calibration=MEASURED) as client:
            await check_one_memory(client)
            server.always = answers(500, b"out of memory")
            reply = await assembled(client, "Kde vlastně bydlím?")
            assert reply["degraded"] == ["dense"]
            assert "Bydlím v Brně." in reply["prompt"]
            refused = await client.post("/memories", json={"space": "user:1", "text": "Mám psa."})
            assert refused.status_code == 503
        async with service(tmp_path, **fields, embedder_calibration=MEASURED) as client:
            assert await remembered(client) == ["Bydlím v Brně."]
            assert (await assembled(client, "Kde asi bydlím?"))["degraded"] == ["dense"]
            server.always = well
            assert (await assembled(client, "Kdepak bydlím?"))["degraded"] == []


async def test_another_model_than_the_store_was_filled_by_stops_the_start_and_names_both(tmp_path: Path):
    async with service(tmp_path):
        pass
    with pytest.raises(WrongModelError, match=r"bundled/use-multilingual-v3 \(512.*e5/.* \(384"):
        async with service(tmp_path, embedder="e5"):
            pass


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"embedder": "http"}, "needs RICORDO_EMBEDDER_URL"),
        ({"embedder": "http", "embedder_model": "m", "embedder_url": "http://127.0.0.1:9/v1"}, "never calibrated"),
        (
            {"embedder": "http", "embedder_model": "bge-m3", "embedder_url": "http://127.0.0.1:9/v1"},
            "the embedding server for bge-m3",
        ),
    ],
)
async def test_an_embedder_that_cannot_work_stops_the_first_start_with_one_line(tmp_path: Path, fields, message: str):
    with pytest.raises(ConfigurationError, match=message) as raised:
        async with service(tmp_path, **fields):
            pass
    assert "\n" not in str(raised.value)


@pytest.mark.slow
def test_calibrate_prints_the_setting_for_the_embedder_that_is_set(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RICORDO_EMBEDDER", "e5")
    result = CliRunner().invoke(cli.app, ["calibrate"])
    assert result.exit_code == 0
    declared = '{"dimensions":384,"band":[0.84,0.99],"scale":1.068,"shift":-0.031}'
    assert result.stdout.splitlines()[-1] == f"RICORDO_EMBEDDER_CALIBRATION='{declared}'"


def test_calibrate_names_the_line_that_is_no_pair(tmp_path: Path):
    (tmp_path / "pairs.jsonl").write_text("{}\n", encoding="utf-8")
    result = CliRunner().invoke(cli.app, ["calibrate", "--pairs", str(tmp_path / "pairs.jsonl")])
    assert result.exit_code == 1
    assert "line 1 is no" in result.stderr
