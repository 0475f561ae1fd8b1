"""Memories, episodes and procedures: one pattern for three resources."""

import asyncio

import pytest

from app.domain.callers import Role

SPACE = "user:1"

TIERS = [
    pytest.param("memories", {"text": "I live in Turin.", "category": "fact"}, id="memories"),
    pytest.param("episodes", {"text": "We cooked risotto.", "occurred_at": "2026-01-31T09:30:00Z"}, id="episodes"),
    pytest.param("procedures", {"text": "Back up first.", "trigger": "a new release"}, id="procedures"),
]
every_tier = pytest.mark.parametrize(("resource", "body"), TIERS)

SHARED_FIELDS = {
    *("id", "space", "tier", "version", "status", "text", "tags", "scope", "importance", "confidence", "author"),
    *("session", "context", "source", "recorded_at", "first_recorded_at", "last_confirmed_at", "unresolved"),
    *("superseded_by", "merged_from", "reason", "corrected"),
}
OWN_FIELDS = {
    "memories": {"category", "claim", "claim_derived", "valid_from", "valid_to"},
    "episodes": {"occurred_at", "participants"},
    "procedures": {"trigger"},
}


async def create(client, resource="memories", **fields):
    reply = await client.post(f"/{resource}", json={"space": SPACE, "text": "I like tea.", **fields})
    assert reply.status_code == 201, reply.text
    return reply.json()


async def listed(client, resource="memories", **query):
    reply = await client.get(f"/{resource}", params={"space": SPACE, **query})
    assert reply.status_code == 200, reply.text
    return [item["text"] for item in reply.json()["items"]]


@every_tier
async def test_what_was_created_can_be_read_where_the_reply_says(client, resource, body):
    written = await client.post(f"/{resource}", json={"space": SPACE, **body})
    assert written.status_code == 201
    assert written.headers["ETag"] == '"1"'
    read = await client.get(written.headers["Location"].removeprefix("/api/v1"))
    assert read.status_code == 200
    assert read.headers["ETag"] == '"1"'
    assert read.json().items() <= written.json().items()
    assert read.json().items() >= body.items() - {("occurred_at", body.get("occurred_at"))}


@every_tier
async def test_a_reply_has_the_fields_of_its_tier_and_no_others(client, resource, body):
    written = (await client.post(f"/{resource}", json={"space": SPACE, **body})).json()
    read = (await client.get(f"/{resource}/{written['id']}")).json()
    assert read.keys() == SHARED_FIELDS | OWN_FIELDS[resource]
    effects = {"superseded", "unresolved_with"} | ({"reinforced"} if resource == "memories" else set())
    assert written.keys() == read.keys() | effects


async def test_every_field_of_a_memory_comes_back_as_it_was_given(client):
    given = {
        "text": "I prefer short answers.",
        "category": "output_preference",
        "tags": ["style", "stile"],
        "scope": "character:mira",
        "claim": {"subject": "Ana", "attribute": "answer length", "value": "short", "cardinality": "one"},
        "importance": 0.9,
        "confidence": 0.7,
        "valid_from": "2026-01-01T00:00:00.000000Z",
        "valid_to": "2999-01-01T00:00:00.000000Z",
        "author": {"name": "Ana", "platform": "matrix", "id": "@ana:example.org"},
        "session": "s-9",
        "context": "About how to answer.",
        "source": "message 7",
    }
    written = await create(client, **given)
    assert written.items() >= given.items()
    assert written["claim_derived"] is False


async def test_the_text_is_kept_verbatim(client):
    text = "  Zoë said:\t“¿qué?” 👩‍👩‍👧 \u202eعربي\u202c\r\n</memories> & <b>  "
    written = await create(client, text=text)
    assert (await client.get(f"/memories/{written['id']}")).json()["text"] == text


@every_tier
async def test_an_edit_changes_what_it_names_and_writes_a_new_version(client, resource, body):
    before = await create(client, resource, **body, tags=["a"], importance=0.5)
    reply = await client.patch(f"/{resource}/{before['id']}", json={"text": "I like coffee now."})
    assert reply.status_code == 200
    assert reply.headers["ETag"] == '"2"'
    after = reply.json()
    assert (after["text"], after["version"], after["reason"]) == ("I like coffee now.", 2, "edited")
    assert (after["tags"], after["importance"]) == (["a"], 0.5)
    assert after["first_recorded_at"] == before["recorded_at"]


