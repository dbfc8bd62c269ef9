"""What `torch-tb-profiler export` does."""

from __future__ import annotations

import argparse
import math
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import numpy as np
from msgspec.structs import replace

from torch_tb_profiler import __version__
from torch_tb_profiler.analysis.question import Subject
from torch_tb_profiler.analysis.stacks.flame_graph import stack_weights, stacks
from torch_tb_profiler.analysis.stacks.stack_table import StackTable
from torch_tb_profiler.arrays.distinct import among
from torch_tb_profiler.arrays.types import Bool
from torch_tb_profiler.cli.errors import UserError
from torch_tb_profiler.cli.saying import safe
from torch_tb_profiler.cli.work import tables
from torch_tb_profiler.cli.work.one_trace import Chosen, chosen
from torch_tb_profiler.cli.work.outputs import put, replaced
from torch_tb_profiler.cli.work.stack_files import as_folded, as_speedscope
from torch_tb_profiler.cli.work.targets import Target, target_of
from torch_tb_profiler.discovery import TraceFile
from torch_tb_profiler.discovery.content import EXPORTER
from torch_tb_profiler.model import Model
from torch_tb_profiler.storage import StorageError, storage_for
from torch_tb_profiler.tables.listing import COMMANDS as TABLES
from torch_tb_profiler.trace import Limits, TraceError
from torch_tb_profiler.trace.window import Window, between, picked, window
from torch_tb_profiler.workspace import compressed, logs

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


def run(arguments: argparse.Namespace) -> None:
    logs.configure()
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
    """As asked for, else as the file is called. Raises UserError."""
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
    """As the command of the table writes it."""
    of = TABLES[arguments.table]
    asked = argparse.Namespace(**vars(arguments), **_PLAIN_TABLE)
    for option in of.options:
        setattr(asked, option.name, getattr(asked, option.name, None))
    tables.run(of, asked)


# a cut trace ------------------------------------------------------------------------------------------------


def _trace_target(found: Chosen, arguments: argparse.Namespace, path: str | Path) -> Target:
    """No trace of the run that is read, also where `export` wrote it. Raises UserError."""
    return target_of(arguments, path, is_trace=True, also_read=[each.entry.url for each in found.run.traces])


def _write_traces(found: Chosen, arguments: argparse.Namespace, folder: Path) -> None:
    """Each under its own name."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make {folder}: {error.strerror or error}") from None
    names = [_PACKED_ENDING.sub("", file.entry.path.rpartition("/")[2]) for file in found.files]
    targets = [_trace_target(found, arguments, folder / f"{name}.pt.trace.json.gz") for name in names]
    for at, target in enumerate(targets):
        _write_trace(found, at, arguments, target)


def _write_trace(found: Chosen, at: int, arguments: argparse.Namespace, target: Target) -> None:
    start, end = _times(arguments, found)

    def cut(subject: Subject) -> Window:
        if found.steps is not None:
            return picked(subject.model.trace, _of_steps(subject.model))
        return window(subject.model.trace, start, end)

    wanted = found.ask(cut, at)
    key, program = EXPORTER
    header = {key: f"{program} {__version__}"} | {name: each for name, each in wanted.header.items() if name != key}
    file, path = found.files[at], target.path
    try:
        with replaced(target) as part, storage_for(file.entry.url).open(file.entry) as stream:
            text = between(stream, replace(wanted, header=header), Limits())
            _write(compressed(text) if path.name.lower().endswith(".gz") else text, part)
    except (StorageError, TraceError) as error:
        raise UserError(f"{file.entry.path} {error}") from None
    print(f"{safe(str(path))}: {path.stat().st_size / 1000**2:.2f} MB")


def _write(pieces: Iterable[bytes], path: Path) -> None:
    with path.open("wb") as target:
        target.writelines(pieces)


def _times(arguments: argparse.Namespace, found: Chosen) -> tuple[int, int]:
    """In ns from the start of the trace. Raises UserError."""
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
    """What belongs to the chosen steps, and the ends of arrows that begin there."""
    trace = model.trace
    every = np.ones(len(trace.events), np.bool_)
    wanted = every if model.selected is None else model.selected.copy()
    flows = trace.flows
    begun = flows.id[wanted[flows.row]]
    wanted[flows.row[among(flows.id, begun)]] = True
    return wanted


# call stacks ------------------------------------------------------------------------------------------------


def _stacks(found: Chosen, arguments: argparse.Namespace, form: Format) -> str:
    def made(subject: Subject) -> list[StackTable]:
        there = stack_weights(subject.model)
        if arguments.weight not in (None, *there):
            raise UserError("the trace has no device work: --weight host")
        weights = there if form == "speedscope" else (arguments.weight or there[0],)
        every = (stacks(subject.model, weight, smallest_share=0) for weight in weights)
        return [each for each in every if each is not None]

    names = _title(found.run.name, found.files[0])
    made_of = found.ask(made)
    return as_speedscope(made_of, names) if form == "speedscope" else as_folded(made_of[0])


def _title(run: str, file: TraceFile) -> str:
    return f"{run} · {file.worker} · span {file.span}"
