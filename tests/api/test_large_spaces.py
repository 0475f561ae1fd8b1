"""What is asked of a large space costs no more than a page."""

import psycopg

from app.domain.spaces import SpaceKey
from app.store.keys import tenant_id_of

ITEMS = 20_000

FILL = """
INSERT INTO entry_versions (
    tenant_id, space_id, id, version, text_version, sequence, tier, status, text, tags, scope, claim_derived,
    participants, recorded_at, first_recorded_at, last_confirmed_at, unresolved, reason, terms, term_count)
SELECT %(tenant)s, %(space)s, gen_random_uuid(), 1, 1, n, 'memories', 'active', 'Fact ' || n, '{}', '', FALSE,
       '{}', now(), now(), now(), FALSE, 'created', '{}', 2
  FROM generate_series(1, %(items)s) AS n
"""


async def test_statistics_and_lists_of_a_large_space_stay_bounded(client, tenant, database_url):
    """ops-03: counts are kept, never counted, and a list is a page, however many items there are."""
    await client.post("/memories", json={"space": "user:big", "text": "The first fact."})
    space = SpaceKey(tenant_id_of(tenant.name), "user:big")
    with psycopg.connect(database_url) as connection:
        connection.execute(FILL, {"tenant": space.tenant_id, "space": space.space_id, "items": ITEMS})
        connection.execute(
            "UPDATE tier_statistics SET documents = 1000000 WHERE space_id = %s AND tier = 'memories'", [space.space_id]
        )
    summary = (await client.get("/spaces/user:big")).json()
    page = await client.get("/memories", params={"space": "user:big", "limit": 200})
    assert 1_000_000 in summary["entries"].values()  # as it was kept: nobody read the entries
    assert len(page.json()["items"]) == 200
    assert (await client.get("/memories", params={"space": "user:big", "limit": 201})).status_code == 422
