"""`ricordo doctor` finds each thing that is broken, and says what to do."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from contextlib import asynccontextmanager
from types import SimpleNamespace
from uuid import uuid4

import psycopg
import pytest

from app import doctor
from app.doctor import examine
from app.main import create_app
from app.settings import Settings
from app.store.migrate import migrate
from tests.integration.stores import create_database
from tests.serving import served


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def fresh(database_url):
    """A database of its own, with the schema."""
    url = create_database(database_url, f"doctor_{uuid4().hex[:8]}")
    migrate(url)
    return url


@pytest.fixture
def settings_of(tmp_path):
    def settings(url=None, **given) -> Settings:
        return Settings.model_validate({"database_url": url, "data_dir": tmp_path, "port": free_port(), **given})

    return settings


async def found(settings) -> dict[str, doctor.Finding]:
    return {one.part: one for one in await examine(settings)}


def broken(url, *statements) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


async def test_a_sound_store_has_nothing_wrong(fresh, settings_of):
    looked = await found(settings_of(fresh))
    assert list(looked) == [
        "database", "extension", "schema", "role", "indexes", "statistics", "queue", "embedder", "disk", "port",
    ]  # fmt: skip
    states = {part: one.state for part, one in looked.items()}
    assert states | {"disk": "ok"} == dict.fromkeys(looked, "ok"), [one.line() for one in looked.values()]


@pytest.mark.parametrize(
    ("statement", "part", "said", "todo"),
    [
        ("DROP EXTENSION vector CASCADE", "extension", "not installed", "CREATE EXTENSION vector"),
        ("UPDATE alembic_version SET version_num = '0001'", "schema", "it is at 0001", "ricordo migrate"),
        ("UPDATE alembic_version SET version_num = '9999'", "schema", "it is at 9999", "newer Ricordo"),
        ("DROP TABLE alembic_version", "schema", "no schema", "ricordo migrate"),
        ("ALTER TABLE memory_evidence DISABLE ROW LEVEL SECURITY", "role", "memory_evidence", "ENABLE ROW LEVEL"),
        (
            "UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = 'entry_versions_pkey'::regclass",
            "indexes", "not valid: entry_versions_pkey", "REINDEX",
        ),
        (
            ("INSERT INTO embedding_models (name, dimensions, mean, question_shift, is_current, created_at)"
             " SELECT 'other', 3, '[1,0,0]', '[0,0,0]', TRUE, now()"),
            "embedder", "the store was filled with other", "ricordo reembed",
        ),
        ("DROP SCHEMA queue CASCADE", "queue", "queue", "mend"),
    ],
)  # fmt: skip
async def test_what_is_broken_in_the_store_is_found(fresh, settings_of, *, statement, part, said, todo):
    broken(fresh, statement)
    one = (await found(settings_of(fresh)))[part]
    assert one.state == "fail"
    assert said in one.said
    assert todo in one.todo


async def test_a_missing_index_is_named(fresh, settings_of):
    with psycopg.connect(fresh) as connection:
        (name,) = connection.execute(
            "SELECT indexname FROM pg_indexes WHERE schemaname = 'public' AND indexname NOT LIKE '%pkey'"
            " AND indexdef LIKE 'CREATE INDEX%' ORDER BY 1 LIMIT 1"
        ).fetchone()
    broken(fresh, f"DROP INDEX {name}")
    one = (await found(settings_of(fresh)))["indexes"]
    assert (one.state, one.said) == ("fail", f"missing: {name}")


async def test_statistics_that_are_out_of_date_are_a_warning(fresh, settings_of):
    broken(
        fresh,
        "ALTER TABLE queue.procrastinate_jobs SET (autovacuum_enabled = FALSE)",
        "SET search_path TO public, queue",
        "INSERT INTO queue.procrastinate_jobs (queue_name, task_name, status)"
        " SELECT 'q', 't', 'succeeded' FROM generate_series(1, 10001)",
    )
    for _ in range(100):  # what was counted is told within a second
        one = (await found(settings_of(fresh)))["statistics"]
        if one.state != "ok":
            break
    assert (one.state, one.said) == ("warn", "out of date: procrastinate_jobs")
    assert "ANALYZE" in one.todo
    broken(fresh, "ANALYZE queue.procrastinate_jobs")
    assert (await found(settings_of(fresh)))["statistics"].state == "ok"


async def test_work_that_nobody_does_is_found(fresh, settings_of):
    job = "INSERT INTO queue.procrastinate_jobs (queue_name, task_name, status, args) VALUES ('q', 't', '{}', '{{}}')"
    job = f"SET search_path TO public, queue; {job}"
    broken(fresh, job.format("failed"))
    looked = (await found(settings_of(fresh)))["queue"]
    assert (looked.state, "1 failed" in looked.said, "retry" in looked.todo) == ("warn", True, True)
    broken(fresh, job.format("todo"))
    looked = (await found(settings_of(fresh)))["queue"]
    assert (looked.state, "no worker lives" in looked.said) == ("fail", True)


async def test_a_job_whose_worker_died_is_found(fresh, settings_of):
    broken(
        fresh,
        "SET search_path TO public, queue",
        "INSERT INTO queue.procrastinate_workers (last_heartbeat) VALUES (now() - interval '1 hour'), (now())",
        "INSERT INTO queue.procrastinate_jobs (queue_name, task_name, status, worker_id)"
        " SELECT 'q', 't', 'doing', min(id) FROM queue.procrastinate_workers",
    )
    looked = (await found(settings_of(fresh)))["queue"]
    assert (looked.state, "ricordo worker" in looked.todo) == ("warn", True)


async def test_a_database_that_does_not_answer(settings_of):
    looked = await found(settings_of("postgresql://nobody@127.0.0.1:1/none"))
    assert (looked["database"].state, "RICORDO_DATABASE_URL" in looked["database"].todo) == ("fail", True)
    assert looked["embedder"].state == "ok"
    assert (await found(settings_of("no url")))["database"].state == "fail"


async def test_before_the_first_start_nothing_is_made(settings_of, tmp_path):
    looked = await found(settings_of())
    assert (looked["database"].state, "ricordo serve" in looked["database"].todo) == ("warn", True)
    assert list(tmp_path.iterdir()) == []


async def test_an_embedder_that_does_not_load(settings_of):
    looked = await found(settings_of(embedder="http", embedder_url="http://127.0.0.1:1/v1/embeddings"))
    assert looked["embedder"].state == "fail"
    assert looked["embedder"].todo


@asynccontextmanager
async def answering(status: int):
    """A program that answers everything with a status, and is not Ricordo."""
    reply = f"HTTP/1.1 {status} x\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}".encode()

    async def serve(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


@pytest.mark.parametrize(("status", "state"), [(200, "ok"), (401, "fail"), (404, "ok"), (500, "fail")])
async def test_a_model_server_is_asked(settings_of, status, state):
    async with answering(status) as port:
        url = f"http://127.0.0.1:{port}/v1"
        looked = await found(settings_of(llm_url=url, llm_model="any", upstream_url=url))
    assert looked["llm"].state == state
    assert looked["upstream"].state == ("ok" if status == 401 else state)  # the caller's key is not ours to give


async def test_servers_that_are_not_there(settings_of):
    nowhere = "http://127.0.0.1:1/v1"
    looked = await found(
        settings_of(llm_url=nowhere, llm_model="any", upstream_url=nowhere, redis_url="redis://127.0.0.1:1/0")
    )
    assert {part: looked[part].state for part in ("llm", "upstream", "redis")} == dict.fromkeys(
        ("llm", "upstream", "redis"), "fail"
    )
    assert (await found(settings_of(llm_url=nowhere)))["llm"].todo.startswith("set RICORDO_LLM_MODEL")
    assert (await found(settings_of(redis_url="nonsense")))["redis"].state == "fail"


async def test_a_port_that_is_another_programs(settings_of):
    async with answering(200) as port:
        looked = await found(settings_of(port=port))
    assert (looked["port"].state, "RICORDO_PORT" in looked["port"].todo) == ("fail", True)


async def test_a_service_that_runs_is_seen(settings_of, runtime):
    async with served(create_app(runtime)) as url:
        looked = await found(settings_of(port=int(url.rpartition(":")[2])))
    assert looked["port"].said.startswith("version ")
    assert looked["port"].state in {"ok", "warn"}  # the queue of other tests is not ours


@pytest.mark.parametrize(("free", "state"), [(1 << 20, "fail"), (2 << 30, "warn"), (100 << 30, "ok")])
async def test_a_disk_that_is_nearly_full(settings_of, monkeypatch, free, state):
    monkeypatch.setattr("app.doctor.shutil.disk_usage", lambda _: SimpleNamespace(free=free))
    assert doctor._disk(settings_of()).state == state


async def test_a_key_that_others_can_read(settings_of, tmp_path):
    path = tmp_path / "api_key"
    path.write_text("rk_x")
    for mode, state in ((0o644, "fail"), (0o600, "ok")):
        path.chmod(mode)
        (one,) = doctor._key(settings_of())
        assert one.state == state
        assert "rk_x" not in one.line()


def test_the_command_ends_with_one_on_a_failure_and_speaks_json(fresh, tmp_path):
    def run(*options, **given):
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path), **given}
        own = {"RICORDO_DATA_DIR": str(tmp_path), "RICORDO_PORT": str(free_port())}
        command = [sys.executable, "-m", "app.cli", "doctor", *options]
        return subprocess.run(command, env={**environment, **own}, capture_output=True, text=True, check=False)

    sound = run(RICORDO_DATABASE_URL=fresh)
    assert sound.returncode == 0, sound.stdout + sound.stderr
    assert sound.stdout.startswith("ok   database    Postgres ")
    broken(fresh, "UPDATE alembic_version SET version_num = '0001'")
    told = run("--json", RICORDO_DATABASE_URL=fresh)
    assert told.returncode == 1
    listed = {one["part"]: one for one in json.loads(told.stdout)}
    assert listed["schema"] == {
        "part": "schema", "state": "fail", "said": listed["schema"]["said"], "todo": "`ricordo migrate`",
    }  # fmt: skip
