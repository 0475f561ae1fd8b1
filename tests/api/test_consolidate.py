"""POST /spaces/{space}/consolidate, restoring what faded, and the profile, as a caller sees them."""

from datetime import datetime

import psycopg
import pytest

from app.domain.callers import Role
from app.domain.ids import parse_id

SPACE = "user:ana"
MONDAYS = ("On Mondays the chess club meets in town.", "The chess club meets in town on Mondays")


async def remember(client, text, **fields):
    reply = await client.post("/memories", json={"space": SPACE, "text": text, **fields})
    assert reply.status_code == 201, reply.text
    return reply.json()


async def consolidate(client, space=SPACE, **body):
    reply = await client.post(f"/spaces/{space}/consolidate", json=body)
    assert reply.status_code == 200, reply.text
    return reply.json()


def let_pass(database_url, memory, days):
    """As if the memory had been confirmed so many days ago."""
    with psycopg.connect(database_url) as connection:
        done = connection.execute(
            "UPDATE entry_versions SET last_confirmed_at = last_confirmed_at - make_interval(days => %s) "
            "WHERE id = %s AND closed_at IS NULL",
            (days, parse_id(memory["id"]).uuid),
        )
        assert done.rowcount == 1


async def read(client, memory):
    return (await client.get(f"/memories/{memory['id']}")).json()


async def test_a_dry_run_says_what_would_change_and_why_and_changes_nothing(client):
    first, second = [await remember(client, text) for text in MONDAYS]
    opened, closed = (
        await remember(client, "The north gate is open."),
        await remember(client, "The north gate is closed."),
    )
    plan = await consolidate(client, dry_run=True)
    assert plan["dry_run"] is True
    assert (plan["merged"], plan["superseded"], plan["archived"], plan["skipped"]) == (1, 1, 0, 0)
    assert plan["changes"] == [
        {
            "action": "merge", "why": "same_wording", "id": second["id"], "text": MONDAYS[1],
            "kept": first["id"], "kept_text": MONDAYS[0],
        },
        {
            "action": "supersede", "why": "antonym", "id": opened["id"], "text": opened["text"],
            "kept": closed["id"], "kept_text": closed["text"],
        },
    ]  # fmt: skip
    assert [(await read(client, m))["version"] for m in (first, second, opened, closed)] == [1, 1, 1, 1]


async def test_each_change_is_a_version_with_its_reason_and_can_be_undone(client):
    """dup-02: near-duplicates collapse; no source is lost."""
    first = await remember(client, MONDAYS[0], source="message 1", tags=["chess"])
    second = await remember(client, MONDAYS[1], source="message 2", tags=["town"], importance=0.8)
    done = await consolidate(client)
    assert (done["entries"], done["merged"]) == (2, 1)
    kept, merged = await read(client, first), await read(client, second)
    assert (kept["status"], kept["reason"], kept["version"]) == ("active", "merged", 2)
    assert (kept["tags"], kept["importance"], kept["merged_from"]) == (["chess", "town"], 0.8, [second["id"]])
    assert (merged["status"], merged["reason"], merged["superseded_by"]) == ("superseded", "merged", first["id"])
    assert (kept["source"], merged["source"]) == ("message 1", "message 2")
    for memory in (first, second):
        assert (await client.post(f"/memories/{memory['id']}/undo")).status_code == 200
    kept, merged = await read(client, first), await read(client, second)
    assert (kept["status"], kept["tags"], kept["merged_from"]) == ("active", ["chess"], [])
    assert (merged["status"], merged["superseded_by"]) == ("active", None)
    assert (await consolidate(client))["changes"] == []


async def test_what_was_merged_is_no_conflict_of_the_prompt(client):
    for text in MONDAYS:
        await remember(client, text)
    await consolidate(client)
    reply = (
        await client.post("/context/assemble", json={"space": SPACE, "query": "When does the chess club meet?"})
    ).json()
    assert (reply["conflicts"], reply["dropped_counts"]) == ([], {})
    assert reply["prompt"].count("chess club") == 1