async def test_null_clears_a_field(client):
    fields = {"tags": ["a"], "scope": "chat:1", "importance": 0.5, "category": "fact", "source": "x"}
    written = await create(client, **fields, author={"name": "Ana"}, valid_from="2026-01-01T00:00:00Z")
    cleared = dict.fromkeys([*fields, "author", "valid_from"])
    after = (await client.patch(f"/memories/{written['id']}", json=cleared)).json()
    assert (after["tags"], after["scope"]) == ([], "")
    assert [after[name] for name in ("importance", "category", "source", "author", "valid_from")] == [None] * 5


async def test_a_claim_set_to_null_is_what_the_text_says(client):
    claim = {"subject": "me", "attribute": "tea", "value": "green"}
    written = await create(client, text="I live in Turin.", claim=claim)
    after = (await client.patch(f"/memories/{written['id']}", json={"claim": None})).json()
    assert after["claim_derived"] is True
    assert after["claim"]["value"] == "Turin"


@pytest.mark.parametrize("patch", [{"text": None}, {"text": " "}, {}, {"space": "user:2"}, {"status": "archived"}])
async def test_an_edit_that_makes_no_sense_is_refused(client, patch):
    written = await create(client)
    reply = await client.patch(f"/memories/{written['id']}", json=patch)
    assert reply.status_code == 422
    assert (await client.get(f"/memories/{written['id']}")).json()["version"] == 1


async def test_an_edit_must_leave_a_record_that_is_valid_as_a_whole(client):
    written = await create(client, valid_from="2026-02-01T00:00:00Z")
    reply = await client.patch(f"/memories/{written['id']}", json={"valid_to": "2026-01-01T00:00:00Z"})
    assert reply.status_code == 422
    assert "valid_to must be after valid_from" in reply.json()["detail"]


async def test_an_edit_of_an_old_version_is_refused(client):
    written = await create(client)
    path = f"/memories/{written['id']}"
    assert (await client.patch(path, json={"text": "One."}, headers={"If-Match": '"1"'})).status_code == 200
    late = await client.patch(path, json={"text": "Two."}, headers={"If-Match": '"1"'})
    assert late.status_code == 412
    assert late.json()["type"] == "urn:ricordo:problem:precondition-failed"
    assert (await client.delete(path, headers={"If-Match": '"1"'})).status_code == 412
    assert (await client.post(f"{path}/undo", headers={"If-Match": '"1"'})).status_code == 412
    assert (await client.get(path)).json()["text"] == "One."


async def test_edits_at_the_same_moment_lose_nothing_silently(client):
    written = await create(client)
    path = f"/memories/{written['id']}"
    replies = await asyncio.gather(*(client.patch(path, json={"text": f"Number {i}."}) for i in range(6)))
    won = [reply for reply in replies if reply.status_code == 200]
    assert {reply.status_code for reply in replies} <= {200, 409}
    assert (await client.get(path)).json()["version"] == 1 + len(won)


@every_tier
async def test_undo_goes_back_and_undo_again_goes_forth(client, resource, body):
    written = await create(client, resource, **body)
    path = f"/{resource}/{written['id']}"
    await client.patch(path, json={"text": "Changed."})
    undone = await client.post(f"{path}/undo")
    assert (undone.json()["text"], undone.json()["version"], undone.json()["reason"]) == (body["text"], 3, "undo")
    assert undone.headers["ETag"] == '"3"'
    assert (await client.post(f"{path}/undo")).json()["text"] == "Changed."


async def test_there_is_nothing_to_undo_in_a_first_version(client):
    written = await create(client)
    assert (await client.post(f"/memories/{written['id']}/undo")).status_code == 409


async def test_versions_are_listed_newest_first_in_pages(client):
    written = await create(client)
    path = f"/memories/{written['id']}"
    for i in range(4):
        await client.patch(path, json={"text": f"Number {i}."})
    first = (await client.get(f"{path}/versions", params={"limit": 3})).json()
    rest = (await client.get(f"{path}/versions", params={"limit": 3, "cursor": first["next_cursor"]})).json()
    assert [item["version"] for item in first["items"] + rest["items"]] == [5, 4, 3, 2, 1]
    assert rest["items"][-1]["text"] == "I like tea."
    assert rest["next_cursor"] is None


