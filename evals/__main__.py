"""`make eval DATA=folder OUT=file.json [SUBSET=small]`."""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import orjson

from app.logs import configure_logging
from app.scoring.weights import WEIGHTS, ScoringWeights
from evals.ablation import Ablation, ablate, ablation_table
from evals.live import lines, measured
from evals.metrics import Tally
from evals.paired import paired, paired_json, paired_table
from evals.plan import Work, plan
from evals.progress import say
from evals.records import Corpus
from evals.report import as_json, table
from evals.run import measure
from evals.scripted import play_all
from evals.service import running
from evals.ties import ties
from evals.weighing import WEIGHT_SETS, Compared, compare, weight_sets, without_each

_LIVE = {"short_facts", "crd3_test", "irc_disentanglement"}
"""What the live part is measured on; it is left out of the small sample."""


def main() -> None:
    """Measure, print the table, write the file."""
    configure_logging("warning")  # the progress is to be seen
    options = _options(sys.argv[1:])
    started = time.perf_counter()
    try:
        work = plan(options.data, small=options.subset == "small")
    except ValueError as error:
        sys.exit(f"cannot read the data: {error}")
    for name in work.missing:
        say(f"skipped: {name} is not in the folder")
    if not (work.retrieval or any(task.within is None for task, _ in work.pairs)):
        sys.exit(f"no data set in {options.data}; evals/README.md says where they are")
    if options.ab is not None:
        _compare(options, work)
        return
    if options.ablation:
        _ablate(options, work)
        return
    figures = asyncio.run(_measured(work)).figures()
    chats = (
        measured(options.data) if options.subset is None and {p.name for p in options.data.iterdir()} >= _LIVE else {}
    )
    run = {
        "subset": options.subset or "all",
        "seconds": round(time.perf_counter() - started, 1),
        "skipped": list(work.missing),
    }
    written = {**as_json(figures, run), "_live": chats}
    options.out.write_bytes(orjson.dumps(written, option=orjson.OPT_INDENT_2) + b"\n")
    print(table(figures))
    print(lines(chats))
    say(f"done after {run['seconds']} s; written to {options.out.name}")


async def _measured(work: Work) -> Tally:
    async with running() as service:
        tally = await measure(service, work)
        for failed in await play_all(service, tally):
            say(f"scripted conversation: {failed}")
        return tally


def _ablate(options: argparse.Namespace, work: Work) -> None:
    """What each part gives, then what each signal gives."""
    found, signals = asyncio.run(_ablated(work))
    whole, *others = signals.values
    names = [name.name for name in fields(ScoringWeights)]
    weighed = {
        f"{key} without {name}": paired(whole[key], without[key])
        for name, without in zip(names, others, strict=True)
        for key in whole
    }
    as_read = {name: paired_json(found.differences(name)) for name in found.without}
    both = {"parts": as_read, "signals": paired_json(weighed)}
    options.out.write_bytes(orjson.dumps(both, option=orjson.OPT_INDENT_2) + b"\n")
    print(f"{ablation_table(found)}\n\n{paired_table(weighed, ('all five', 'without'))}")


async def _ablated(work: Work) -> tuple[Ablation, Compared]:
    async with running(resident_mb=0) as service:  # parts are taken out of what the database is asked
        found = await ablate(service, work)
        conversations = [corpus for task, corpora in work.retrieval if task.folder == "locomo" for corpus in corpora]
        return found, await compare(service, (WEIGHTS, *without_each(WEIGHTS)), conversations, tuple(ties()), say)


def _compare(options: argparse.Namespace, work: Work) -> None:
    """Two sets of weights: a table of the paired differences, and the same in the file."""
    try:
        sets = weight_sets(options.ab)
    except ValueError as error:
        sys.exit(str(error))
    conversations = [corpus for task, corpora in work.retrieval if task.folder == "locomo" for corpus in corpora]
    first, second = asyncio.run(_weighed(tuple(sets.values()), conversations)).values
    found = {key: paired(first[key], second[key]) for key in first}
    options.out.write_bytes(orjson.dumps(paired_json(found), option=orjson.OPT_INDENT_2) + b"\n")
    print(paired_table(found, WEIGHT_SETS))


async def _weighed(sets: Sequence[ScoringWeights], conversations: Sequence[Corpus]) -> Compared:
    async with running() as service:
        return await compare(service, sets, conversations, tuple(ties()), say)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make eval", description="Measure retrieval and prompts on public data.")
    parser.add_argument("--data", type=Path, required=True, help="folder with the data sets, one folder each")
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--subset", choices=("small",), help="a fixed sample that takes less than five minutes")
    parser.add_argument("--ab", type=Path, help="JSON file with two sets of weights, a and b, to compare instead")
    parser.add_argument("--ablation", action="store_true", help="measure without each part and each signal instead")
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        parser.error(f"DATA: no folder {options.data}")
    if options.out.is_dir():
        parser.error(f"OUT: {options.out} is a folder")
    if not options.out.resolve().parent.is_dir():
        parser.error(f"OUT: no folder {options.out.resolve().parent}")
    return options


if __name__ == "__main__":
    main()
