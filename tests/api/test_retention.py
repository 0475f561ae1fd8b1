"""History runs out: by default after thirty days, by tenant; purged, or moved to an archive; and told."""

import json
from dataclasses import replace

import psycopg
import pytest
from test_turn_work import episodes, found
from test_turns import SPACE, post, texts

from app.domain.callers import Role
from app.store.archive import FolderArchive
from app.store.keys import tenant_id_of


@pytest.fixture
def age(tenant, database_url):
    """Makes everything that is stored older."""

    async def make_older(days):
        async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
            for table in ("turns", "messages"):
                older = f"UPDATE {table} SET recorded_at = recorded_at - make_interval(days => %s) WHERE tenant_id = %s"
                await connection.execute(older, (days, tenant_id_of(tenant.name)))

    return make_older


async def purge(runtime, tenant):
    return await runtime.history.purge(tenant_id_of(tenant.name))


async def test_what_has_run_out_is_gone_and_the_report_says_how_much(client, runtime, tenant, age):
    await post(client, "An old story about a lighthouse.", "Really.", session="s")
    await runtime.queue.drain()
    await age(29)
    assert await purge(runtime, tenant) == 0
    await age(2)
    await post(client, "A new one.", session="s")
    assert await purge(runtime, tenant) == 1
    assert await found(client, "lighthouse", SPACE) == []
    assert (await client.get("/messages", params={"space": SPACE})).json()["items"][0]["text"] == "A new one."
    assert await texts(client, "s") == ["A new one."]
    settings = (await client.get("/history/settings")).json()
    report = settings["last_purge"]
    assert (settings["days"], settings["is_default"]) == (30, True)
    assert (report["turns"], report["messages"], report["archive"]) == (1, 2, None)
    assert "lighthouse" in (await episodes(client, SPACE))[0]["text"]  # what memory made of it is memory


async def test_an_administrator_changes_how_long_a_tenants_history_is_kept(
    client, connect, runtime, *, tenant, new_tenant, age
):
    changed = await client.put("/history/settings", json={"days": 3})
    assert (changed.json()["days"], changed.json()["is_default"]) == (3, False)
    await post(client, "Soon gone.")
    await age(4)
    assert await purge(runtime, tenant) == 1
    assert (await client.put("/history/settings", json={"days": None})).json()["days"] == 30
    other = connect(new_tenant().key)
    assert (await other.get("/history/settings")).json() == {"days": 30, "is_default": True, "last_purge": None}
    writer = connect(tenant.issue(Role.WRITER))
    assert (await writer.put("/history/settings", json={"days": 5})).status_code == 403


@pytest.mark.parametrize("days", [0, 36_501, 1.5, "7", True])
async def test_days_out_of_range_are_refused(client, days):
    refused = await client.put("/history/settings", json={"days": days})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "days"


async def test_history_is_archived_as_json_lines_before_it_is_purged(client, runtime, tenant, age, tmp_path):
    turn = await post(client, "Kept elsewhere.", reply="Very well.", session="s")
    removed = await post(client, "Taken back.", session="s")
    await client.delete(f"/messages/{removed['messages'][0]['id']}")
    await age(31)
    history = replace(runtime.history, archive=FolderArchive(tmp_path))
    assert await history.purge(tenant_id_of(tenant.name)) == 2
    report = (await client.get("/history/settings")).json()["last_purge"]
    lines = [json.loads(line) for line in (tmp_path / report["archive"]).read_text(encoding="utf-8").splitlines()]
    assert [line["id"] for line in lines] == [turn["id"], removed["id"]]
    assert [m["text"] for m in lines[0]["messages"]] == ["Kept elsewhere.", "Very well."]
    assert lines[0]["messages"][0]["author"]["name"] == "Ana"
    assert "Taken back." not in str(lines)
    assert (tmp_path / report["archive"]).parent.stat().st_mode & 0o077 == 0


async def test_an_archive_that_cannot_be_written_keeps_the_history(client, runtime, tenant, age, tmp_path):
    await post(client, "Still here.", session="s")
    await age(31)
    (tmp_path / "file").touch()
    history = replace(runtime.history, archive=FolderArchive(tmp_path / "file"))
    with pytest.raises(Exception, match="archive cannot be read or written"):
        await history.purge(tenant_id_of(tenant.name))
    assert (await client.get("/messages", params={"space": SPACE})).json()["items"][0]["text"] == "Still here."
