"""What workers make of a turn: an episode of the whole, each author's own words, a searchable history."""

import pytest
from test_turns import SPACE, post, said

from app.domain.callers import Role
from app.domain.ids import parse_id
from app.store.keys import tenant_id_of
from app.turns.ports import JobOptions
from app.turns.records import Task

ANA = {"platform": "twitch", "id": "7", "name": "Ana"}
BEN = {"platform": "twitch", "id": "8", "name": "Ben"}


@pytest.fixture
def work(runtime):
    """Does all the work that is due."""
    return runtime.queue.drain


async def episodes(client, space):
    return (await client.get("/episodes", params={"space": space, "status": "any"})).json()["items"]


async def live(client):
    """A turn of a stream with everything in it."""
    return await post(
        client,
        stream="stream:giulia",
        session="live-1",
        messages=[
            {"author": ANA, "text": "I moved to Turin.", "id": "m-1"},
            {"author": BEN, "text": "Ana lives in Rome.", "mentions": ["Ana"], "id": "m-2"},
            {"author": {"platform": "twitch", "id": "99", "name": "Nightbot"}, "role": "bot", "text": "Follow me!"},
            {"author": ANA, "text": "", "event": "subscription", "id": "m-3"},
            {"author": ANA, "text": "It is lovely there.", "id": "m-4"},
        ],
        reply="Welcome to Turin, Ana!",
    )


async def test_a_turn_becomes_one_episode_word_for_word_with_events_and_reply(client, work):
    turn = await live(client)
    await work()
    (episode,) = await episodes(client, "stream:giulia")
    assert episode["text"].splitlines() == [
        "Ana: I moved to Turin.",
        "Ben: Ana lives in Rome.",
        "Nightbot: Follow me!",
        "[subscription] Ana",
        "Ana: It is lovely there.",
        "assistant: Welcome to Turin, Ana!",
    ]
    assert episode["participants"] == ["Ana", "Ben"]
    assert episode["source"] == turn["id"]
    assert episode["occurred_at"] == turn["said_at"]


async def test_an_authors_space_holds_that_authors_words_and_no_others(client, work):
    """Not the reply, not Ben's words on Ana, no bot, no event; what Bob says about Alice is not Alice's."""
    turn = await live(client)
    await work()
    (anas,) = await episodes(client, "viewer:twitch:7")
    assert anas["text"] == "I moved to Turin.\nIt is lovely there."
    assert anas["author"] == ANA
    assert anas["source"] == turn["id"]
    (bens,) = await episodes(client, "viewer:twitch:8")
    assert bens["text"] == "Ana lives in Rome."
    assert await episodes(client, "viewer:twitch:99") == []


async def test_an_author_without_an_id_is_known_by_the_normalised_name(client, work):
    await post(client, stream="stream:x", messages=[{"author": {"platform": "irc", "name": "@ÁNA"}, "text": "Hi all"}])
    await post(client, stream="stream:x", messages=[{"author": {"name": "Nobody"}, "text": "Hidden"}])
    await work()
    (own,) = await episodes(client, "viewer:irc:@ána")
    assert own["text"] == "Hi all"


async def test_a_key_of_the_stream_alone_writes_to_nobodys_own_space(client, connect, tenant, work):
    limited = connect(tenant.issue(Role.WRITER, ("stream:giulia",)))
    await live(limited)
    await work()
    assert len(await episodes(client, "stream:giulia")) == 1
    assert await episodes(client, "viewer:twitch:7") == []


async def test_every_task_may_run_again_and_changes_nothing(client, runtime, work, tenant):
    """dup-01: whatever path or repetition a text takes, there is one active record of it."""
    turn = await live(client)
    await work()
    spaces = ("stream:giulia", "viewer:twitch:7", "viewer:twitch:8")
    before = [await episodes(client, space) for space in spaces]
    await run_again(runtime, tenant, turn)
    assert [await episodes(client, space) for space in spaces] == before


