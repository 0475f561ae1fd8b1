"""What speaks for an entry beside its words, in search and in assemblies alike."""

import pytest

SPACE = "user:1"
AS_OF = "2026-06-10T12:00:00Z"  # a Wednesday
FILLING = [f"Parcel {i} was left at the depot on platform {i}." for i in range(60)]


async def remember(client, *entries):
    reply = await client.post("/memories/batch", json={"space": SPACE, "entries": list(entries)})
    items = reply.json()["items"]
    assert {item["status"] for item in items} == {201}, items
    return [item["entry"]["id"] for item in items]


async def found(client, query, **fields):
    reply = await client.post("/search", json={"space": SPACE, "query": query, **fields})
    assert reply.status_code == 200, reply.text
    return reply.json()["items"]


async def assembled(client, query, **fields):
    body = {"space": SPACE, "query": query, "record": False, "trace": True, **fields}
    reply = await client.post("/context/assemble", json=body)
    assert reply.status_code == 200, reply.text
    return reply.json()


async def first(client, query, **fields):
    """The text that comes first; search and assembly agree on it."""
    hits = await found(client, query, **fields)
    entries = (await assembled(client, query, **fields))["entries"]
    best = max(entries, key=lambda entry: entry["signals"]["relevance"])
    assert hits[0]["text"] == best["text"]
    return hits[0]["text"]


@pytest.mark.parametrize(
    ("query", "right"),
    [
        ("What did we say about the boat last week?", "We said that the boat needs a new sail"),
        ("What did we say about the boat in May 2025?", "We said that the boat needs a new mast"),
        ("What did we say about the boat yesterday?", "We said that the boat needs a new anchor"),
        ("Cosa abbiamo detto della barca (boat) la settimana scorsa?", "We said that the boat needs a new sail"),
        ("Co jsme minulý týden říkali o lodi (boat)?", "We said that the boat needs a new sail"),
    ],
)
async def test_a_question_about_a_time_finds_what_was_said_then(client, query, right):
    days = {"mast": "2025-05-12", "sail": "2026-06-03", "keel": "2026-03-02", "anchor": "2026-06-09"}
    await remember(
        client,
        *({"text": text} for text in FILLING),
        *(
            {"text": f"We said that the boat needs a new {part}", "valid_from": f"{day}T10:00:00Z"}
            for part, day in days.items()
        ),
    )
    assert await first(client, query, as_of=AS_OF) == right


async def test_a_short_answer_is_found_by_what_it_answers_which_is_not_rendered(client):
    await remember(
        client,
        *({"text": text} for text in FILLING),
        {"text": "Yes, every single morning", "context": "Do you swim in the lake?"},
        {"text": "No, never", "context": "Do you smoke?"},
    )
    assert await first(client, "Who swims in the lake?") == "Yes, every single morning"
    assert "lake" not in (await assembled(client, "Who swims in the lake?"))["prompt"]


async def test_what_stands_beside_a_good_answer_comes_before_what_stands_elsewhere(client):
    said = {"text": "It went well, the judges were pleased", "author": {"name": "Ana"}}
    beside, elsewhere = {**said, "session": "s-1"}, {**said, "text": "It went well, the judge was pleased"}
    await remember(
        client,
        {**elsewhere, "session": "s-2"},
        *({"text": text} for text in FILLING),
        {"text": "I played at the cello contest", "session": "s-1", "author": {"name": "Ana"}},
        beside,
    )
    texts = [hit["text"] for hit in await found(client, "How pleased were the judges of the cello contest?")]
    assert texts.index(beside["text"]) < texts.index(elsewhere["text"])


async def test_whoever_is_named_is_heard_first(client):
    await remember(
        client,
        {"text": "I painted a sunrise", "author": {"name": "Ben"}},
        {"text": "I painted a sunset", "author": {"name": "Zoë"}},
    )
    assert await first(client, "What did Zoe paint?") == "I painted a sunset"
    assert await first(client, "What did Ben paint?") == "I painted a sunrise"


async def test_the_agents_own_words_count_less_unless_they_are_asked_for(client):
    said = "Your visa runs out in June"
    mine = "My visa runs out in June, I think"
    await remember(client, {"text": said, "author": {"name": "assistant"}}, {"text": mine, "author": {"name": "Ana"}})
    assert await first(client, "When does my visa run out?") == mine
    hits = await found(client, "What did you say about the visa that runs out?")
    assert said in {hit["text"] for hit in hits}


@pytest.mark.parametrize(
    ("query", "right"),
    [
        ("Jaké zvíře mám?", "Má doma štěně"),
        ("Che medicine prendo?", "Takes two pills every evening"),
        ("Who is my boss?", "Il responsabile è la signora Neri"),
    ],
)
async def test_words_of_one_meaning_find_each_other_across_languages(client, query, right):
    texts = ("Má doma štěně", "Takes two pills every evening", "Il responsabile è la signora Neri")
    await remember(client, *({"text": text} for text in (*FILLING, *texts)))
    assert await first(client, query) == right


async def test_search_and_assembly_give_an_entry_the_same_relevance(client):
    await remember(
        client,
        *({"text": text, "session": f"s-{n % 7}"} for n, text in enumerate(FILLING)),
        {"text": "Ana keeps bees", "session": "s-1", "author": {"name": "Ana"}, "context": "What do you keep?"},
        {"text": "Ana sells honey", "session": "s-1", "author": {"name": "assistant"}},
    )
    query = "What did Ana keep last week, and what was on platform 7?"
    searched = {hit["id"]: hit["relevance"] for hit in await found(client, query, limit=100)}
    entries = (await assembled(client, query))["entries"]
    assert len(entries) > 2
    assert {e["id"]: e["signals"]["relevance"] for e in entries} == pytest.approx(
        {e["id"]: searched[e["id"]] for e in entries}, abs=1e-6
    )


async def test_one_fact_told_five_times_leaves_room_for_others(client):
    told = [
        "Ana's dog is called Biscuit",
        "Ana has a dog named Biscuit",
        "The name of the dog of Ana is Biscuit",
        "Biscuit is the dog of Ana",
        "Ana owns a dog and its name is Biscuit",
    ]
    others = ["The dog sleeps in the kitchen", "The dog was ill in March"]
    await remember(client, *({"text": text} for text in (*FILLING, *told, *others)))
    budget = {"overrides": {"budget_tokens": {"memories": 150}}}
    prompt = (await assembled(client, "Tell me about Ana's dog Biscuit", **budget))["prompt"]
    assert all(text in prompt for text in others)
    assert sum("Biscuit" in line for line in prompt.splitlines()) < len(told)
