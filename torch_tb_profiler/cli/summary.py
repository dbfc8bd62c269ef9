"""`torch-tb-profiler summary`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from torch_tb_profiler.cli.messages import UserError, tell
from torch_tb_profiler.cli.options import declare_trace

if TYPE_CHECKING:
    from torch_tb_profiler.cli.work.traces import Chosen
    from torch_tb_profiler.insights.run.facts import RunRank
    from torch_tb_profiler.insights.summary.summary import SummaryAnswer
    from torch_tb_profiler.ranks.summary import RankSummary

#: ranks that are replayed together at most, and packed bytes of their files (some 2.5 million events): each graph takes
#: as much memory and time as its trace has work
_MOST_TOGETHER, _MOST_BYTES = 64, 60 * 1000**2


class SummaryCommand:
    """Print a trace in a few numbers: step time, device use, owners of device work, notes."""

    name = "summary"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        declare_trace(parser)
        parser.add_argument("--json", action="store_true", help="as JSON; docs/api.md has its schema")
        parser.epilog = (
            "Examples:\n  torch-tb-profiler summary LOGDIR/RUN\n  zcat trace.json.gz | torch-tb-profiler summary -"
        )

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.analysis.question import NoParameters
        from torch_tb_profiler.arrays.json import dumps_indented
        from torch_tb_profiler.cli.work.traces import chosen
        from torch_tb_profiler.insights.summary.question import SUMMARY
        from torch_tb_profiler.insights.summary.text import as_text
        from torch_tb_profiler.workspace import process
        from torch_tb_profiler.workspace.local_workspace import address_of

        process.configure_logging()
        with chosen(arguments) as traces:
            is_one = arguments.worker is not None or address_of(arguments.path).worker is not None
            found = traces.answer(SUMMARY, NoParameters()) if is_one else _of_run(traces)
        if not arguments.json:
            print(as_text(found))
            return
        for each in found.skipped:
            tell(f"skipped: {each.file} {each.reason}")
        print(dumps_indented(found))


def _of_run(traces: Chosen) -> SummaryAnswer:
    """Summarize the ranks of the first span with a readable trace. Raises UserError."""
    from msgspec.structs import replace

    from torch_tb_profiler.insights.run.facts import RunRank
    from torch_tb_profiler.insights.run.findings import run_diagnosis
    from torch_tb_profiler.insights.summary.question import of_run
    from torch_tb_profiler.insights.summary.summary import SummarySkipped
    from torch_tb_profiler.reason import ErrorWithReason

    answer, unread = _first(traces)
    span = [at for at, file in enumerate(traces.files) if file.span == answer.trace.span]
    is_replayed = len(span) <= _MOST_TOGETHER and _packed(traces, span) <= _MOST_BYTES
    ranks = []
    for at in span if answer.ranks is None else ():
        try:
            ranks.append(_rank(traces, at, is_replayed))
        except (ErrorWithReason, UserError) as error:
            unread[traces.files[at].entry.path] = str(error)
    failed = [
        SummarySkipped(file=path.rpartition("/")[2], reason=why.removeprefix(f"{path} "))
        for path, why in unread.items()
    ]
    others = [SummarySkipped(file=item.file, reason=str(item.reason)) for item in traces.run.skipped]
    if not ranks:
        return replace(answer, skipped=[*failed, *others])
    answer = replace(answer, skipped=others)
    if not is_replayed:
        most = f"more than {_MOST_TOGETHER} ranks, or {_MOST_BYTES // 10**6} MB of packed files,"
        tell(f"findings are about {answer.trace.worker}: {most} are not replayed together here")
    replayed = [item for item in ranks if isinstance(item, RunRank)]
    diagnosis = run_diagnosis(replayed) if len(replayed) > 1 else None
    return of_run(answer, [item.summary if isinstance(item, RunRank) else item for item in ranks], diagnosis, failed)


def _first(traces: Chosen) -> tuple[SummaryAnswer, dict[str, str]]:
    """Return the first trace that can be read, and by path why others cannot: those before it, and empty files.

    Raises UserError.
    """
    from torch_tb_profiler.analysis.question import NoParameters
    from torch_tb_profiler.insights.summary.question import SUMMARY
    from torch_tb_profiler.reason import ErrorWithReason

    errors: dict[str, ErrorWithReason | UserError] = {}
    for at, file in enumerate(traces.files):
        try:
            found = traces.answer(SUMMARY, NoParameters(), at)
        except (ErrorWithReason, UserError) as error:
            errors[file.entry.path] = error
        else:
            empty = {each.entry.path: "is empty" for each in traces.files if not each.entry.size}
            return found, {path: str(error) for path, error in errors.items()} | empty
    raise next(iter(errors.values()))


def _packed(traces: Chosen, places: Sequence[int]) -> int:
    from torch_tb_profiler.workspace.reading.reading_order import packed_bytes

    return sum(packed_bytes(traces.files[at].entry) for at in places)


def _rank(traces: Chosen, at: int, is_replayed: bool) -> RunRank | RankSummary:
    from torch_tb_profiler.insights.run.facts import run_rank
    from torch_tb_profiler.ranks.summary import summarize

    make, worker = run_rank if is_replayed else summarize, traces.files[at].worker
    return traces.ask(lambda subject: make(subject.model, worker), at)