async def run_again(runtime, tenant, turn):
    for task in (Task.HISTORY, Task.EPISODE, Task.PERSONAL):
        await runtime.queue.handlers[task](tenant_id_of(tenant.name), parse_id(turn["id"]), JobOptions())


async def test_an_edit_reaches_everything_derived(client, work):
    turn = await live(client)
    await work()
    message = turn["messages"][0]
    edited = await client.patch(f"/messages/{message['id']}", json={"text": "I moved to Milan."})
    assert edited.headers["ETag"] == '"2"'
    assert (await client.get(f"/sessions/{turn['session']}/messages")).json()["items"][0]["text"] == "I moved to Milan."
    await work()
    for space in ("stream:giulia", "viewer:twitch:7"):
        (episode,) = await episodes(client, space)
        assert "Milan" in episode["text"]
        assert "I moved to Turin" not in episode["text"]
    assert await found(client, "Milan") == ["I moved to Milan."]
    assert await found(client, "moved Turin") != ["I moved to Turin."]


async def found(client, query, space="stream:giulia", **filters):
    answer = await client.get("/messages", params={"space": space, "query": query, **filters})
    assert answer.status_code == 200, answer.text
    return [message["text"] for message in answer.json()["items"]]


async def test_a_deleted_message_leaves_no_trace_in_anything_derived(client, work, runtime, tenant):
    turn = await live(client)
    await post(client, stream="stream:giulia", session="live-1", messages=[{"author": BEN, "text": "Nice."}])
    await work()
    (one, *_, other) = [turn["messages"][0], turn["messages"][4]]
    for message in (one, other):
        removed = await client.delete(f"/messages/{message['id']}")
        assert removed.json()["messages"] == 1
        assert (await client.get(f"/messages/{message['id']}")).status_code == 404
    await work()
    assert await episodes(client, "viewer:twitch:7") == []
    traces = [await episodes(client, "stream:giulia"), (await client.get(f"/turns/{turn['id']}")).json()]
    versions = [(await client.get(f"/episodes/{e['id']}/versions")).json()["items"] for e in traces[0]]
    for trace in (traces, versions, await found(client, "moved lovely")):
        assert "I moved" not in str(trace)
        assert "lovely" not in str(trace)
    await run_again(runtime, tenant, turn)
    assert await episodes(client, "viewer:twitch:7") == []


async def test_the_same_turn_again_does_not_bring_a_deleted_message_back(client, work):
    turn = await live(client)
    await work()
    await client.delete(f"/messages/{turn['messages'][0]['id']}")
    await work()
    again = await live(client)
    await work()
    assert "I moved to Turin." not in str(again)
    assert "I moved" not in str(await episodes(client, "stream:giulia"))


async def test_an_episode_that_its_owner_erased_is_not_made_again(client, work, runtime, tenant):
    turn = await live(client)
    await work()
    (own,) = await episodes(client, "viewer:twitch:7")
    await client.delete(f"/episodes/{own['id']}")
    await client.patch(f"/messages/{turn['messages'][4]['id']}", json={"text": "It is lovely here."})
    await run_again(runtime, tenant, turn)
    await work()
    assert await episodes(client, "viewer:twitch:7") == []


async def test_an_episode_is_found_by_the_turn_before_it(client, work):
    await post(client, "What should we feed the hedgehogs?", session="s")
    await post(client, "Mealworms, every evening.", session="s")
    await work()
    hits = (await client.post("/search", json={"space": SPACE, "query": "hedgehogs", "min_relevance": 0.0})).json()
    assert [hit["text"] for hit in hits["items"]] == [
        "Ana: What should we feed the hedgehogs?",
        "Ana: Mealworms, every evening.",
    ]


