"""The client against the real service: every call, both ways of calling."""

import inspect
import re
from uuid import uuid4

import httpx
import pytest

from app.domain.callers import Role
from ricordo_client import (
    AsyncRicordo,
    ConflictError,
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
    Ricordo,
    UnauthenticatedError,
    calls,
)
from ricordo_client.exchange import Call
from tests.api.routes import routes_of

SPACE = "user:client"

NOT_IN_THE_CLIENT: set[str] = set()


@pytest.fixture
async def memory(app, tenant):
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with AsyncRicordo("http://test", tenant.key, timeout=60, transport=transport) as client:
        yield client


def called() -> set[str]:
    """The routes that the functions of `calls` ask for."""
    routes = set()
    for name, build in vars(calls).items():
        if name.startswith("_") or not inspect.isfunction(build) or build.__module__ != calls.__name__:
            continue
        ids = ["mem_0", "epi_0", "pro_0"] if "entry" in name else ["pro_0"]
        tiers = ["memories", "episodes", "procedures"] if "tier" in inspect.signature(build).parameters else [None]
        for item in ids:
            for tier in tiers:
                needed = [p.name for p in inspect.signature(build).parameters.values() if p.default is p.empty]
                given = {need: item if need == "id" else "x:y" for need in needed}
                call = build(**given, **({} if tier is None else {"tier": tier}))
                assert isinstance(call, Call)
                path = re.sub(r"(mem|epi|pro)_0", "{id}", call.path).replace("/x%3Ay", "/{space}")
                routes.add(f"{call.method} {path}")
    return routes


def test_the_client_has_every_route_of_the_service(app):
    there = {
        f"{method} {path.removeprefix('/api/v1').replace('{assembly_id}', '{id}')}"
        for method, path in routes_of(app)
        if path.startswith("/api/v1")
    }
    assert called() <= there
    assert there - called() == NOT_IN_THE_CLIENT & there


async def test_what_is_remembered_is_in_the_prompt(memory):
    written = await memory.remember(SPACE, "I live in Rome")
    moved = await memory.remember(SPACE, "I moved, I live in Turin now", tags=["home"])
    assert moved.superseded == [written.id]
    assembly = await memory.assemble(SPACE, "Which city do I live in?", trace=True, timeout=60)
    assert "Turin" in assembly.prompt
    assert assembly.failure is None
    assert assembly.entries is not None
    assert (await memory.assembly(assembly.id)).prompt == assembly.prompt


async def test_lists_are_walked_through_page_by_page(memory):
    texts = [f"I own the book number {n}" for n in range(120)]
    batch = await memory.add_all(SPACE, [{"text": text} for text in texts])
    assert {item.status for item in batch.items} == {201}
    assert [entry.text async for entry in memory.entries(SPACE)] == texts[::-1]
    assert [space.name async for space in memory.spaces()] == [SPACE]


async def test_an_entry_is_edited_undone_and_erased(memory):
    written = await memory.add_procedure(SPACE, "Ask about allergies first.", trigger="guests")
    edited = await memory.edit_entry(written.id, {"trigger": None}, if_version=1)
    assert (edited.version, edited.trigger) == (2, None)
    with pytest.raises(PreconditionFailedError):
        await memory.edit_entry(written.id, {"trigger": "x"}, if_version=1)
    assert (await memory.undo_entry(written.id)).trigger == "guests"
    assert (await memory.report_outcome(written.id, "success")).id == written.id
    assert [v.version async for v in memory.entry_versions(written.id)][-1] == 1
    assert (await memory.entry_sources(written.id)).items == []
    assert (await memory.erase_entry(written.id)).removed
    with pytest.raises(NotFoundError):
        await memory.entry(written.id)


async def test_a_repeated_write_happens_once(memory):
    key = uuid4().hex
    first = await memory.add_episode(SPACE, "We cooked.", idempotency_key=key)
    again = await memory.add_episode(SPACE, "We cooked.", idempotency_key=key)
    assert first.id == again.id
    with pytest.raises(ConflictError):
        await memory.add_episode(SPACE, "We danced.", idempotency_key=key)


