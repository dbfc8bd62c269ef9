"""`torch-tb-profiler export`."""

from __future__ import annotations

import argparse
import math
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from torch_tb_profiler.cli.messages import UserError
from torch_tb_profiler.cli.parsers import declare_trace
from torch_tb_profiler.tables.listing import COMMANDS as TABLES

if TYPE_CHECKING:
    from torch_tb_profiler.analysis.question import Subject
    from torch_tb_profiler.analysis.stacks.stack_table import StackTable
    from torch_tb_profiler.arrays.types import Bool
    from torch_tb_profiler.cli.work.targets import Target
    from torch_tb_profiler.cli.work.traces import Chosen
    from torch_tb_profiler.model import Model
    from torch_tb_profiler.trace.excerpts import WindowText

_NS_PER_MS = 1_000_000
#: later than any trace ends, ns
_LATEST = 2**61
_PACKED_ENDING = re.compile(r"(\.pt\.trace)?\.json(\.(gz|zst|xz|bz2))?\Z")

#: what a command of a table is asked, with nothing said
_PLAIN_TABLE = {
    "filter": "",
    "sort": None,
    "limit": None,
    "columns": None,
    "json": False,
    "jsonl": False,
    "csv": False,
    "parquet": None,
    "color": "never",
}

Format = Literal["trace", "speedscope", "folded", "table"]


class ExportCommand:
    """Write a part of a trace, call stacks for other programs, or a table to a file.

    The extension of the file selects the contents: .pt.trace.json.gz (or .json) is a trace with only some steps or
    times, which this program and Perfetto open; .speedscope.json is for speedscope; .folded has stacks for
    flamegraph.pl and inferno; .csv, .json, .jsonl and .parquet hold the table that --table names. With a directory,
    the cut trace of every chosen rank is written into it. Files are written as a whole or not at all.
    """

    name = "export"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        declare_trace(parser)
        parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the file to write, or a directory")
        parser.add_argument(
            "--format",
            choices=("trace", "speedscope", "folded"),
            help="needed if the file name extension does not determine the format",
        )
        parser.add_argument("--from", dest="start", type=float, metavar="MS", help="a cut trace begins here")
        parser.add_argument("--to", dest="end", type=float, metavar="MS", help="a cut trace ends here")
        parser.add_argument("--ranks", metavar="LIST", help="only these, such as 0,2-4 (into a directory)")
        parser.add_argument(
            "--weight",
            choices=("device", "host"),
            help="weight of folded stacks (default: device time if there is any)",
        )
        parser.add_argument("--table", choices=tuple(TABLES), metavar="NAME", help="a table: `steps`, `operators`, …")
        parser.epilog = (
            "Examples:\n  torch-tb-profiler export LOGDIR/RUN --steps 3:4 -o two_steps.pt.trace.json.gz\n"
            "  torch-tb-profiler export LOGDIR/RUN -o stacks.speedscope.json\n"
            "  torch-tb-profiler export LOGDIR/RUN --table kernels -o kernels.parquet"
        )

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.cli.work.outputs import put
        from torch_tb_profiler.cli.work.targets import target_of
        from torch_tb_profiler.cli.work.traces import chosen
        from torch_tb_profiler.workspace import process

        process.configure_logging()
        output = str(arguments.output)
        form = _format(arguments, output)
        if form == "table":
            _table(arguments)
            return
        if form != "trace" and (arguments.start is not None or arguments.end is not None):
            raise UserError("--from and --to cut a trace; for stacks, use --steps")
        folder = Path(output) if _is_folder(output) else None
        if folder is None and output != "-":
            target_of(arguments, output, is_trace=form == "trace")  # refused before anything is read
        with chosen(arguments, all_of_run=folder is not None, ranks=arguments.ranks) as found:
            if folder is not None:
                _write_traces(found, arguments, folder)
            elif form == "trace":
                _write_trace(found, 0, arguments, _trace_target(found, arguments, output))
            else:
                put(_stacks(found, arguments, form), None if output == "-" else target_of(arguments, output))


def _format(arguments: argparse.Namespace, output: str) -> Format:
    """Return the format asked for, else that of the file's name. Raises UserError."""
    if arguments.table is not None:
        return "table"
    if arguments.format is not None:
        return arguments.format  # type: ignore[no-any-return]
    name = output.lower()
    if name.endswith(".speedscope.json"):
        return "speedscope"
    if name.endswith((".folded", ".collapsed")):
        return "folded"
    if name.endswith((".json", ".json.gz")) or _is_folder(output):
        return "trace"
    if name.endswith((".csv", ".jsonl", ".parquet", ".txt")):
        raise UserError(f"{output}: name a table with --table, one of {', '.join(TABLES)}")
    raise UserError(
        f"{output}: its extension does not say what to write: .pt.trace.json.gz, .speedscope.json, .folded, or --format"
    )


def _is_folder(output: str) -> bool:
    return output.endswith(("/", os.sep)) or os.path.isdir(output)  # noqa: PTH112 - the other one raises for a long name


