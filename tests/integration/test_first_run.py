"""What a stranger meets: the first start, the second, Ctrl-C, and one clear line for what can go wrong."""

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner

from app import cli
from app.sample import _fill
from app.store.migrate import migrate

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "examples" / "sample"
RICORDO = Path(sys.executable).with_name("ricordo")
CLOSED_PORT = 1
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def serve(folder: Path, *arguments: str, **settings: object) -> "subprocess.Popen[str]":
    """Start the service in a folder of its own."""
    variables = [f"RICORDO_{name.upper()}={value}" for name, value in settings.items()]
    return subprocess.Popen(
        ["env", *variables, RICORDO, "serve", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def printed_until(process: "subprocess.Popen[str]", words: str) -> str:
    lines: list[str] = []
    for line in process.stdout or ():
        lines.append(line)
        if words in line:
            break
    return "".join(lines)


def postgres_of(folder: Path) -> list[psutil.Process]:
    """The servers whose cluster lies in a folder."""
    return [
        process
        for process in psutil.process_iter(["name", "cwd"])
        if process.info["name"] == "postgres" and (process.info["cwd"] or "").startswith(str(folder))
    ]


@dataclass(frozen=True, slots=True)
class Start:
    """One start of the service, until it was stopped by a signal."""

    printed: str
    answer: str
    memories: int
    code: int
    complaints: str
    left: int


def start_and_stop(folder: Path, port: int, signum: signal.Signals) -> Start:
    process = serve(folder, "--sample", str(SAMPLE), port=port)
    printed = printed_until(process, "it is kept in")
    curl = printed[printed.index("  curl") : printed.index("Or see why")]
    answer = subprocess.run(["bash", "-c", curl], capture_output=True, text=True, check=True).stdout
    key = (folder / "data" / "api_key").read_text().strip()
    listed = httpx.get(
        f"http://127.0.0.1:{port}/api/v1/memories",
        params={"space": "user:ada", "limit": 200, "status": "any"},
        headers={"Authorization": f"Bearer {key}"},
    )
    process.send_signal(signum)
    _, complaints = process.communicate(timeout=60)
    return Start(printed, answer, len(listed.json()["items"]), process.returncode, complaints, len(postgres_of(folder)))


@pytest.fixture(scope="module")
def starts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Start, Start]:
    """The first start of a folder, stopped by Ctrl-C, and the second, stopped by SIGTERM."""
    folder = tmp_path_factory.mktemp("first")
    port = free_port()
    return folder, start_and_stop(folder, port, signal.SIGINT), start_and_stop(folder, port, signal.SIGTERM)


def test_the_prompt_has_the_five_sections_and_is_short(starts):
    _, first, _ = starts
    prompt = first.printed[first.printed.index("<identity>") : first.printed.index("Ask for it yourself")]
    assert re.findall(r"^<(\w+)>$", prompt, re.MULTILINE) == [
        "identity",
        "preferences",
        "relevant_facts",
        "recent_context",
        "workflows",
    ]
    assert len(prompt.splitlines()) < 40


def test_the_printed_line_asks_for_the_printed_prompt(starts):
    _, first, _ = starts
    prompt = json.loads(first.answer)["prompt"]
    assert all(line in first.printed.splitlines() for line in prompt.splitlines())


def test_the_sample_shows_what_a_newer_fact_replaced(starts):
    _, first, _ = starts
    reply = json.loads(first.answer)
    assert len(reply["conflicts"]) == 1
    assert "vegetarian" in reply["prompt"]
    assert "eats everything" not in reply["prompt"]


def test_the_key_is_kept_with_mode_0600_where_the_service_says(starts):
    folder, first, _ = starts
    [path] = re.findall(r"kept in (\S+) ", first.printed)
    assert (folder / path).stat().st_mode & 0o777 == 0o600


def test_a_second_start_fills_nothing_again(starts):
    _, first, second = starts
    assert first.memories == second.memories == len(json.loads((SAMPLE / "store.json").read_text())[-1]["entries"])


def test_a_signal_stops_all_that_was_started(starts):
    _, first, second = starts
    for start in (first, second):
        assert (start.code, start.left) == (0, 0)
        assert "Traceback" not in start.complaints


def test_ctrl_c_while_it_starts_leaves_nothing_running(tmp_path):
    process = serve(tmp_path, port=free_port())
    for line in process.stderr or ():
        if "postgres.initialised" in line:
            break
    process.send_signal(signal.SIGINT)
    printed, complaints = process.communicate(timeout=60)
    assert (process.returncode, printed, postgres_of(tmp_path)) == (0, "", [])
    assert "Traceback" not in complaints


# ---- One clear line for what can go wrong ----


DATABASES = ("without_vector", "without_roles", "of_another_model", "of_a_later_version")


@pytest.fixture(scope="module")
def databases(database_url: str) -> Iterator[dict[str, str]]:
    """Databases that the service cannot start with, by what is wrong with them."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("CREATE ROLE stranger LOGIN")
        for name in DATABASES:
            connection.execute(f"CREATE DATABASE {name} OWNER stranger")
    urls = {name: make_conninfo(database_url, dbname=name) for name in DATABASES}
    with psycopg.connect(urls["without_roles"]) as connection:
        connection.execute("CREATE EXTENSION vector")
    for name in ("of_another_model", "of_a_later_version"):
        migrate(urls[name])
    with psycopg.connect(urls["of_another_model"]) as connection:
        connection.execute(
            "INSERT INTO embedding_models (name, dimensions, mean, question_shift, is_current, created_at)"
            " VALUES ('other/model', 2, '[0,1]', '[0,1]', TRUE, now())"
        )
    with psycopg.connect(urls["of_a_later_version"]) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    for name in ("without_vector", "without_roles"):
        urls[name] = make_conninfo(urls[name], user="stranger")
    yield {**urls, "fine": database_url, "missing": make_conninfo(database_url, dbname="nowhere")}
    with psycopg.connect(database_url, autocommit=True) as connection:
        for name in DATABASES:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
        connection.execute("DROP ROLE stranger")


PROCESSES = {
    "a taken port": ({"port": "{taken}"}, "cannot listen on 127.0.0.1:"),
    "a database that does not answer": (
        {"database_url": f"postgresql://u@127.0.0.1:{CLOSED_PORT}/d"},
        "cannot connect to the database: .*refused",
    ),
}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str, list[psutil.Process]]]:
    """How each process ends: its exit code, what it said, and the servers that were left."""
    root = tmp_path_factory.mktemp("troubles")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        known = {"{taken}": listener.getsockname()[1]}
        running = {
            name: serve(root, **{"port": free_port(), **{k: known.get(v, v) for k, v in settings.items()}})
            for name, (settings, _) in PROCESSES.items()
        }
        said = {name: process.communicate(timeout=120)[1] for name, process in running.items()}
    return {name: (process.returncode, said[name], postgres_of(root)) for name, process in running.items()}


@pytest.mark.parametrize("trouble", PROCESSES)
def test_trouble_ends_the_process_with_one_clear_line(trouble, ended):
    code, said, left = ended[trouble]
    assert (code, left) == (1, [])
    assert_one_line(said, PROCESSES[trouble][1])


TROUBLES = {
    "a data folder that is a file": ("migrate", {"data_dir": __file__}, 1, "cannot use the data folder"),
    "a data folder that cannot be made": ("migrate", {"data_dir": "/proc/nowhere"}, 1, "cannot use the data folder"),
    "a database that does not exist": ("migrate", {"database_url": "{missing}"}, 1, 'to the database: .*"nowhere"'),
    "a database without pgvector": ("migrate", {"database_url": "{without_vector}"}, 1, 'create extension "vector"'),
    "a user who may not create roles": ("migrate", {"database_url": "{without_roles}"}, 1, "permission denied.*role"),
    "a URL that is none": ("migrate", {"database_url": "postgres:/u:secret@h"}, 1, "RICORDO_DATABASE_URL is no"),
    "a value that is none": ("migrate", {"port": "many"}, 2, "RICORDO_PORT: "),
    "an unknown variable": ("migrate", {"prot": "1"}, 2, "RICORDO_PROT is no setting.*; RICORDO_PORT is one"),
    "an address of another machine": ("serve", {"host": "203.0.113.1"}, 1, "cannot listen on 203.0.113.1:"),
    "a store of another model": ("serve", {"database_url": "{of_another_model}"}, 1, "was filled by other/model"),
    "a store of a later version": ("migrate", {"database_url": "{of_a_later_version}"}, 1, "schema .*does not know"),
    "a short key": ("serve", {"database_url": "{fine}", "api_key": "short"}, 1, "RICORDO_API_KEY must have at least"),
    "a key that cannot be kept": (
        "serve",
        {"database_url": "{fine}", "data_dir": "/proc/nowhere"},
        1,
        "cannot keep the first key in /proc/nowhere",
    ),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_trouble_is_told_in_one_clear_line(trouble, databases, tmp_path):
    command, settings, code, message = TROUBLES[trouble]
    known = {f"{{{name}}}": url for name, url in databases.items()}
    variables = {"port": str(free_port()), "data_dir": str(tmp_path)} | {
        k: known.get(v, v) for k, v in settings.items()
    }
    result = CliRunner().invoke(cli.app, [command], env={f"RICORDO_{k.upper()}": v for k, v in variables.items()})
    assert result.exit_code == code
    assert isinstance(result.exception, SystemExit)
    assert_one_line(result.stderr, message)


def assert_one_line(said: str, message: str) -> None:
    lines = [line for line in said.splitlines() if not line.startswith("{")]
    assert len(lines) == 1, said
    assert re.match(f"ricordo: .*{message}", lines[0])
    assert "secret" not in said


def test_a_user_who_may_create_no_roles_can_be_given_the_serving_role(databases, database_url, runtime):
    with psycopg.connect(database_url) as connection:
        connection.execute("GRANT ricordo_serving TO stranger")
    migrate(databases["without_roles"])


# ---- The sample store ----


@pytest.fixture
def store() -> list[dict]:
    return json.loads((SAMPLE / "store.json").read_text(encoding="utf-8"))


async def _counts(client: httpx.AsyncClient, store: list[dict]) -> list[int]:
    counts = []
    for batch in store:
        query = {"space": batch["space"]} | ({} if batch["resource"] == "soul" else {"limit": 200, "status": "any"})
        counts.append(len((await client.get(f"/{batch['resource']}", params=query)).json()["items"]))
    return counts


async def test_a_filling_that_was_cut_short_is_made_good(client, store):
    soul, procedures, *_ = store
    cut = [{**soul, "entries": soul["entries"][:1]}, procedures]
    await _fill(client, cut, NOW)
    await _fill(client, store, NOW)
    assert await _counts(client, store) == [len(batch["entries"]) for batch in store]


async def test_what_was_erased_of_the_sample_does_not_come_back(client, store):
    await _fill(client, store, NOW)
    block = (await client.get("/soul", params={"space": store[0]["space"]})).json()["items"][0]
    episode = (await client.get("/episodes", params={"space": "user:ada", "limit": 1})).json()["items"][0]
    await client.delete(f"/soul/{block['id']}")
    await client.delete(f"/episodes/{episode['id']}")
    before = await _counts(client, store)
    await _fill(client, store, NOW)
    assert await _counts(client, store) == before