async def test_what_was_said_is_read_corrected_and_taken_back(memory):
    turn = await memory.post_turn([{"text": "I play the cello."}], space=SPACE, session="s", reply="How nice!")
    assert (await memory.turn(turn.id)).messages[1].text == "How nice!"
    said = turn.messages[0].id
    assert (await memory.edit_message(said, "I play the viola.")).version == 2
    assert (await memory.recent("s", space=SPACE)).items[0].text == "I play the viola."
    assert [s.name async for s in memory.sessions(SPACE)] == ["s"]
    assert (await memory.session(turn.session)).messages == 2
    assert {m.role async for m in memory.messages(SPACE)} == {"user", "assistant"}
    assert (await memory.message(said)).version == 2
    assert (await memory.end_session("s", space=SPACE)).closed == 1
    assert [job.task async for job in memory.jobs(space=SPACE)]
    assert (await memory.delete_message(said)).messages == 1
    assert (await memory.delete_session(turn.session)).messages == 1


async def test_what_is_wrong_is_put_right_and_forgotten(memory):
    await memory.remember(SPACE, "I live in Rome")
    corrected = await memory.correct(SPACE, "I live in Turin, not in Rome.", scope="")
    assert corrected.told
    assert (await memory.correction(corrected.id)).outcome == corrected.outcome
    assert corrected.id in [one.id async for one in memory.corrections(SPACE)]
    with pytest.raises(NotFoundError):  # it asked nothing
        await memory.clarify(corrected.id, "everywhere")
    ids = [entry.id async for entry in memory.entries(SPACE)]
    assert (await memory.forget(SPACE, ids=ids)).outcome == "erased"
    assert [entry.id async for entry in memory.entries(SPACE)] == []


async def test_a_soul_is_written_and_erased(memory):
    block = await memory.add_soul_block("agent:a", "persona", "You are Ada.")
    assert (await memory.edit_soul_block(block.id, {"text": "You are Bea."})).version == 2
    assert [b.text async for b in memory.soul("agent:a")] == ["You are Bea."]
    assert (await memory.erase_soul_block(block.id)).removed


async def test_a_soul_is_ordered_and_goes_back(memory):
    first, second = [await memory.add_soul_block("agent:a", name, f"I am {name}.") for name in ("one", "two")]
    ordered = await memory.order_soul("agent:a", [second.id, first.id])
    assert [block.name for block in ordered.items] == ["two", "one"]
    edited = await memory.edit_soul_block(first.id, {"text": "I am another."})
    assert (await memory.soul_block(first.id)).text == "I am another."
    assert (await memory.restore_soul_block(first.id, 1, if_version=edited.version)).text == "I am one."
    assert [block.text async for block in memory.soul_block_versions(first.id)][-1] == "I am one."


async def test_a_record_is_made_changed_and_erased(memory):
    made = await memory.create_record(SPACE, "note", {"text": "I live in Turin"}, subjects=[SPACE])
    assert (made.version, made.claim and made.claim["value"]) == (1, "Turin")
    assert "Turin" in (await memory.assemble(SPACE, "Where do I live?", timeout=60)).prompt
    changed = await memory.change_record(made.id, {"status": "done"}, if_version=1)
    assert (changed.version, changed.status) == (2, "done")
    with pytest.raises(PreconditionFailedError):
        await memory.change_record(made.id, {"status": "open"}, if_version=1)
    assert (await memory.record(made.id)).status == "done"
    assert [one.version async for one in memory.record_versions(made.id)] == [2, 1]
    assert [one.id async for one in memory.records(SPACE, kind="note", status="done")] == [made.id]
    assert [one.id async for one in memory.records(SPACE, subject="user:other")] == []
    assert (await memory.erase_record(made.id)).removed == {"versions": 2}
    with pytest.raises(NotFoundError):
        await memory.record(made.id)