def _table(arguments: argparse.Namespace) -> None:
    """Make a table as its command writes it."""
    from torch_tb_profiler.cli.tables import table

    of = TABLES[arguments.table]
    asked = argparse.Namespace(**vars(arguments), **_PLAIN_TABLE)
    for option in of.options:
        setattr(asked, option.name, getattr(asked, option.name, None))
    table(of.name).run(asked)


# a cut trace ------------------------------------------------------------------------------------------------


def _trace_target(found: Chosen, arguments: argparse.Namespace, path: str | Path) -> Target:
    """Refuse a trace of the run that is read, even if `export` wrote it. Raises UserError."""
    from torch_tb_profiler.cli.work.targets import target_of

    return target_of(arguments, path, is_trace=True, also_read=[each.entry.url for each in found.run.traces])


def _write_traces(traces: Chosen, arguments: argparse.Namespace, folder: Path) -> None:
    """Write each trace under its own name."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make {folder}: {error.strerror or error}") from None
    names = [_PACKED_ENDING.sub("", file.entry.path.rpartition("/")[2]) for file in traces.files]
    targets = [_trace_target(traces, arguments, folder / f"{name}.pt.trace.json.gz") for name in names]
    for at, target in enumerate(targets):
        _write_trace(traces, at, arguments, target)


def _write_trace(traces: Chosen, number: int, arguments: argparse.Namespace, target: Target) -> None:
    from msgspec.structs import replace

    from torch_tb_profiler import __version__
    from torch_tb_profiler.cli.messages import safe
    from torch_tb_profiler.cli.work.outputs import replaced
    from torch_tb_profiler.discovery.content import EXPORTER
    from torch_tb_profiler.storage import StorageError, storage_for
    from torch_tb_profiler.trace import Limits, TraceError
    from torch_tb_profiler.trace.excerpts import between, picked, window_text
    from torch_tb_profiler.workspace import compressed

    start, end = _times(arguments, traces)

    def cut(subject: Subject) -> WindowText:
        if traces.steps is not None:
            return picked(subject.model.trace, _of_steps(subject.model))
        return window_text(subject.model.trace, start, end)

    wanted = traces.ask(cut, number)
    key, program = EXPORTER
    header = {key: f"{program} {__version__}"} | {name: each for name, each in wanted.header.items() if name != key}
    file, path = traces.files[number], target.path
    try:
        with replaced(target) as part, storage_for(file.entry.url).open(file.entry) as stream:
            text = between(stream, replace(wanted, header=header), Limits())
            with part.open("wb") as file_written:
                file_written.writelines(compressed(text) if path.name.lower().endswith(".gz") else text)
    except (StorageError, TraceError) as error:
        raise UserError(f"{file.entry.path} {error}") from None
    print(f"{safe(str(path))}: {path.stat().st_size / 1000**2:.2f} MB")


def _times(arguments: argparse.Namespace, found: Chosen) -> tuple[int, int]:
    """Return times in ns from the start of the trace. Raises UserError."""
    if arguments.start is None and arguments.end is None:
        return -_LATEST, _LATEST
    if found.steps is not None:
        raise UserError("--steps and --from/--to exclude each other: use one of them")
    start, end = (0.0 if arguments.start is None else arguments.start), arguments.end
    largest = _LATEST / _NS_PER_MS
    if not math.isfinite(start) or abs(start) > largest or (end is not None and not -largest < end < largest):
        raise UserError("--from and --to are milliseconds from the start of the trace")
    if end is not None and end < start:
        raise UserError("--to must not be before --from")
    return round(start * _NS_PER_MS), _LATEST if end is None else round(end * _NS_PER_MS)


def _of_steps(model: Model) -> Bool:
    """Select what belongs to the chosen steps, and the ends of arrows that begin there."""
    import numpy as np

    from torch_tb_profiler.arrays.distinct import isin

    trace = model.trace
    every = np.ones(len(trace.events), np.bool_)
    wanted = every if model.selected is None else model.selected.copy()
    flows = trace.flows
    begun = flows.id[wanted[flows.row]]
    wanted[flows.row[isin(flows.id, begun)]] = True
    return wanted


# call stacks ------------------------------------------------------------------------------------------------


def _stacks(tables: Chosen, arguments: argparse.Namespace, form: Format) -> str:
    from torch_tb_profiler.analysis.stacks.flame_graph import stack_weights, stacks
    from torch_tb_profiler.cli.work.outputs import as_folded, as_speedscope

    def made(subject: Subject) -> list[StackTable]:
        there = stack_weights(subject.model)
        if arguments.weight not in (None, *there):
            raise UserError("the trace has no device work: --weight host")
        weights = there if form == "speedscope" else (arguments.weight or there[0],)
        every = (stacks(subject.model, weight, smallest_share=0) for weight in weights)
        return [each for each in every if each is not None]

    file, made_of = tables.files[0], tables.ask(made)
    if form != "speedscope":
        return as_folded(made_of[0])
    return as_speedscope(made_of, f"{tables.run.name} · {file.worker} · span {file.span}")
