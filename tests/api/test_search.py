"""Search: filters first, then relevance; best first, and never more than asked for."""

import pytest

SPACE = "user:1"


async def create(client, text, resource="memories", **fields):
    reply = await client.post(f"/{resource}", json={"space": SPACE, "text": text, **fields})
    assert reply.status_code == 201, reply.text
    return reply.json()["id"]


async def batch(client, texts, resource="memories", **fields):
    entries = [{"text": text, **fields} for text in texts]
    reply = await client.post(f"/{resource}/batch", json={"space": SPACE, "entries": entries})
    return [item["entry"]["id"] for item in reply.json()["items"]]


async def search(client, query="", **fields):
    reply = await client.post("/search", json={"space": SPACE, "query": query, **fields})
    assert reply.status_code == 200, reply.text
    return reply.json()


async def texts(client, query="", **fields):
    return [item["text"] for item in (await search(client, query, **fields))["items"]]


FILLING = [f"Parcel {i} was left at the depot on platform {i}." for i in range(90)]


async def test_the_right_memories_come_first_and_never_more_than_asked_for(client):
    """ret-09: 100 memories; a query on one topic with k=5; an unrelated query finds none."""
    await batch(client, FILLING)
    topic = [
        "Ana is allergic to peanuts.",
        "Ana cannot eat nuts of any kind.",
        "Peanut butter makes Ana ill.",
        "At lunch Ana asks for dishes without nuts.",
    ]
    await batch(client, [*topic, "Ben plays chess.", "Carla sings.", "Dan has a boat.", "Eve paints.", "Fay rows."])
    await create(client, "Gus collects stamps.")
    found = (await search(client, "Which nuts is Ana allergic to?", limit=5))["items"]
    assert len(found) <= 5
    assert found[0]["text"] == topic[0]
    assert {item["text"] for item in found[:3]} <= set(topic)
    assert [item["relevance"] for item in found] == sorted((i["relevance"] for i in found), reverse=True)
    unrelated = (await search(client, "How do I file a tax return in Norway?"))["items"]
    assert len(unrelated) <= 2


async def test_a_hit_says_what_each_arm_saw(client):
    await create(client, "The code of the garage is ZX-4471.")
    (hit,) = (await search(client, "ZX-4471"))["items"]
    assert 0 < hit["relevance"] <= 1
    assert -1 <= hit["arms"]["cosine_similarity"] <= 1
    assert hit["arms"]["bm25_score"] > 0
    assert (await search(client, "ZX-4471"))["degraded"] == []


async def test_the_relevance_is_that_of_an_assembly(client):
    await batch(client, ["I live in Turin.", "I have two cats.", "My sister lives in Rome.", *FILLING[:20]])
    query = "Where do I live?"
    searched = {i["id"]: i["relevance"] for i in (await search(client, query, min_relevance=0.0, limit=100))["items"]}
    body = {"space": SPACE, "query": query, "trace": True, "timeout_ms": 30_000}
    assembled = (await client.post("/context/assemble", json=body)).json()["entries"]
    assert assembled
    for entry in assembled:
        assert searched[entry["id"]] == pytest.approx(entry["signals"]["relevance"], abs=2e-3)


async def test_hits_of_equal_relevance_come_by_id(client):
    ids = await batch(client, ["The same text."] * 7, "episodes")
    found = [item["id"] for item in (await search(client, "same text", limit=5))["items"]]
    assert found == sorted(ids)[:5]


async def test_all_tiers_are_searched_unless_the_request_names_some(client):
    await create(client, "Bread needs flour.")
    await create(client, "We baked bread.", "episodes")
    await create(client, "Bread: knead, wait, bake.", "procedures")
    assert len(await texts(client, "bread")) == 3
    assert await texts(client, "bread", tiers=["episodes"]) == ["We baked bread."]
    assert len(await texts(client, "bread", tiers=["memories", "procedures", "memories"])) == 2
    found = (await search(client, "bread"))["items"]
    for item in found:
        assert ("claim" in item) == (item["tier"] == "memories")
        assert ("occurred_at" in item) == (item["tier"] == "episodes")
        assert ("trigger" in item) == (item["tier"] == "procedures")


