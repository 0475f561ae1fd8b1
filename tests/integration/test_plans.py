"""How Postgres runs our statements: the plans of the real ones, over the pool, as the serving role.

The server itself reports them (auto_explain), so they are the generic plans that a warm connection uses.
"""

import json
from uuid import uuid4

import psycopg
import pytest

from app.domain.callers import Caller, Role
from app.domain.entries import Tier
from app.domain.spaces import SpaceKey, scope_key
from app.entries.ports import Listing
from app.runtime import new_id
from app.store.consolidation import PostgresConsolidation
from app.store.entries import PostgresEntries
from app.store.pool import create_pool
from app.store.profile import PostgresProfile
from app.store.retriever import PostgresRetriever
from app.text.terms import term_hash
from tests.integration.stores import LATER, Space, create_database, heard, open_store

DIMENSIONS = 256
EXPLAIN = (
    " -c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0 -c auto_explain.log_analyze=on"
    " -c auto_explain.log_format=json -c auto_explain.log_level=notice -c client_min_messages=notice"
)

# Rows of a space, by number: all of them the same few vectors and words, so that any word is common.
SEED = """
CREATE TEMP TABLE seeded AS
SELECT %(tenant)s::uuid AS tenant_id, w.space_id, uuidv7() AS id, n,
       (ARRAY['memories', 'episodes', 'procedures']::tier[])[greatest(n %% 8 - 4, 1)] AS tier
  FROM unnest(%(spaces)s::uuid[], %(sizes)s::int[]) AS w(space_id, size)
 CROSS JOIN LATERAL generate_series(1, w.size) AS n;

INSERT INTO spaces (tenant_id, id, name, created_at)
SELECT %(tenant)s, s.id, s.name, now() FROM unnest(%(spaces)s::uuid[], %(names)s::text[]) AS s(id, name);

INSERT INTO entry_versions (
    tenant_id, space_id, id, version, text_version, sequence, tier, status, text, category, tags, scope, claim_derived,
    importance, participants, recorded_at, first_recorded_at, last_confirmed_at, unresolved, reason, terms, term_count)
SELECT tenant_id, space_id, id, 1, 1, n, tier, 'active', 'bees and hens ' || n || repeat(' more words', 20),
       CASE WHEN n %% 50 = 0 THEN 'output_preference' ELSE 'fact' END, '{}', '', FALSE, 0.5 + (n %% 50 = 0)::int * 0.3,
       '{}', now(), now(), now(), FALSE, 'created', '{}', 12
  FROM seeded;

INSERT INTO entry_vectors (
    tenant_id, space_id, model_id, id, text_version, tier, live, scope_key, centred_norm, embedding)
SELECT tenant_id, space_id, %(model)s, id, 1, tier, TRUE, %(scope_key)s, 1,
       (SELECT array_agg(sin(n %% 40 + i)) FROM generate_series(1, %(dimensions)s) AS i)::vector::halfvec
  FROM seeded;

INSERT INTO entry_postings (
    tenant_id, space_id, term, id, text_version, tier, live, scope_key, tf, length)
SELECT tenant_id, space_id, term, id, 1, tier, TRUE, %(scope_key)s, 1, 12
  FROM seeded
 CROSS JOIN LATERAL (
    SELECT unnest(%(terms)s::bigint[]) UNION SELECT hashint8(n * k) FROM generate_series(1, 8) AS k) AS t(term);

INSERT INTO tier_statistics (tenant_id, space_id, tier, documents, terms)
SELECT tenant_id, space_id, tier, count(*), 12 * count(*) FROM seeded GROUP BY tenant_id, space_id, tier;

INSERT INTO entry_uses (tenant_id, space_id, id, uses, last_session)
SELECT tenant_id, space_id, id, 1, 's1' FROM seeded WHERE n %% 3 = 0;

INSERT INTO supersession_proposals (
    tenant_id, space_id, kept, kept_version, superseded, superseded_version, why, proposed_at)
SELECT tenant_id, space_id, id, 1, gen_random_uuid(), 1, 'claim', now() FROM seeded WHERE n %% 10 = 0;

INSERT INTO space_centres (tenant_id, space_id, model_id, version, entries_count, centre)
SELECT DISTINCT ON (s.tenant_id, s.space_id) s.tenant_id, s.space_id, %(model)s, 1, 10, m.mean
  FROM seeded s CROSS JOIN embedding_models m;
"""


@pytest.fixture(scope="module")
async def crowded(database_url):
    """A store with one huge space, two hundred small ones, one of the usual size, and a tiny one."""
    async with open_store(create_database(database_url, "crowded"), DIMENSIONS) as store:
        caller = Caller(uuid4(), Role.ADMINISTRATOR)
        sizes = {"user:usual": 1_000, "user:huge": 8_000, "user:tiny": 10} | {f"user:{n}": 20 for n in range(200)}
        spaces = {name: Space(store, caller, name) for name in sizes}
        terms = [term_hash(t) for t in ("~bee", "bees", "~word", "words")]
        parameters = {
            "tenant": caller.tenant_id,
            "spaces": [space.id for space in spaces.values()],
            "names": list(spaces),
            "sizes": list(sizes.values()),
            "model": store.model.id,
            "dimensions": DIMENSIONS,
            "scope_key": scope_key(""),
            "terms": terms,
        }
        async with await psycopg.AsyncConnection.connect(
            store.url, autocommit=True, cursor_factory=psycopg.AsyncClientCursor
        ) as connection:
            await connection.execute(SEED, parameters)
            await connection.execute("VACUUM (ANALYZE)")
        yield spaces


