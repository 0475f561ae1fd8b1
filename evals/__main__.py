"""`make eval DATA=folder OUT=file.json [SUBSET=small]`."""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import orjson

from app.logs import configure_logging
from evals.metrics import Tally
from evals.plan import Work, plan
from evals.progress import say
from evals.report import as_json, table
from evals.run import measure
from evals.scripted import play_all
from evals.service import running


def main() -> None:
    """Measure, print the table, write the file."""
    configure_logging()
    options = _options(sys.argv[1:])
    started = time.perf_counter()
    try:
        work = plan(options.data, small=options.subset == "small")
    except ValueError as error:
        sys.exit(f"cannot read the data: {error}")
    for name in work.missing:
        say(f"skipped: {name} is not in the folder")
    if not (work.retrieval or work.pairs):
        sys.exit(f"no data set in {options.data}; evals/README.md says where they are")
    figures = asyncio.run(_measured(work)).figures()
    run = {
        "subset": options.subset or "all",
        "seconds": round(time.perf_counter() - started, 1),
        "skipped": list(work.missing),
    }
    options.out.write_bytes(orjson.dumps(as_json(figures, run), option=orjson.OPT_INDENT_2) + b"\n")
    print(table(figures))
    say(f"done after {run['seconds']} s; written to {options.out.name}")


async def _measured(work: Work) -> Tally:
    async with running() as service:
        tally = await measure(service, work)
        for failed in await play_all(service, tally):
            say(f"scripted conversation: {failed}")
        return tally


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make eval", description="Measure retrieval and prompts on public data.")
    parser.add_argument("--data", type=Path, required=True, help="folder with the data sets, one folder each")
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--subset", choices=("small",), help="a fixed sample that takes less than five minutes")
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