async def test_a_narrow_filter_finds_all_there_is_however_much_fits_better(client):
    await batch(client, [f"Cat number {i} sleeps on the sofa." for i in range(150)])
    wanted = await batch(client, ["A cat sleeps.", "Dogs bark."], tags=["rare"], category="goal")
    wanted += await batch(client, ["A hall of mirrors."], tags=["rare", "other"], scope="chat:1")
    scopes = {"scopes": ["chat:1"], "min_relevance": 0.0, "limit": 3}
    found = (await search(client, "cat on the sofa", tags=["rare"], **scopes))["items"]
    assert {item["id"] for item in found} == set(wanted)
    by_category = await texts(client, "cat on the sofa", category="goal", min_relevance=0.0)
    assert set(by_category) == {"A cat sleeps.", "Dogs bark."}


async def test_any_of_several_tags_is_enough(client):
    await create(client, "One.", tags=["a", "b"])
    await create(client, "Two.", tags=["c"])
    await create(client, "Three.")
    assert await texts(client, tags=["b", "c"]) == ["Two.", "One."]
    assert await texts(client, tags=["d"]) == []


async def test_a_scope_sees_what_holds_in_it_and_above_it_and_nothing_beside_it(client):
    await create(client, "Everywhere tea.")
    await create(client, "Story tea.", scope="story:au1")
    await create(client, "Scene tea.", scope="story:au1/scene:ball")
    await create(client, "Other tea.", scope="story:au2")
    assert set(await texts(client, "tea")) == {"Everywhere tea."}
    assert set(await texts(client, "tea", scopes=["story:au1"])) == {"Everywhere tea.", "Story tea."}
    seen = await texts(client, "tea", scopes=["story:au1/scene:ball"])
    assert set(seen) == {"Everywhere tea.", "Story tea.", "Scene tea."}


async def test_what_happened_at_two_in_the_morning_is_found_on_that_utc_day(client):
    """time-01: written at 02:00 UTC, found on that day and not on the day before."""
    await create(client, "The alarm rang.", "episodes", occurred_at="2026-03-10T02:00:00Z")
    await create(client, "The alarm broke.", valid_from="2026-03-09T22:00:00-04:00")
    day = {"from": "2026-03-10T00:00:00Z", "to": "2026-03-11T00:00:00Z"}
    before = {"from": "2026-03-09T00:00:00Z", "to": "2026-03-10T00:00:00Z"}
    assert set(await texts(client, "alarm", **day)) == {"The alarm rang.", "The alarm broke."}
    assert await texts(client, "alarm", **before) == []
    assert len(await texts(client, **day)) == 2
    (hit,) = (await search(client, tiers=["episodes"], **day))["items"]
    assert hit["occurred_at"] == "2026-03-10T02:00:00.000000Z"


async def test_a_time_range_is_half_open(client):
    await create(client, "The bell rang.", "episodes", occurred_at="2026-03-10T00:00:00Z")
    midnight = "2026-03-10T00:00:00Z"
    assert await texts(client, "bell", **{"from": midnight}) == ["The bell rang."]
    assert await texts(client, "bell", to=midnight) == []
    assert (await client.post("/search", json={"space": SPACE, "from": midnight, "to": midnight})).status_code == 422


async def test_what_has_no_time_of_its_own_is_found_by_when_it_was_recorded(client):
    await create(client, "The bell rang.")
    assert await texts(client, "bell", **{"from": "2020-01-01T00:00:00Z"}) == ["The bell rang."]
    assert await texts(client, "bell", to="2020-01-01T00:00:00Z") == []


async def test_an_empty_query_lists_the_newest_first(client):
    await batch(client, ["First.", "Second."])
    await create(client, "Long ago.", "episodes", occurred_at="2001-01-01T00:00:00Z")
    await create(client, "Third.", "procedures")
    found = (await search(client, "  "))["items"]
    assert [item["text"] for item in found] == ["Third.", "Second.", "First.", "Long ago."]
    assert {item["relevance"] for item in found} == {None}
    assert await texts(client, limit=2) == ["Third.", "Second."]


async def test_only_what_holds_is_found_unless_the_request_looks_back(client):
    await create(client, "I live in Rome.", valid_from="2020-01-01T00:00:00Z")
    await create(client, "I live in Turin.", valid_from="2024-01-01T00:00:00Z")
    await create(client, "The offer holds.", valid_to="2021-01-01T00:00:00Z")
    assert await texts(client, "Where do I live?") == ["I live in Turin."]
    assert await texts(client, "Where do I live?", as_of="2022-06-01T00:00:00Z") == ["I live in Rome."]
    assert await texts(client, "offer") == []
    assert await texts(client, "offer", as_of="2020-06-01T00:00:00Z") == ["The offer holds."]