@pytest.fixture(scope="module")
async def explained(crowded):
    """Runs an action and returns the plans of its statements, each as a flat list of nodes."""
    store = crowded["user:usual"].store
    pool = create_pool(store.url, 1)
    pool.kwargs["options"] += EXPLAIN
    async with pool:

        async def explain(action):
            for _ in range(2):
                await action(pool)
            plans = []
            async with pool.connection() as connection:
                connection.add_notice_handler(lambda notice: plans.append(notice.message_primary))
            await action(pool)
            bodies = [json.loads(text.partition("plan:\n")[2]) for text in plans if "plan:" in text]
            return {body["Query Text"].strip(): list(nodes(body["Plan"])) for body in bodies}

        yield explain


def nodes(plan, names=()):
    """All nodes of a plan, each with the names of the common table expressions that it is part of."""
    names = (*names, plan["Subplan Name"].removeprefix("CTE ")) if "Subplan Name" in plan else names
    yield {**{k: v for k, v in plan.items() if k != "Plans"}, "of": names}
    for part in plan.get("Plans", ()):
        yield from nodes(part, names)


async def plan_of(explained, space, query, **request):
    wanted = space.plan(query, **request)
    asked = await space.store.ask(query)

    async def retrieve(pool):
        await PostgresRetriever(pool).retrieve(wanted, heard(asked))

    plans = await explained(retrieve)
    (candidates,) = [plan for query, plan in plans.items() if query.startswith("-- All arms") or "dense AS" in query]
    return candidates


@pytest.fixture(scope="module")
async def retrieval(explained, crowded):
    return await plan_of(explained, crowded["user:usual"], "Where are the bees and hens?")


def reads(plan, table):
    """The nodes that read a table, and were run."""
    return [n for n in plan if n.get("Relation Name") == table and n["Actual Loops"] > 0]


def kinds(found):
    return {(n["Node Type"], n.get("Index Name")) for n in found}


def test_the_dense_arm_is_an_index_only_scan_that_reads_no_heap(retrieval):
    found = [n for n in reads(retrieval, "entry_vectors") if "dense" in n["of"]]
    assert kinds(found) == {("Index Only Scan", "entry_vectors_live")}
    assert sum(n["Actual Rows"] * n["Actual Loops"] for n in found) == pytest.approx(1000, abs=3)
    assert sum(n["Heap Fetches"] for n in found) == 0


def test_the_keyword_arm_reads_its_index_alone(retrieval):
    found = reads(retrieval, "entry_postings")
    assert kinds(found) == {("Index Only Scan", "entry_postings_pkey")}
    assert sum(n["Heap Fetches"] for n in found) == 0
    assert all("term" in n["Index Cond"] for n in found)


def test_the_final_join_probes_versions_by_their_primary_key(retrieval):
    found = [n for n in reads(retrieval, "entry_versions") if n["Alias"] == "x"]
    assert kinds(found) == {("Index Scan", "entry_versions_pkey")}
    assert found[0]["Actual Loops"] > 100
    assert "(id = " in found[0]["Index Cond"]


def test_nothing_reads_a_space_from_end_to_end(retrieval):
    scanned = {n["Relation Name"] for n in retrieval if "Relation Name" in n and n["Node Type"] == "Seq Scan"}
    assert scanned <= {"embedding_models", "space_centres"}
    below = {n["Alias"] for n in retrieval if "Alias" in n and n["Node Type"] in ("Bitmap Heap Scan", "Tid Scan")}
    assert below == set()


def test_preferences_come_from_their_own_index(retrieval):
    found = [n for n in retrieval if n.get("Index Name") == "entry_versions_preferences"]
    assert [n["Actual Loops"] for n in found] == [1]


def test_vectors_of_the_chosen_are_read_by_primary_key(retrieval):
    assert kinds(n for n in reads(retrieval, "entry_vectors") if n["Alias"] == "y") == {
        ("Index Scan", "entry_vectors_pkey")
    }


def past_branches(plan):
    """The nodes below a one-time filter, and those that read vectors out of service."""
    return [
        n for n in plan
        if n.get("Relation Name") in ("entry_vectors", "entry_versions")
        and ("NOT live" in n.get("Filter", "") or "{active,superseded}" in n.get("Filter", ""))
        and "CASE WHEN" not in n["Filter"]
    ]  # fmt: skip


def test_the_branches_for_looking_back_never_run_in_a_normal_query(retrieval):
    past = past_branches(retrieval)
    assert len(past) == 2
    assert [n["Actual Loops"] for n in past] == [0, 0]