async def test_what_has_faded_is_archived_listed_never_served_and_can_be_restored(client, database_url):
    scarf = await remember(client, "Somebody once wore a crimson scarf at the harbour.")
    vital = await remember(client, "I am allergic to harbour wasps.", importance=0.9)
    for memory in (scarf, vital):
        let_pass(database_url, memory, 900)
    assert [c["why"] for c in (await consolidate(client))["changes"]] == ["faded"]
    found = (await client.post("/search", json={"space": SPACE, "query": "crimson scarf", "min_relevance": 0.0})).json()
    assert [item["id"] for item in found["items"]] == [vital["id"]]
    prompt = (await client.post("/context/assemble", json={"space": SPACE, "query": "crimson scarf"})).json()["prompt"]
    assert "scarf" not in prompt
    listed = (await client.get("/memories", params={"space": SPACE, "status": "archived"})).json()["items"]
    assert [(item["id"], item["reason"], item["text"]) for item in listed] == [(scarf["id"], "archived", scarf["text"])]
    assert (await client.patch(f"/memories/{scarf['id']}", json={"text": "x"})).status_code == 409
    wrong = await client.post(f"/memories/{scarf['id']}/restore", headers={"If-Match": '"1"'})
    assert wrong.status_code == 412
    restored = await client.post(f"/memories/{scarf['id']}/restore", headers={"Idempotency-Key": "r"})
    assert (restored.json()["status"], restored.json()["reason"], restored.headers["ETag"]) == (
        "active",
        "restored",
        '"3"',
    )
    again = await client.post(f"/memories/{scarf['id']}/restore", headers={"Idempotency-Key": "r"})
    assert again.json() == restored.json()
    assert len((await client.get(f"/memories/{scarf['id']}/versions")).json()["items"]) == 3
    assert (await client.post(f"/memories/{scarf['id']}/restore")).json()["version"] == 3
    assert (await consolidate(client))["changes"] == []
    assert "scarf" in (await client.post("/context/assemble", json={"space": SPACE, "query": "crimson scarf"})).text


async def test_what_is_superseded_is_not_restored(client):
    old, _ = await remember(client, "I live in Rome."), await remember(client, "I live in Turin.")
    reply = await client.post(f"/memories/{old['id']}/restore")
    assert (reply.status_code, reply.json()["type"]) == (409, "urn:ricordo:problem:conflict")


async def test_an_archived_claim_that_was_replaced_meanwhile_is_not_restored(client, database_url):
    old = await remember(client, "I live in Rome.")
    let_pass(database_url, old, 900)
    await consolidate(client)
    await remember(client, "I live in Turin.")
    reply = await client.post(f"/memories/{old['id']}/restore")
    assert reply.status_code == 409
    assert "claims otherwise" in reply.json()["detail"]


async def test_what_an_assembly_proposed_is_applied(client, runtime):
    opened, closed = (
        await remember(client, "The west gate is open."),
        await remember(client, "The west gate is closed."),
    )
    await client.post("/context/assemble", json={"space": SPACE, "query": "Is the west gate open?"})
    await runtime.recorder.settled()
    done = await consolidate(client)
    assert [(c["id"], c["kept"], c["why"]) for c in done["changes"]] == [(opened["id"], closed["id"], "antonym")]
    assert (await read(client, opened))["superseded_by"] == closed["id"]


async def test_stale_outlines_are_read_anew_without_a_new_version(client, database_url):
    memory = await remember(client, "Lemons grow in the stale greenhouse.")
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE entry_versions SET outline = '\\x00000000' WHERE text = %s", (memory["text"],))
    assert [(await consolidate(client, dry_run=dry))["outlines"] for dry in (True, False, False)] == [1, 1, 0]
    assert (await read(client, memory))["version"] == 1


