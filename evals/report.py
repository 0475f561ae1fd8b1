"""One table for people, one JSON object for programs."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evals.metrics import Figure
from evals.peers import PUBLISHED, Published


def table(figures: Mapping[str, Figure]) -> str:
    """A Markdown table of every figure."""
    peers: defaultdict[str, list[Published]] = defaultdict(list)
    for published in PUBLISHED:
        peers[published.key].append(published)
    lines = ["| figure | Ricordo | 95 % | items | plain BM25 | published |", "|---|---:|---|---:|---:|---|"]
    for key in _in_order(figures):
        figure = figures[key]
        interval = "" if figure.interval is None else "–".join(_number(end) for end in figure.interval)
        others = "; ".join(f"{one.name} {_number(one.value)}" for one in peers[key])
        cells = (f"`{key}`", _number(figure.value), interval, str(figure.items), _plain(figure), others)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _in_order(keys: Iterable[str]) -> list[str]:
    """By the first name, in the order in which those come; within one, totals before their parts."""
    listed = list(keys)
    firsts = list(dict.fromkeys(key.partition(".")[0] for key in listed))
    return sorted(listed, key=lambda key: (firsts.index(key.partition(".")[0]), key.count(".")))


def _plain(figure: Figure) -> str:
    return "" if figure.bm25 is None else _number(figure.bm25)


def _number(value: float | None) -> str:
    if value is None:
        return "none"
    return f"{value:.3f}" if abs(value) <= 1 else f"{value:,.1f}"


def as_json(figures: Mapping[str, Figure], run: Mapping[str, Any]) -> dict[str, Any]:
    """Every figure by its key, at the top; what else is known of it under names that start with `_`."""
    return {
        **{key: figure.value for key, figure in figures.items()},
        "_bm25": {key: figure.bm25 for key, figure in figures.items() if figure.bm25 is not None},
        "_interval_95": {key: figure.interval for key, figure in figures.items()},
        "_items": {key: figure.items for key, figure in figures.items()},
        "_published": _published(figures),
        "_run": dict(run),
    }


def _published(figures: Mapping[str, Figure]) -> Sequence[dict[str, Any]]:
    return [
        {
            "key": one.key,
            "name": one.name,
            "value": one.value,
            "protocol": one.protocol,
            "source": one.source,
        }
        for one in PUBLISHED
        if one.key in figures
    ]
