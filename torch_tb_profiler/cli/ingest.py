"""`torch-tb-profiler ingest`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from typing import Any

import msgspec

from torch_tb_profiler.cli.cache_dir import declare_cache_dir
from torch_tb_profiler.cli.errors import UserError
from torch_tb_profiler.cli.ingest_table import table_of
from torch_tb_profiler.cli.meter import Meter
from torch_tb_profiler.ingest.ingest import Ingested, ingest
from torch_tb_profiler.ingest.runner import CannotBegin, Runner
from torch_tb_profiler.ingest.together import RunOutcome
from torch_tb_profiler.storage import StorageError, storage_for
from torch_tb_profiler.web.http import dumps
from torch_tb_profiler.workspace import logs
from torch_tb_profiler.workspace.cache import DIRECTORY_VARIABLE


class Ingest:
    """Read every rank of a job, on this machine or on a Dask cluster, and say what the ranks say together.

    What was read is kept in the cache, which may be a folder or an object store that others read, too
    (docs/many-ranks.md). Ranks that are in it already are not read again.
    """

    name = "ingest"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("logdir", metavar="LOGDIR", help="directory with traces, at any depth")
        declare_cache_dir(parser, ", and is made one")
        parser.add_argument(
            "--scheduler",
            metavar="ADDRESS",
            help="of a Dask cluster, such as tcp://127.0.0.1:8786 (needs the extra `dask`)",
        )
        parser.add_argument("--scheduler-file", metavar="FILE", help="where the scheduler has written its address")
        parser.add_argument(
            "--scheduler-lost",
            choices=("local", "stop"),
            default="local",
            help="when the scheduler goes away: read the rest on this machine, or stop (default: %(default)s)",
        )
        parser.add_argument(
            "--workers",
            type=int,
            metavar="N",
            help="processes of this machine (default: as many as processors and memory allow)",
        )
        parser.add_argument("--json", action="store_true", help="end with a line of JSON for each run and span")

    def run(self, arguments: argparse.Namespace) -> None:
        if arguments.workers is not None and arguments.workers < 1:
            raise UserError("--workers must be 1 or more", exit_code=2)
        if arguments.scheduler and arguments.scheduler_file:
            raise UserError("--scheduler and --scheduler-file say the same thing: give one", exit_code=2)
        logs.configure()
        meter = Meter(sys.stderr)
        try:
            storage_for(arguments.logdir).require(arguments.logdir)
            found = ingest(
                arguments.logdir,
                arguments.cache_dir or os.environ.get(DIRECTORY_VARIABLE, ""),
                _cluster(arguments, meter.say),
                arguments.workers,
                stop_when_lost=arguments.scheduler_lost == "stop",
                told=meter.show,
                say=meter.say,
            )
        except (CannotBegin, StorageError) as error:
            meter.end()
            raise UserError(str(error), exit_code=2) from None
        meter.end()
        for run in found.runs:
            print(as_json(run) if arguments.json else table_of(run))
        if not arguments.json:
            print(_last(found))
        if not found.ranks:
            raise UserError("no rank could be read")


def _cluster(arguments: argparse.Namespace, say: Callable[[str], None]) -> Callable[[], Runner] | None:
    """Connects to the cluster that is named; None when none is. Raises UserError."""
    address = arguments.scheduler
    if arguments.scheduler_file:
        try:
            with open(arguments.scheduler_file, encoding="utf-8") as said:  # noqa: PTH123
                address = str(json.load(said)["address"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(f"{arguments.scheduler_file} has no address of a scheduler: {error}", exit_code=2) from None
    if not address:
        return None

    def connect() -> Runner:
        from torch_tb_profiler.ingest.cluster import ClusterRunner  # noqa: PLC0415 - needs an extra

        return ClusterRunner(address, say)

    return connect


def as_json(run: RunOutcome) -> str:
    """One line, the same whoever has read the ranks."""
    found: dict[str, Any] = {
        "run": run.run,
        "span": run.span,
        "read": run.ranks,
        "failed": [{"file": each.file, "reason": each.text} for each in run.failed],
        "skipped": [{"file": each.file, "reason": each.text} for each in run.skipped],
        "notes": [] if run.result is None else [note.text for note in run.result.overview.notes],
        "ranks": run.summary(),
    }
    return dumps(msgspec.to_builtins(found)).decode()


def _last(found: Ingested) -> str:
    there = f", {found.there} of them read before" if found.there else ""
    lost = f"; {found.failed} could not be read" if found.failed else ""
    return f"{found.ranks} ranks are in {found.place}{there}{lost}"
