"""`torch-tb-profiler doctor`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from torch_tb_profiler.cli.messages import UNSOUND, UserError, safe
from torch_tb_profiler.defaults import declare_cache_dir

if TYPE_CHECKING:
    from torch_tb_profiler.cli.work.doctor_facts import CacheFacts, DoctorReport, Machine, PathFacts, TraceFacts
    from torch_tb_profiler.discovery import RunListing, Skipped
    from torch_tb_profiler.trace import Note
    from torch_tb_profiler.workspace.local_workspace import LocalTrace, LocalWorkspace

#: traces that are read: the first ones, so that a job of a thousand ranks is no reason to wait
MOST_TRACES = 8
#: files that are listed
_MOST_FILES = 20

#: the recording that all views can be filled from; docs/recording.md says what each option is for
RECOMMENDED = """\
from torch.profiler import profile, schedule, tensorboard_trace_handler

with profile(
    schedule=schedule(wait=1, warmup=2, active=5, repeat=1),
    on_trace_ready=tensorboard_trace_handler("logs/first_run", worker_name="worker0", use_gzip=True),
    record_shapes=True,
    profile_memory=True,
    with_stack=True,
) as profiler:
    for batch in batches:
        train(batch)
        profiler.step()  # at the end of every iteration
"""


class DoctorCommand:
    """Print what a bug report needs: versions, files found and skipped, health of traces, cache, storage.

    Shows only environment variables of this program, no credentials in addresses, and not the home directory. The exit
    code is 3 if a trace has errors or cannot be read.
    """

    name = "doctor"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("path", metavar="PATH", nargs="?", help="a log directory, a run's directory, or a file")
        parser.add_argument(
            "--profiler", action="store_true", help="print a profile(...) call that records what all views need"
        )
        parser.add_argument("--json", action="store_true", help="as JSON")
        declare_cache_dir(parser)
        parser.epilog = "Example:\n  torch-tb-profiler doctor LOGDIR\n  torch-tb-profiler doctor --profiler"

    def run(self, arguments: argparse.Namespace) -> int:
        from torch_tb_profiler.arrays.types import dumps_indented
        from torch_tb_profiler.workspace import process

        process.configure_logging()
        if arguments.profiler and arguments.path is None:
            print(RECOMMENDED, end="")
            return 0
        found = diagnosis(arguments.path, arguments.cache_dir)
        if arguments.json:
            print(dumps_indented(found))
        else:
            print("\n".join(map(safe, _lines(found))))
            if arguments.profiler:
                print(f"\n{RECOMMENDED}", end="")
        return UNSOUND if found.path and any(_is_unsound(trace) for trace in found.path.traces) else 0


def diagnosis(path: str | None, cache_dir: str | None) -> DoctorReport:
    """Collect facts about the machine and a path. Raises StorageError, and UserError if the path holds nothing."""
    from torch_tb_profiler.cli.work.doctor_facts import DoctorReport, cache_facts, machine, storage_schemes

    below = None if path is None else _below(path, cache_dir)
    return DoctorReport(machine(), cache_facts(cache_dir), storage_schemes(), below)


def _is_unsound(trace: TraceFacts) -> bool:
    from torch_tb_profiler.cli.health import has_errors

    return trace.failed is not None or has_errors(trace.notes)


def _below(path: str, cache_dir: str | None) -> PathFacts:
    from torch_tb_profiler.cli.work.doctor_facts import PathFacts, SkippedFacts, without_home
    from torch_tb_profiler.cli.work.traces import open_local
    from torch_tb_profiler.storage import shown
    from torch_tb_profiler.workspace.local_workspace import find_traces, without_traces

    found = find_traces(path)
    skipped: list[tuple[str | None, Skipped]] = [(run.name, each) for run in found.runs for each in run.skipped]
    skipped += [(None, each) for each in found.skipped]
    if not found.runs and not skipped:
        raise UserError(without_traces(path, found))
    return PathFacts(
        path=without_home(shown(path)),
        runs=len(found.runs),
        traces=_traces(found, open_local(cache_dir)),
        skipped=[SkippedFacts(run, each.file, without_home(str(each.reason))) for run, each in skipped],
    )


def _traces(found: RunListing, workspace: LocalWorkspace) -> list[TraceFacts]:
    from torch_tb_profiler.cli.work.doctor_facts import TraceFacts
    from torch_tb_profiler.workspace.local_workspace import LocalTrace

    facts: list[TraceFacts] = []
    for run in found.runs:
        for file in run.traces:
            looked_at = sum(each.looked_at for each in facts) < MOST_TRACES
            known = TraceFacts(
                run.name, file.worker, file.span, file.entry.path, file.entry.size, file.kind, looked_at, None, ()
            )
            facts.append(_examined(known, LocalTrace(workspace, file)) if looked_at else known)
    return facts


def _examined(known: TraceFacts, trace: LocalTrace) -> TraceFacts:
    from msgspec.structs import replace

    from torch_tb_profiler.analysis.health.notes import health
    from torch_tb_profiler.cli.work.doctor_facts import without_home
    from torch_tb_profiler.workspace import Unavailable

    try:
        notes: Sequence[Note] = trace.ask(health)
    except Unavailable as error:
        return replace(known, failed=without_home(str(error)))
    return replace(known, notes=notes)


def _lines(found: DoctorReport) -> list[str]:
    lines = [*_of_machine(found.machine), *_of_cache(found.cache), "storage"]
    lines += [f"  {scheme:<20} {said}" for scheme, said in found.storage.items()]
    return lines + (_of_path(found.path) if found.path else [])


def _of_machine(of: Machine) -> list[str]:
    lines = [
        f"torch-tb-profiler {of.program}",
        f"Python {of.python} on {of.platform}, {of.processors or 'an unknown number of'} processors",
        "packages",
    ]
    lines += [f"  {name:<20} {number or 'not installed'}" for name, number in of.packages.items()]
    if of.variables:
        lines += ["variables", *(f"  {name}={value}" for name, value in of.variables.items())]
    return lines


def _of_cache(of: CacheFacts) -> list[str]:
    from torch_tb_profiler.analysis.text_format import with_unit

    state = "" if of.writable else ", which cannot be written"
    lines = [f"cache {of.directory}{state}: {with_unit(of.bytes, 'bytes')} of {with_unit(of.limit_bytes, 'bytes')}"]
    return [*lines, f"  shared: {of.shared}"] if of.shared else lines


def _of_path(message: PathFacts) -> list[str]:
    from torch_tb_profiler.analysis.text_format import with_unit
    from torch_tb_profiler.cli.health import counted, note_lines

    lines = [f"{message.path}: runs {message.runs}, traces {len(message.traces)}, skipped files {len(message.skipped)}"]
    for trace in message.traces[:_MOST_FILES]:
        names = f"{trace.run} · {trace.worker} · span {trace.span}"
        if trace.failed is not None:
            said = f"error: {trace.failed}"
        else:
            said = counted(trace.notes) if trace.looked_at else "not read"
        lines.append(f"  {names} ({trace.kind}, {with_unit(trace.bytes, 'bytes')}): {said}")
        lines += [f"  {line}" for note in trace.notes for line in note_lines(note)]
    if len(message.traces) > _MOST_FILES:
        lines.append(f"  … {len(message.traces) - _MOST_FILES} more traces")
    for each in message.skipped[:_MOST_FILES]:
        where = f"{each.run} · {each.file}" if each.run else each.file
        lines.append(f"  skipped {where}: {each.reason}")
    if len(message.skipped) > _MOST_FILES:
        lines.append(f"  … {len(message.skipped) - _MOST_FILES} more files skipped")
    return lines
