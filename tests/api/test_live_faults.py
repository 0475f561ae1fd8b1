"""A live chat over a database that stops answering for one source: over real sockets, one of which hangs or dies."""

import httpx
import pytest
from test_live import live, remembers, says, under, viewer

from app.domain.callers import Caller, Role
from app.main import create_app
from app.runtime import open_runtime
from app.settings import Settings
from app.store.keys import tenant_id_of
from loadtests.proxy import Fault, relayed

CONNECTIONS = 4
ASKING = (says("ana", "Giulia, what do you remember about me?"), says("bob", "Giulia, what do you know about me?"))


@pytest.fixture
async def relay(database_url):
    async with relayed(database_url) as opened:
        yield opened


@pytest.fixture
async def behind(relay, tenant, tmp_path):
    """A client of a service of its own, whose database is behind the relay."""
    settings = Settings.model_validate(
        {"database_url": relay.url, "data_dir": tmp_path, "database_connections": CONNECTIONS, "worker": "none"}
    )
    async with open_runtime(settings) as runtime:
        application = create_app(runtime)
        application.state.runtime = runtime
        transport = httpx.ASGITransport(app=application)
        headers = {"Authorization": f"Bearer {tenant.key}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://test/api/v1", headers=headers) as client:
            yield client


@pytest.fixture
async def of_ana(behind, tenant):
    """What every question about ana's memory has in it, as the driver sends it."""
    await remembers(behind, viewer("ana"), "I keep seven hens.")
    await remembers(behind, viewer("bob"), "I live in Oslo.")
    for _ in range(3):  # memory is in place
        assert (await live(behind, *ASKING))["degraded"] == []
    space_id = Caller(tenant_id_of(tenant.name), Role.READER).space(viewer("ana")).space_id
    return space_id.bytes, space_id.hex.encode(), str(space_id).encode()


@pytest.mark.parametrize(("fault", "state"), [(Fault.HANGS, "late"), (Fault.DIES, "failed")])
async def test_a_source_whose_socket_breaks_is_left_out_and_named_and_the_others_are_there(
    behind, relay, of_ana, fault, state
):
    """More often than there are connections: each is given up with its question, and another takes its place."""
    relay.break_at(fault, *of_ana)
    for _ in range(CONNECTIONS + 1):
        got = await live(behind, *ASKING, timeout_ms=2_000)
        assert got["plan"]["sources"][viewer("ana")] == state
        assert viewer("ana") in got["degraded"]
        assert "seven hens" not in got["prompt"]
        assert f"The memory of Ana ({viewer('ana')}) could not be read just now." in got["prompt"]
        assert "Oslo" in under(got["prompt"], viewer("bob"))
    assert relay.struck > CONNECTIONS
    relay.mend()
    again = await live(behind, *ASKING)
    assert again["degraded"] == []
    assert "seven hens" in under(again["prompt"], viewer("ana"))


async def test_a_stage_over_a_database_that_never_answers_has_a_prompt_that_says_so(behind, relay, of_ana):
    del of_ana
    relay.break_at(Fault.HANGS)
    got = await live(behind, *ASKING, timeout_ms=300)
    assert set(got["degraded"]) >= {viewer("ana"), viewer("bob")}
    single = await behind.post("/context/assemble", json={"space": viewer("ana"), "query": "hens?", "timeout_ms": 300})
    assert (single.status_code, single.json()["degraded"]) == (200, ["store"])
