"""`torch-tb-profiler ingest`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from torch_tb_profiler.cli.messages import UserError, safe
from torch_tb_profiler.defaults import DIRECTORY_VARIABLE, declare_cache_dir

if TYPE_CHECKING:
    from torch_tb_profiler.ingest.ingest import Ingested
    from torch_tb_profiler.ingest.results import RunOutcome
    from torch_tb_profiler.ingest.runner import Runner
    from torch_tb_profiler.ranks.run.answers import RunTiles
    from torch_tb_profiler.ranks.run.group_answers import MissingCollective
    from torch_tb_profiler.workspace.cache.shared_cache import CatalogSkipped


#: of files and notes that are listed
_MOST = 20


class IngestCommand:
    """Read every rank of a job, on this machine or on a Dask cluster, and summarize all ranks together.

    Results are kept in the cache, which may be a folder or an object store that others read, too.
    Ranks that are already in it are not read again.
    """

    name = "ingest"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("logdir", metavar="LOGDIR", help="directory with traces, at any depth")
        declare_cache_dir(parser, "; a directory becomes such a place")
        parser.add_argument(
            "--scheduler",
            metavar="ADDRESS",
            help="address of a Dask scheduler, such as tcp://127.0.0.1:8786 (needs the extra `dask`)",
        )
        parser.add_argument(
            "--scheduler-file", metavar="FILE", help="file to which the scheduler has written its address"
        )
        parser.add_argument(
            "--scheduler-lost",
            choices=("local", "stop"),
            default="local",
            help="if the scheduler is lost: read the rest on this machine, or stop (default: %(default)s)",
        )
        parser.add_argument(
            "--workers",
            type=int,
            metavar="N",
            help="processes on this machine (default: as many as processors and memory allow)",
        )
        parser.add_argument("--json", action="store_true", help="end with a line of JSON for each run and span")
        parser.epilog = "Example:\n  torch-tb-profiler ingest LOGDIR --cache-dir DIR"

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.cli.work.progress import IngestMeter
        from torch_tb_profiler.ingest.ingest import Readers, ingest
        from torch_tb_profiler.ingest.runner import IngestRefused
        from torch_tb_profiler.storage import StorageError, storage_for
        from torch_tb_profiler.workspace import process

        if arguments.workers is not None and arguments.workers < 1:
            raise UserError("--workers must be 1 or more")
        if arguments.scheduler and arguments.scheduler_file:
            raise UserError("--scheduler and --scheduler-file exclude each other: use one of them")
        process.configure_logging()
        meter = IngestMeter(sys.stderr)
        try:
            storage_for(arguments.logdir).require(arguments.logdir)
            ingested = ingest(
                arguments.logdir,
                arguments.cache_dir or os.environ.get(DIRECTORY_VARIABLE, ""),
                Readers(_cluster(arguments, meter.say), arguments.workers, arguments.scheduler_lost == "stop"),
                meter,
                with_clock=arguments.json,
            )
        except (IngestRefused, StorageError) as error:
            meter.end()
            raise UserError(str(error)) from None
        meter.end()
        for run in ingested.runs:
            print(as_json(run) if arguments.json else run_text(run))
        if not arguments.json:
            print(safe(_last(ingested)))
        if not ingested.ranks:
            raise UserError("no rank could be read")


def _cluster(arguments: argparse.Namespace, say: Callable[[str], None]) -> Callable[[], Runner] | None:
    """Return a function that connects to the named cluster; None if none is named. Raises UserError."""
    address = arguments.scheduler
    if arguments.scheduler_file:
        try:
            with Path(arguments.scheduler_file).open(encoding="utf-8") as file:
                address = str(json.load(file)["address"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(f"{arguments.scheduler_file} has no address of a scheduler: {error}") from None
    if not address:
        return None

    def connect() -> Runner:
        from torch_tb_profiler.ingest.cluster import ClusterRunner  # needs an extra

        return ClusterRunner(address, say)

    return connect


def as_json(run: RunOutcome) -> str:
    """Return the result as one line of JSON, the same for every way of reading the ranks."""
    import msgspec

    from torch_tb_profiler.arrays.types import dumps

    result = {
        "run": run.run,
        "span": run.span,
        "read": run.ranks,
        "failed": [{"file": each.file, "reason": each.text} for each in run.failed],
        "skipped": [{"file": each.file, "reason": each.text} for each in run.skipped],
        "notes": [] if run.result is None else [note.text for note in run.result.overview.notes],
        "ranks": run.summary(),
    }
    return dumps(msgspec.to_builtins(result)).decode()


def _last(ingested: Ingested) -> str:
    there = f", {ingested.there} of them read before" if ingested.there else ""
    lost = f"; {ingested.failed} could not be read" if ingested.failed else ""
    return f"{ingested.ranks} ranks are in {ingested.place}{there}{lost}"


def run_text(run: RunOutcome) -> str:
    """Describe the result of a run in a line for each thing to know, stragglers first."""
    from torch_tb_profiler.ranks.stragglers.cost import milliseconds, straggler_lines

    lines = [f"{run.run}, span {run.span}" if run.span != "default" else run.run]
    if run.result is not None:
        overview = run.result.overview
        lines += _tiles(overview.tiles)
        lines += [f"  {word:<10} {text}" for word, text in straggler_lines(overview.stragglers)] or [
            "  slow       no rank is clearly slow"
        ]
        lines += [
            f"  slow link  {link.group} ({', '.join(link.hosts)}): {milliseconds(link.extra_ns)} a step more, "
            f"× {link.ratio:.2f}"
            for link in overview.slow_links
        ]
        lines += _listed("missing", [_missing_text(each) for each in overview.missing])
        lines += _listed("note", [note.text for note in overview.notes])
    lines += _listed("failed", _files(run.failed))
    lines += _listed("skipped", _files(run.skipped))
    return "\n".join(map(safe, lines))


def _tiles(tiles: RunTiles) -> list[str]:
    from torch_tb_profiler.ranks.stragglers.cost import milliseconds

    expected = "" if tiles.expected is None else f" of {tiles.expected:,}"
    lines = [f"  ranks      {tiles.present:,}{expected}"]
    times = [
        (f"step {milliseconds(tiles.step_ns)}", tiles.step_ns),
        (f"exposed wait {milliseconds(tiles.exposed_wait_ns)}", tiles.exposed_wait_ns),
        (f"exposed transfer {milliseconds(tiles.exposed_transfer_ns)}", tiles.exposed_transfer_ns),
        (f"lost to slow ranks {milliseconds(tiles.lost_ns)}", tiles.lost_ns),
    ]
    known = [text for text, value in times if value is not None]
    return [*lines, f"  per step   {', '.join(known)}"] if known else lines


def _missing_text(missing: MissingCollective) -> str:
    number = "" if missing.sequence is None else f" number {missing.sequence}"
    step = "" if missing.step is None else f", step {missing.step}"
    ranks = ", ".join("?" if rank is None else str(rank) for rank in missing.ranks)
    doubt = "" if missing.exact else "; one of several equal ones"
    stops = "; nothing follows in the group: it may hang there" if missing.stops else ""
    return f"{missing.name}{number} of {missing.group}{step}: not on rank {ranks}{doubt}{stops}"


def _files(files: Sequence[CatalogSkipped]) -> list[str]:
    return [f"{each.file} {each.text}" for each in files]


def _listed(what: str, texts: Sequence[str]) -> list[str]:
    lines = [f"  {what:<10} {text}" for text in texts[:_MOST]]
    return [*lines, f"  {what:<10} and {len(texts) - _MOST} more"] if len(texts) > _MOST else lines