async def test_what_memory_put_into_a_prompt_is_not_taken_for_something_said(client, work):
    """dup-09: our own rendered block and system turns are recognised, and not stored again as something said."""
    await client.post("/memories", json={"space": SPACE, "text": "My cat is called Miso."})
    for form in ("xml", "markdown", "plain"):
        asked = {"space": SPACE, "query": "cat", "format": form, "timeout_ms": 30_000}
        prompt = (await client.post("/context/assemble", json=asked)).json()["prompt"]
        assert "Miso" in prompt
        await post(
            client,
            session=form,
            messages=[
                {"role": "system", "text": prompt},
                {"role": "user", "author": {"name": "Ana"}, "text": f"{prompt}\nWhat did I eat?"},
                {"role": "tool", "text": "search result: Miso"},
            ],
        )
        # Nor does the quotation cover the memory for the next prompt of the session.
        again = (await client.post("/context/assemble", json={**asked, "session": form})).json()
        assert "Miso" in again["prompt"]
    await work()
    assert {episode["text"] for episode in await episodes(client, SPACE)} == {"Ana: What did I eat?"}


async def test_past_messages_are_listed_and_searched_and_belong_to_their_space(client, work):
    for day in (1, 2, 3):
        await post(
            client, messages=[said(f"Day {day}: the heron came back.", at=f"2026-01-0{day}T02:00:00Z")], session="s"
        )
    await work()
    listed = (await client.get("/messages", params={"space": SPACE, "limit": 2})).json()
    rest = (await client.get("/messages", params={"space": SPACE, "cursor": listed["next_cursor"]})).json()
    days = [message["text"][:5] for message in (*listed["items"], *rest["items"])]
    assert days == ["Day 3", "Day 2", "Day 1"]
    assert len(await found(client, "herons", SPACE)) == 3
    assert await found(client, "herons", "user:ben") == []
    assert await found(client, "the", SPACE, session="another") == []


async def test_a_message_at_two_in_the_morning_is_found_on_its_day(client, work):
    """time-01: stored in UTC, found on that day of UTC."""
    await post(client, messages=[said("The owl called.", at="2026-01-02T03:00:00+01:00")], session="s")
    await work()
    day = {"from": "2026-01-02T00:00:00Z", "to": "2026-01-03T00:00:00Z"}
    assert await found(client, "owl", SPACE, **day) == ["The owl called."]
    hits = (await client.post("/search", json={"space": SPACE, "query": "owl", **day})).json()["items"]
    assert [hit["occurred_at"] for hit in hits] == ["2026-01-02T02:00:00.000000Z"]


async def test_one_moment_is_written_alike_wherever_it_is_read(client, work):
    """time-03: the same record has byte-identical times in every answer."""
    turn = await post(client, messages=[said("Noted.", at="2026-01-02T03:00:00.5+01:00")], session="s")
    await work()
    at = "2026-01-02T02:00:00.500000Z"
    (message,) = turn["messages"]
    listed = (await client.get("/messages", params={"space": SPACE})).json()["items"]
    recent = (await client.get(f"/sessions/{turn['session']}/messages")).json()["items"]
    (episode,) = await episodes(client, SPACE)
    single = (await client.get(f"/messages/{message['id']}")).json()
    assert [m["at"] for m in (message, *listed, *recent, single)] == [at] * 4
    assert {turn["said_at"], episode["occurred_at"]} == {at}
    assert len({m["recorded_at"] for m in (message, *listed, *recent, single)}) == 1


async def test_an_episode_of_what_the_session_still_has_in_mind_is_not_told_again(client, work):
    await post(client, "The heron came back to the pond.", session="s")
    await work()
    asked = {"space": SPACE, "query": "Did the heron come back?", "timeout_ms": 30_000, "trace": True}
    here = (await client.post("/context/assemble", json={**asked, "session": "s"})).json()
    elsewhere = (await client.post("/context/assemble", json={**asked, "session": "another"})).json()
    assert "heron" not in here["prompt"]
    assert [dropped["reason"] for dropped in here["dropped"] if dropped["tier"] == "episodes"] == ["covered_by_history"]
    assert "heron" in elsewhere["prompt"]