async def test_a_live_chat_is_planned_assembled_and_falls_back(memory, app):
    await memory.remember("viewer:chat:7", "I am allergic to peanuts")
    batch = [
        {"author": {"platform": "chat", "id": "7", "name": "Ana"}, "text": "Giulia, what do you know of my allergy?"},
        {"author": {"platform": "chat", "id": "9"}, "text": "lol"},
    ]
    plan = await memory.plan_live("stream:kitchen", batch, agents=["Giulia"])
    assert plan.viewers[0]["space"] == "viewer:chat:7"
    assembly = await memory.assemble_live("stream:kitchen", batch, agents=["Giulia"], trace=True, timeout=60)
    assert "peanuts" in assembly.prompt
    assert (assembly.plan or {})["sources"]
    with pytest.raises(InvalidInputError):
        await memory.assemble_live("user:no-stream", batch, timeout=60)
    transport = httpx.ASGITransport(app=app)
    async with AsyncRicordo("http://test", "rk_unknown", transport=transport) as unknown:
        answer = await unknown.assemble_live("stream:kitchen", batch, fallback="Be kind.")
    assert (answer.prompt, answer.degraded) == ("Be kind.", ["service"])


async def test_what_an_operator_does_is_there_too(memory):
    written = await memory.remember(SPACE, "I collect clocks", category="interest")
    assert (await memory.restore_entry(written.id)).status == "active"
    assert "I collect clocks" in (await memory.profile(SPACE, limit=5, scopes=["chat:x"])).text
    assert [one.text async for one in memory.view(SPACE, language="it")] == ["I collect clocks"]
    assert (await memory.consolidate(SPACE, dry_run=True)).entries == 1
    days = (await memory.history_settings()).days
    assert (await memory.set_history_days(90)).days == 90
    assert (await memory.set_history_days(None)).days == days
    assembly = await memory.assemble(SPACE, "What do I collect?", timeout=60)
    assert (await memory.replay(assembly.id)).identical
    turn = await memory.post_turn([{"text": "I row."}], space=SPACE, session="s", scope="chat:x")
    assert (turn.scope, (await memory.turn(turn.id)).scope) == ("chat:x", "chat:x")
    job = await anext(memory.jobs(space=SPACE))
    assert (await memory.job(job.id)).task == job.task
    assert (await memory.erase_space(SPACE, dry_run=True)).dry_run
    receipt = await memory.erase_space(SPACE)
    assert (await memory.receipt(receipt.id)).digest == receipt.digest
    assert (await memory.verify_receipt(receipt.id)).valid
    assert [entry.id async for entry in memory.entries(SPACE)] == []


async def test_refusals_are_exceptions(app, memory, tenant):
    with pytest.raises(InvalidInputError) as raised:
        await memory.remember("nowhere", "x")
    assert [error.field for error in raised.value.errors] == ["space"]
    token = await memory.issue_token(SPACE, "reader", minutes=5)
    transport = httpx.ASGITransport(app=app)
    async with AsyncRicordo("http://test", token.token, transport=transport) as limited:
        with pytest.raises(ForbiddenError):
            await limited.space("user:other")
        key = await limited.current_key()
        assert (key.role, key.spaces, key.expires_at) == ("reader", [SPACE], token.expires_at)
        assert (await limited.space(SPACE)).entries["memories"] == 0
    async with AsyncRicordo("http://test", "rk_unknown", transport=transport) as unknown:
        with pytest.raises(UnauthenticatedError):
            await unknown.search(SPACE)
    assert tenant.issue(Role.READER)


async def test_the_blocking_client_has_the_same_calls():
    for name in vars(calls):
        if not name.startswith("_") and inspect.isfunction(vars(calls)[name]) and hasattr(Ricordo, name):
            assert hasattr(AsyncRicordo, name)
    with Ricordo("http://127.0.0.1:1", "k") as client:
        assert inspect.signature(client.remember) == inspect.signature(calls.remember)
        assert (client.assemble.__doc__ or "").startswith("The system prompt")