async def test_what_was_known_by_a_moment_is_what_was_recorded_by_then(client):
    memory = await create(client, "The meeting is on Monday.")
    version = (await client.get(f"/memories/{memory}")).json()["recorded_at"]
    await client.patch(f"/memories/{memory}", json={"text": "The meeting is on Friday."})
    await create(client, "The meeting is short.")
    assert await texts(client, "meeting", known_at=version) == ["The meeting is on Monday."]
    assert await texts(client, "meeting", known_at="2001-01-01T00:00:00Z") == []
    assert set(await texts(client, "meeting")) == {"The meeting is on Friday.", "The meeting is short."}


async def test_other_spaces_are_read_when_named(client):
    await create(client, "I like tea.")
    other = {"space": "character:mira", "text": "Mira serves tea."}
    await client.post("/memories", json=other)
    assert await texts(client, "tea") == ["I like tea."]
    both = await texts(client, "tea", also_read=["character:mira", SPACE])
    assert sorted(both) == ["I like tea.", "Mira serves tea."]


async def test_each_user_finds_their_own_and_an_unknown_filter_is_refused(client):
    """leak-01: the same question for two users; an identity in a field that is not known is a 422."""
    for user, country in (("u1", "Albania"), ("u2", "Bolivia")):
        await client.post("/memories", json={"space": f"user:{user}", "text": f"I live in {country}."})
    reply = await client.post("/search", json={"space": "user:u1", "query": "where do I live"})
    assert [item["text"] for item in reply.json()["items"]] == ["I live in Albania."]
    for extra in ({"user_id": "u1"}, {"filters": {"user_id": "u1"}}, {"filter": {}}):
        refused = await client.post("/search", json={"space": "user:u1", "query": "where do I live", **extra})
        assert refused.status_code == 422
        assert "is not a known field" in refused.text
    listed = await client.get("/memories", params={"space": "user:u1", "user_id": "u1"})
    assert listed.status_code == 422


async def test_a_session_of_the_same_name_leads_to_no_other_user(client):
    """leak-02: u1's fact in session s1 is nothing to u2, whose session is called s1 as well."""
    await client.post("/memories", json={"space": "user:u1", "text": "My PIN is 4471.", "session": "s1"})
    await client.post("/memories", json={"space": "user:u2", "text": "I like tea.", "session": "s1"})
    for query in ("PIN 4471", ""):
        reply = await client.post("/search", json={"space": "user:u2", "query": query, "min_relevance": 0.0})
        assert {item["space"] for item in reply.json()["items"]} <= {"user:u2"}


async def test_every_tier_stays_within_the_space(client):
    """leak-03: two spaces with entries in every tier; all of an answer is of the space that was asked for."""
    for group in ("g1", "g2"):
        for resource in ("memories", "episodes", "procedures"):
            body = {"space": f"user:{group}", "text": f"The word of {group} is {resource}."}
            await client.post(f"/{resource}", json=body)
        soul = {"space": f"user:{group}", "name": "persona", "text": f"You belong to {group}."}
        await client.post("/soul", json=soul)
    found = await client.post("/search", json={"space": "user:g1", "query": "What is the word of g2?"})
    assert {item["tier"] for item in found.json()["items"]} == {"memories", "episodes", "procedures"}
    body = {"space": "user:g1", "query": "What is the word of g2?", "trace": True, "timeout_ms": 30_000}
    assembled = await client.post("/context/assemble", json=body)
    for reply in (found, assembled):
        assert "word of g1" in reply.text
        assert "word of g2 is" not in reply.text
        assert "belong to g2" not in reply.text


@pytest.mark.parametrize(
    "fields",
    [
        {"tiers": []},
        {"tiers": ["soul"]},
        {"limit": 0},
        {"limit": 101},
        {"limit": "5"},
        {"limit": True},
        {"min_relevance": 1.5},
        {"category": "nonsense"},
        {"tags": []},
        {"tags": "x"},
        {"from": "2026-01-01"},
        {"from": "2026-01-01T00:00:00"},
        {"since": "2026-01-01T00:00:00Z"},
        {"scopes": ["nonsense"]},
        {"also_read": ["nonsense"]},
        {"also_read": [f"user:{i}" for i in range(9)]},
        {"query": None},
        {"space": "nonsense"},
    ],
)
async def test_a_search_that_makes_no_sense_is_refused(client, fields):
    assert (await client.post("/search", json={"space": SPACE, "query": "x", **fields})).status_code == 422
