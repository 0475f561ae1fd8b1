"""What the settings wire: Redis as working memory, a language model for summaries, who works."""

import shutil
import socket
import subprocess
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from app.assembly.records import AssemblyRequest
from app.domain.callers import Caller, Role
from app.domain.ids import IdKind, PublicId
from app.domain.spaces import SpaceKey
from app.runtime import ConfigurationError, open_runtime
from app.settings import Settings
from app.turns.service import Posted, PostedTurn, session_of
from tests.fakes.llm_server import GOOD, running_llm


@pytest.fixture(scope="module")
def redis():
    """A Redis of its own: its process, and its URL."""
    binary = shutil.which("redis-server")
    if binary is None:
        pytest.skip("no redis-server on this machine: apt-get install redis-server")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [binary, "--port", str(port), "--bind", "127.0.0.1", "--save", ""], stdout=subprocess.PIPE, text=True
    )
    for line in server.stdout or ():
        if "Ready to accept connections" in line:
            break
    yield server, f"redis://127.0.0.1:{port}/0"
    server.kill()
    server.communicate()


@pytest.fixture
async def opened(new_database, tmp_path, redis):
    _, url = redis
    async with running_llm() as llm:
        settings = Settings.model_validate(
            {
                "database_url": new_database(),
                "data_dir": tmp_path,
                "redis_url": url,
                "llm_url": llm.url,
                "llm_model": "small",
                "worker": "none",
            }
        )
        async with open_runtime(settings) as runtime:
            yield runtime


async def test_redis_holds_the_session_and_the_model_writes_the_summary(opened, redis):
    caller = Caller(uuid4(), Role.ADMINISTRATOR)
    space = SpaceKey(caller.tenant_id, "user:ana")
    session = PublicId(session_of(space, "s"), space.space_id, IdKind.SESSION)
    said = PostedTurn(
        space=space.name, session="s", given_id=None, fingerprint=b"", messages=(Posted(text="I moved to Turin."),)
    )
    await opened.turns.post(caller, said, datetime.now(UTC))
    assert [m.text for m in await opened.turns.recent(caller, session)] == ["I moved to Turin."]
    await opened.turns.end(caller, session)
    await opened.queue.drain()
    (conversation,) = (await opened.turns.session(caller, session)).conversations
    assert conversation.summary["by_model"]
    assert conversation.summary["text"] == GOOD["summary"]

    asked = AssemblyRequest(
        space=space, persona=space, query="Hi", as_of=datetime.now(UTC), session=session, timeout_ms=30_000
    )
    assert (await opened.assembly.assemble(asked)).degraded == ()
    assert (await opened.probes.check()).working_memory is None
    server, _ = redis
    server.kill()
    server.wait()
    assert (await opened.assembly.assemble(asked)).degraded == ("session",)
    health = await opened.probes.check()
    assert health.working_memory
    assert health.status == "degraded"
    acknowledged = await opened.turns.post(caller, said, datetime.now(UTC))
    assert (await opened.turns.get(caller, acknowledged.id)).messages[0].text == "I moved to Turin."


async def test_what_is_no_redis_url_stops_the_start(new_database, tmp_path):
    settings = Settings.model_validate({"database_url": new_database(), "data_dir": tmp_path, "redis_url": "ftp://x"})
    with pytest.raises(ConfigurationError, match="RICORDO_REDIS_URL"):
        async with open_runtime(settings):
            pass
