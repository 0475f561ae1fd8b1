"""What a run found: as a Markdown table, and as a line of results.jsonl."""

import platform
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import orjson
import psutil

from loadtests.service import Memory

_RESULTS = Path(__file__).parent / "results.jsonl"


@dataclass(slots=True)
class Row:
    """One space: latencies of one client in ms, stages in ms, requests a second by number of clients."""

    size: int
    p50_ms: float
    p95_ms: float
    p99_ms: float
    stages_ms: dict[str, float]
    prompt_tokens: int
    per_second: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StubRow:
    """One space of 1,024 dimensions behind an embedder that takes 40 ms."""

    size: int
    p50_ms: float
    p95_ms: float
    p99_ms: float


@dataclass(slots=True)
class Report:
    """A run.

    Attributes:
        crowd: Entries of other spaces beside.
        floor_ms: Median of a request that does nothing.
        empty_ms: Median of an assembly from an empty space.
    """

    crowd: int
    cold_start_s: float
    warm_start_s: float
    first_request_ms: float
    floor_ms: float = 0.0
    empty_ms: float = 0.0
    rows: list[Row] = field(default_factory=list)
    stub: list[StubRow] = field(default_factory=list)
    memory: Mapping[str, Memory] = field(default_factory=dict)


def table(report: Report) -> str:
    """Markdown."""
    clients = sorted({n for row in report.rows for n in row.per_second})
    stages = [name for name in (report.rows[0].stages_ms if report.rows else {}) if name != "total"]
    parts = [
        _markdown(
            ["memories", "p50 ms", "p95 ms", "p99 ms", *(f"req/s at {n}" for n in clients), "× floor", "prompt tokens"],
            (
                [
                    f"{row.size:,}",
                    *(f"{ms:.1f}" for ms in (row.p50_ms, row.p95_ms, row.p99_ms)),
                    *(f"{row.per_second[n]:.0f}" for n in clients),
                    f"{row.p50_ms / report.floor_ms:.0f}",
                    str(row.prompt_tokens),
                ]
                for row in report.rows
            ),
        ),
        _markdown(
            ["ms per stage", *stages, "HTTP and the rest"],
            (
                [
                    f"{row.size:,}",
                    *(f"{row.stages_ms[name]:.2f}" for name in stages),
                    f"{row.p50_ms - row.stages_ms['total']:.2f}",
                ]
                for row in report.rows
            ),
        ),
    ]
    if report.stub:
        parts.append(
            _markdown(
                ["1,024 dimensions, embedder of 40 ms", "p50 ms", "p95 ms", "p99 ms"],
                (
                    [f"{row.size:,}", *(f"{ms:.1f}" for ms in (row.p50_ms, row.p95_ms, row.p99_ms))]
                    for row in report.stub
                ),
            )
        )
    parts += [
        _markdown(
            ["memory, MiB", "processes", "RSS", "PSS"],
            ([name, str(m.processes), f"{m.rss_mib:.0f}", f"{m.pss_mib:.0f}"] for name, m in report.memory.items()),
        ),
        _remarks(report),
    ]
    return "\n\n".join(parts)


def _remarks(report: Report) -> str:
    return (
        f"{report.crowd:,} entries of other spaces beside. Ready after {report.cold_start_s:.1f} s the first time, "
        f"{report.warm_start_s:.1f} s with a filled store; the first request then took "
        f"{report.first_request_ms:.0f} ms. A request that does nothing takes {report.floor_ms:.2f} ms, "
        f"an assembly from an empty space {report.empty_ms:.2f} ms."
    )


def append(report: Report) -> None:
    """Add a line to results.jsonl."""
    line = {"at": datetime.now(UTC), "commit": _commit(), "hardware": _hardware(), **asdict(report)}  # noqa: TID251
    with _RESULTS.open("ab") as results:
        results.write(orjson.dumps(line, option=orjson.OPT_NON_STR_KEYS) + b"\n")


def _markdown(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---:"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _commit() -> str:
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=_RESULTS.parent, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def _hardware() -> str:
    memory_gib = psutil.virtual_memory().total / (1 << 30)
    return f"{platform.machine()}, {psutil.cpu_count()} cores, {memory_gib:.0f} GiB, Python {platform.python_version()}"