async def test_they_do_run_when_looking_back(explained, crowded):
    plan = await plan_of(explained, crowded["user:usual"], "bees", as_of=LATER)
    assert all(n["Actual Loops"] for n in past_branches(plan))


async def test_the_huge_space_has_the_same_plan(explained, crowded, retrieval):
    plan = await plan_of(explained, crowded["user:huge"], "Where are the bees and hens?")
    for table in ("entry_vectors", "entry_postings", "entry_versions"):
        assert kinds(reads(plan, table)) == kinds(reads(retrieval, table))


async def test_a_tiny_space_beside_a_huge_one_gets_every_row(crowded):
    """Filtered approximate search answers a small tenant with 6.6 of its 10 entries."""
    tiny = crowded["user:tiny"]
    assert len(await tiny.search("bees", arms="dense", limit=10)) == 10
    assert len(await tiny.search("bees", arms="lexical", limit=10)) == 10


async def test_no_approximate_index_exists(crowded):
    rows = await crowded["user:usual"].store.sql("SELECT indexdef FROM pg_indexes WHERE indexdef ~ 'hnsw|ivfflat'")
    assert rows == []


async def plans_of(explained, crowded, action):
    space = crowded["user:usual"]
    plans = await explained(lambda pool: action(PostgresEntries(pool), space.key))
    return next(p for p in plans.values() if any(n.get("Relation Name") == "entry_versions" for n in p))


async def test_listing_reads_no_more_than_it_returns(explained, crowded):
    async def listing(entries, space: SpaceKey):
        assert len(await entries.listing(Listing(space, Tier.MEMORIES, limit=50))) == 50

    found = reads(await plans_of(explained, crowded, listing), "entry_versions")
    assert kinds(found) == {("Index Scan", "entry_versions_current")}
    assert found[0]["Scan Direction"] == "Backward"
    assert found[0]["Actual Rows"] == 50


async def test_an_entry_and_its_history_are_found_by_primary_key(explained, crowded):
    memory = (await crowded["user:usual"].search("bees", limit=1))[0].id

    async def current(entries, space):
        assert await entries.current(space.tenant_id, memory) is not None

    async def history(entries, space):
        assert len(await entries.history(space.tenant_id, memory)) == 1

    for action in (current, history):
        found = reads(await plans_of(explained, crowded, action), "entry_versions")
        assert kinds(found) == {("Index Scan", "entry_versions_pkey")}
        assert "(id = " in found[0]["Index Cond"]


async def test_unknown_ids_are_looked_up_by_primary_key_too(explained, crowded):
    unknown = new_id((await crowded["user:usual"].search("bees", limit=1))[0].id.kind, crowded["user:usual"].id)

    async def current(entries, space):
        assert await entries.current(space.tenant_id, unknown) is None

    found = [n for n in await plans_of(explained, crowded, current) if n.get("Relation Name") == "entry_versions"]
    assert kinds(found) == {("Index Scan", "entry_versions_pkey")}


async def test_a_scan_for_consolidation_reads_a_portion_of_a_space_in_the_order_of_an_index(explained, crowded):
    async def scan(entries, space):
        portions = [portion async for portion in PostgresConsolidation(entries).scan(space)]
        assert sum(map(len, portions)) == 1_000

    plan = await plans_of(explained, crowded, scan)
    assert kinds(reads(plan, "entry_versions")) == {("Index Scan", "entry_versions_current")}
    assert kinds(reads(plan, "entry_uses")) == {("Index Scan", "entry_uses_pkey")}
    assert "Sort" not in {n["Node Type"] for n in plan}


async def test_entries_to_be_compared_are_loaded_by_primary_key(explained, crowded):
    space = crowded["user:usual"]
    ids = list({candidate.id for candidate in await space.search("bees", limit=50)})

    async def load(entries, key):
        assert len(await PostgresConsolidation(entries).load(key, space.store.model.id, ids)) == len(ids)

    plan = await plans_of(explained, crowded, load)
    assert {n["Index Name"] for n in reads(plan, "entry_versions")} <= {"entry_versions_pkey", "entry_versions_current"}
    assert all("(id = " in n["Index Cond"] for n in reads(plan, "entry_versions"))
    assert kinds(reads(plan, "entry_vectors")) == {("Index Scan", "entry_vectors_pkey")}


async def test_a_profile_reads_the_memories_of_its_space_alone(explained, crowded):
    async def read(entries, key):
        assert await PostgresProfile(entries.pool).best(key, ("",), LATER, 10)

    found = reads(await plans_of(explained, crowded, read), "entry_versions")
    assert {n["Index Name"] for n in found} == {"entry_versions_current"}
    assert sum(n["Actual Rows"] for n in found) <= 1_000


async def test_a_repetition_is_found_by_the_number_of_its_text(explained, crowded):
    async def same_texts(entries, space):
        async with entries.unit(space) as unit:
            await unit.same_texts(["bees and hens", "hens and bees"])

    found = reads(await plans_of(explained, crowded, same_texts), "entry_versions")
    assert kinds(found) == {("Index Scan", "entry_versions_normal")}
    assert "normal = ANY" in found[0]["Index Cond"]