@every_tier
async def test_a_list_is_newest_first_and_comes_in_pages(client, resource, body):
    for i in range(5):
        await create(client, resource, **{**body, "text": f"Number {i}."})
    seen, cursor = [], None
    while True:
        query = {"space": SPACE, "limit": 2, **({"cursor": cursor} if cursor else {})}
        page = (await client.get(f"/{resource}", params=query)).json()
        assert len(page["items"]) <= 2
        seen += [item["text"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == [f"Number {i}." for i in (4, 3, 2, 1, 0)]


async def test_a_page_has_fifty_items_unless_the_request_says_otherwise(client):
    entries = [{"text": f"Number {i}."} for i in range(60)]
    await client.post("/episodes/batch", json={"space": SPACE, "entries": entries})
    page = (await client.get("/episodes", params={"space": SPACE})).json()
    assert len(page["items"]) == 50
    assert page["next_cursor"]
    assert (await client.get("/episodes", params={"space": SPACE, "limit": 201})).status_code == 422
    assert len(await listed(client, "episodes", limit=200)) == 60


async def test_a_list_is_filtered(client):
    await create(client, text="Goal.", category="goal", tags=["x", "y"], scope="chat:1")
    await create(client, text="Plain.", tags=["y"])
    assert await listed(client, category="goal") == ["Goal."]
    assert await listed(client, tag="x") == ["Goal."]
    assert await listed(client, tag="y") == ["Plain.", "Goal."]
    assert await listed(client, scope="chat:1") == ["Goal."]
    assert await listed(client, scope="") == ["Plain."]
    assert await listed(client, category="work") == []


async def test_what_was_superseded_is_listed_when_asked_for(client):
    old = await create(client, text="I live in Rome.")
    new = await create(client, text="I live in Turin.")
    assert new["superseded"] == [old["id"]]
    assert await listed(client) == ["I live in Turin."]
    assert await listed(client, status="superseded") == ["I live in Rome."]
    assert await listed(client, status="any") == ["I live in Turin.", "I live in Rome."]
    edit = await client.patch(f"/memories/{old['id']}", json={"text": "I live in Milan."})
    assert edit.status_code == 409


@every_tier
async def test_what_was_deleted_is_gone_and_the_reply_says_what_was_removed(client, resource, body):
    """del-01: gone from every index at once; the reply lists what was removed."""
    written = await create(client, resource, **body)
    path = f"/{resource}/{written['id']}"
    await client.patch(path, json={"tags": ["x"]})
    reply = await client.delete(path)
    assert reply.status_code == 200
    assert reply.json()["id"] == written["id"]
    removed = reply.json()["removed"]
    assert (removed["versions"], removed["vectors"]) == (2, 1)
    assert removed["postings"] > 0
    assert (await client.get(path)).status_code == 404
    assert (await client.get(f"{path}/versions")).status_code == 404
    assert (await client.delete(path)).status_code == 404
    assert await listed(client, resource, status="any") == []
    for query in (body["text"], "home town, cooking, safety"):
        search = await client.post("/search", json={"space": SPACE, "query": query, "min_relevance": 0.0})
        assert search.json()["items"] == []
        assembled = await client.post(
            "/context/assemble", json={"space": SPACE, "query": query, "trace": True, "timeout_ms": 30_000}
        )
        assert body["text"] not in assembled.text


@every_tier
@pytest.mark.parametrize("other", ["mem", "epi", "pro", "sol", "asm"])
async def test_an_id_of_another_kind_is_not_found(client, resource, body, other):
    """del-08: an id of the wrong kind is a 404 and never an empty success."""
    written = await create(client, resource, **body)
    kind, _, rest = written["id"].partition("_")
    if other == kind:
        return
    for path in (f"/{resource}/{other}_{rest}", *(f"/{t}/{written['id']}" for t in OWN_FIELDS if t != resource)):
        replies = [
            await client.get(path),
            await client.delete(path),
            await client.patch(path, json={"text": "x"}),
            await client.get(f"{path}/versions"),
            await client.post(f"{path}/undo"),
        ]
        assert {reply.status_code for reply in replies} == {404}
    # The same bytes under another prefix are no id of that other tier either.
    names = {"mem": "memories", "epi": "episodes", "pro": "procedures"}
    if other in names:
        assert (await client.get(f"/{names[other]}/{other}_{rest}")).status_code == 404
        assert (await client.delete(f"/{names[other]}/{other}_{rest}")).status_code == 404
    assert (await client.get(f"/{resource}/{written['id']}")).status_code == 200


async def test_outcomes_move_the_confidence_of_a_procedure(client):
    written = await create(client, "procedures", text="Restart it.", confidence=0.5)
    path = f"/procedures/{written['id']}"
    up = (await client.post(f"{path}/outcome", json={"outcome": "success"})).json()
    assert (up["reason"], up["version"]) == ("outcome", 2)
    assert up["confidence"] == pytest.approx(2 / 3)
    down = (await client.post(f"{path}/outcome", json={"outcome": "failure"})).json()
    assert down["confidence"] == pytest.approx(0.5)
    assert (await client.post(f"{path}/outcome", json={"outcome": "maybe"})).status_code == 422
    assert (await client.post(f"/memories/{written['id']}/outcome", json={"outcome": "success"})).status_code == 404


async def test_a_batch_writes_the_good_entries_and_names_the_bad_ones(client):
    entries = [
        {"text": "I like tea."},
        {"text": ""},
        {"text": "I play chess.", "tags": ["game"]},
        {"text": "x", "importance": 2, "unknown": 1},
        "no object",
        {"text": "x", "valid_from": "2026-02-01T00:00:00Z", "valid_to": "2026-01-01T00:00:00Z"},
    ]
    reply = await client.post("/memories/batch", json={"space": SPACE, "entries": entries})
    assert reply.status_code == 207
    items = reply.json()["items"]
    assert [(item["index"], item["status"]) for item in items] == list(enumerate([201, 422, 201, 422, 422, 422]))
    assert items[2]["entry"]["tags"] == ["game"]
    assert {error["field"] for error in items[3]["errors"]} == {"importance", "unknown"}
    assert await listed(client) == ["I play chess.", "I like tea."]


async def test_a_batch_without_a_good_entry_writes_nothing(client):
    reply = await client.post("/memories/batch", json={"space": SPACE, "entries": [{"text": ""}]})
    assert (reply.status_code, reply.json()["items"][0]["status"]) == (207, 422)
    assert await listed(client) == []


@pytest.mark.parametrize("entries", [[], [{"text": "x"}] * 501, None, {"text": "x"}])
async def test_a_batch_has_between_one_and_five_hundred_entries(client, entries):
    reply = await client.post("/memories/batch", json={"space": SPACE, "entries": entries})
    assert reply.status_code == 422


async def test_five_hundred_entries_are_one_batch(client):
    entries = [{"text": f"Item {i} is in box {i}."} for i in range(500)]
    reply = await client.post("/memories/batch", json={"space": SPACE, "entries": entries})
    assert {item["status"] for item in reply.json()["items"]} == {201}
    assert len(await listed(client, limit=200)) == 200


async def test_entries_of_a_batch_supersede_each_other_in_order(client):
    entries = [{"text": "I live in Rome."}, {"text": "I live in Turin."}]
    items = (await client.post("/memories/batch", json={"space": SPACE, "entries": entries})).json()["items"]
    assert items[1]["entry"]["superseded"] == [items[0]["entry"]["id"]]
    assert await listed(client) == ["I live in Turin."]


async def test_a_memory_that_is_known_already_is_reinforced(client):
    """dup-01: by single writes and by batches, one active memory."""
    first = await create(client, text="I keep bees.")
    again = await client.post("/memories", json={"space": SPACE, "text": "i keep bees!"})
    assert again.status_code == 200
    assert "Location" not in again.headers
    assert again.headers["ETag"] == '"2"'
    assert (again.json()["id"], again.json()["reinforced"], first["reinforced"]) == (first["id"], True, False)
    batch = await client.post(
        "/memories/batch", json={"space": SPACE, "entries": [{"text": "I keep bees."}, {"text": "I keep hens."}]}
    )
    assert [(item["status"], item["entry"]["reinforced"]) for item in batch.json()["items"]] == [
        (200, True),
        (201, False),
    ]
    assert await listed(client) == ["I keep hens.", "I keep bees."]


async def test_the_same_write_sent_again_happens_once(client):
    """dup-07: m, n, then m again unchanged is a success with the same id; m's key with another text is 409."""

    async def write(key, text):
        return await client.post("/memories", json={"space": SPACE, "text": text}, headers={"Idempotency-Key": key})

    m = await write("m", "I like tea.")
    await write("n", "I like coffee.")
    again = await write("m", "I like tea.")
    assert again.status_code == 201
    assert again.json() == m.json()
    assert again.headers["ETag"] == m.headers["ETag"]
    other = await write("m", "I like water.")
    assert other.status_code == 409
    assert other.json()["type"] == "urn:ricordo:problem:idempotency-conflict"
    assert other.json()["detail"]
    assert await listed(client) == ["I like coffee.", "I like tea."]


async def test_the_same_write_sent_at_the_same_moment_happens_once(client):
    body = {"space": SPACE, "text": "I like tea."}
    posts = [client.post("/memories", json=body, headers={"Idempotency-Key": "k"}) for _ in range(5)]
    replies = await asyncio.gather(*posts)
    assert len({reply.json()["id"] for reply in replies}) == 1
    assert await listed(client) == ["I like tea."]


async def test_a_batch_an_edit_an_undo_and_an_outcome_sent_again_happen_once(client):
    key = {"Idempotency-Key": "b"}
    body = {"space": SPACE, "entries": [{"text": "One."}, {"text": ""}, {"text": "Two."}]}
    first = await client.post("/procedures/batch", json=body, headers=key)
    assert (await client.post("/procedures/batch", json=body, headers=key)).json() == first.json()
    path = f"/procedures/{first.json()['items'][0]['entry']['id']}"
    for method, url, json in [
        ("PATCH", path, {"text": "Three."}),
        ("POST", f"{path}/undo", None),
        ("POST", f"{path}/outcome", {"outcome": "success"}),
    ]:
        once = await client.request(method, url, json=json, headers={"Idempotency-Key": method + url})
        twice = await client.request(method, url, json=json, headers={"Idempotency-Key": method + url})
        assert (once.status_code, twice.json()) == (200, once.json())
    assert (await client.get(path)).json()["version"] == 4


async def test_an_idempotency_key_of_another_tenant_is_another_key(client, connect, new_tenant):
    other = connect(new_tenant().key)
    for writer in (client, other):
        reply = await writer.post(
            "/memories", json={"space": SPACE, "text": "I like tea."}, headers={"Idempotency-Key": "k"}
        )
        assert reply.status_code == 201
        assert await listed(writer) == ["I like tea."]


async def test_a_reader_reads_and_a_writer_writes_and_lore_needs_an_editor(tenant, connect):
    reader, writer, editor = (connect(tenant.issue(role)) for role in (Role.READER, Role.WRITER, Role.EDITOR))
    body = {"space": SPACE, "text": "I like tea."}
    refused = await reader.post("/memories", json=body)
    assert refused.status_code == 403
    assert "writer" in refused.json()["detail"]
    written = (await writer.post("/memories", json=body)).json()
    path = f"/memories/{written['id']}"
    assert (await reader.get(path)).status_code == 200
    assert (await reader.get("/memories", params={"space": SPACE})).status_code == 200
    assert (await reader.get(f"{path}/versions")).status_code == 200
    assert (await reader.patch(path, json={"text": "x"})).status_code == 403
    assert (await reader.post(f"{path}/undo")).status_code == 403
    assert (await reader.delete(path)).status_code == 403
    assert (await reader.post("/memories/batch", json={"space": SPACE, "entries": [{"text": ""}]})).status_code == 403
    canon = {"space": "lore:giulia", "text": "The moon is made of glass."}
    assert (await writer.post("/memories", json=canon)).status_code == 403
    lore = await editor.post("/memories", json=canon)
    assert lore.status_code == 201
    assert (await writer.delete(f"/memories/{lore.json()['id']}")).status_code == 403


async def test_a_first_write_makes_the_space_and_reading_an_unknown_one_finds_it_empty(client):
    """ops-06: the same on every route; text in which nothing is claimed is stored as it is."""
    unknown = {"space": "user:never-seen"}
    for path in ("/memories", "/episodes", "/procedures", "/soul"):
        reply = await client.get(path, params=unknown)
        assert (reply.status_code, reply.json()["items"]) == (200, [])
    assert (await client.post("/search", json={**unknown, "query": "tea"})).json()["items"] == []
    assert (await client.get("/spaces/user:never-seen")).json()["entries"] == dict.fromkeys(OWN_FIELDS, 0)
    assert (await client.post("/context/assemble", json={**unknown, "query": "tea"})).status_code == 200
    written = await client.post("/memories", json={**unknown, "text": "Mmh."})
    assert written.status_code == 201
    assert (written.json()["claim"], written.json()["text"]) == (None, "Mmh.")


async def test_reads_follow_writes_in_every_space_and_scope(client):
    """leak-05: what is written under a scope is read back under it, by every route."""
    for space in ("user:x", "viewer:twitch:@ana", "stream:s", "character:c", "lore:l", "agent:a"):
        for scope in ("", "chat:7", "story:au1/scene:ball"):
            text = f"The word is {space} {scope}."
            body = {"space": space, "scope": scope, "text": text}
            written = (await client.post("/memories", json=body)).json()
            found = await client.get("/memories", params={"space": space, "scope": scope})
            assert [item["id"] for item in found.json()["items"]] == [written["id"]]
            assert (await client.get(f"/memories/{written['id']}")).json()["text"] == text
            where = {"space": space, "scopes": [scope] if scope else []}
            search = await client.post("/search", json={**where, "query": text})
            assert written["id"] in [item["id"] for item in search.json()["items"]]
            prompt = (
                await client.post("/context/assemble", json={**where, "query": text, "timeout_ms": 30_000})
            ).json()["prompt"]
            assert text in prompt


async def test_a_time_is_the_same_bytes_wherever_it_is_read(client):
    """time-03: one instant, one spelling, through create, get, list, versions and search."""
    body = {"space": SPACE, "text": "We cooked risotto.", "occurred_at": "2026-01-31T10:30:00.5+01:00"}
    written = (await client.post("/episodes", json=body)).json()
    read = (await client.get(f"/episodes/{written['id']}")).json()
    (item,) = (await client.get("/episodes", params={"space": SPACE})).json()["items"]
    (version,) = (await client.get(f"/episodes/{written['id']}/versions")).json()["items"]
    (hit,) = (await client.post("/search", json={"space": SPACE, "query": "risotto"})).json()["items"]
    for name in ("occurred_at", "recorded_at", "first_recorded_at", "last_confirmed_at"):
        assert len({seen[name] for seen in (written, read, item, version, hit)}) == 1
    assert read["occurred_at"] == "2026-01-31T09:30:00.500000Z"


async def test_a_time_without_a_zone_is_refused(client):
    """time-04: an aware time is taken, a naive one for the same fact is a 422."""
    body = {"space": SPACE, "text": "I moved to Turin."}
    aware = await client.post("/memories", json={**body, "valid_from": "2026-01-31T09:30:00+02:00"})
    assert aware.json()["valid_from"] == "2026-01-31T07:30:00.000000Z"
    naive = await client.post("/memories", json={**body, "valid_from": "2026-01-31T09:30:00"})
    assert naive.status_code == 422
    assert naive.json()["errors"] == [{"field": "valid_from", "message": "needs a time zone, such as Z or +01:00"}]


async def test_an_edited_tag_makes_an_old_fact_no_newer(client):
    """A fact counts as said when its text was; what is written about it later does not say it again."""
    rome = (await client.post("/memories", json={"space": "user:t", "text": "I live in Rome"})).json()
    edited = await client.patch(f"/memories/{rome['id']}", json={"tags": ["home"]})
    assert edited.json()["last_confirmed_at"] == rome["last_confirmed_at"]
    reworded = await client.patch(f"/memories/{rome['id']}", json={"text": "I live in the centre of Rome"})
    assert reworded.json()["last_confirmed_at"] > rome["last_confirmed_at"]