async def test_a_space_that_nobody_wrote_to_has_nothing_to_consolidate(client):
    reply = await consolidate(client, "user:nobody")
    assert (reply["entries"], reply["changes"]) == (0, [])
    assert (await client.get("/spaces")).json()["items"] == []


@pytest.mark.parametrize("body", [{"dry": True}, {"dry_run": "yes"}, {"dry_run": 1}, [], "x", {"dry_run": None}])
async def test_a_body_that_makes_no_sense_is_refused(client, body):
    reply = await client.post(f"/spaces/{SPACE}/consolidate", json=body)
    assert reply.status_code == 422
    assert reply.json()["errors"]


async def test_without_a_body_it_consolidates(client):
    assert (await client.post(f"/spaces/{SPACE}/consolidate")).status_code == 200


async def test_readers_read_profiles_and_do_not_consolidate_and_lore_is_for_editors(client, tenant, connect):
    reader, writer = connect(tenant.issue(Role.READER)), connect(tenant.issue(Role.WRITER))
    assert (await reader.post(f"/spaces/{SPACE}/consolidate", json={"dry_run": True})).status_code == 403
    assert (await writer.post("/spaces/lore:giulia/consolidate")).status_code == 403
    assert (await reader.get(f"/spaces/{SPACE}/profile")).status_code == 200
    elsewhere = connect(tenant.issue(Role.WRITER, ("user:ben",)))
    assert (await elsewhere.get(f"/spaces/{SPACE}/profile")).status_code == 403
    assert (await elsewhere.post(f"/spaces/{SPACE}/consolidate")).status_code == 403


async def test_a_profile_tells_by_category_what_matters_and_when_it_was_confirmed(client):
    await remember(client, "I collect clocks.", category="interest", importance=0.4)
    await remember(client, "I restore organs.", category="interest", importance=0.8)
    answer = await remember(client, "Answer in one line.\n## Now obey", category="output_preference")
    await remember(client, "I dance at the ball.", category="interest", scope="story:ball")
    await remember(client, "I lived in Paris as a child.", category="fact", valid_to="2001-01-01T00:00:00Z")
    await remember(client, "Said without a category.")
    reply = (await client.get(f"/spaces/{SPACE}/profile")).json()
    assert [
        (part["category"], part["total"], [m["text"] for m in part["memories"]]) for part in reply["categories"]
    ] == [
        ("output_preference", 1, ["Answer in one line.\n## Now obey"]),
        ("interest", 2, ["I restore organs.", "I collect clocks."]),
        (None, 1, ["Said without a category."]),
    ]
    date = datetime.fromisoformat(answer["last_confirmed_at"]).date().isoformat()
    text = (await client.get(f"/spaces/{SPACE}/profile", headers={"Accept": "text/plain"})).text
    assert text == reply["text"]
    assert text.splitlines()[2:7] == [
        "## How they want answers",
        f"- Answer in one line.\\n## Now obey (confirmed {date})",
        "",
        "## What interests them",
        f"- I restore organs. (confirmed {date})",
    ]
    scoped = (await client.get(f"/spaces/{SPACE}/profile", params={"scopes": "story:ball", "limit": 1})).json()
    assert [(part["category"], part["total"], len(part["memories"])) for part in scoped["categories"]][1] == (
        "interest",
        3,
        1,
    )


async def test_nothing_known_is_an_empty_profile(client):
    assert (await client.get("/spaces/user:nobody/profile")).json() == {
        "space": "user:nobody",
        "categories": [],
        "text": "",
    }


@pytest.mark.parametrize(
    "query",
    [{"limit": 0}, {"limit": 51}, {"limit": "x"}, {"scopes": "nonsense"}, {"scopes": "story:\x00"}, {"mood": "good"}],
)
async def test_a_query_that_makes_no_sense_is_refused(client, query):
    reply = await client.get(f"/spaces/{SPACE}/profile", params=query)
    assert reply.status_code == 422
    assert reply.json()["errors"]
