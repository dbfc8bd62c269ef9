"""The summary of a trace, or of all ranks of a run, as `summary` and `findings` print it."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from torch_tb_profiler.analysis.question import NoParameters
from torch_tb_profiler.cli.messages import UserError, tell
from torch_tb_profiler.cli.work.traces import Chosen, chosen
from torch_tb_profiler.insights.run.facts import RunRank, run_rank
from torch_tb_profiler.insights.run.findings import run_diagnosis
from torch_tb_profiler.insights.summary.question import SUMMARY, of_run
from torch_tb_profiler.insights.summary.summary import SummaryAnswer, SummarySkipped
from torch_tb_profiler.ranks.summary import RankSummary, summarize
from torch_tb_profiler.reason import ErrorWithReason
from torch_tb_profiler.workspace import process
from torch_tb_profiler.workspace.local_workspace import address_of
from torch_tb_profiler.workspace.reading.reading_order import packed_bytes

#: ranks that are replayed together at most, and packed bytes of their files (some 2.5 million events): each graph takes
#: as much memory and time as its trace has work
_MOST_TOGETHER, _MOST_BYTES = 64, 60 * 1000**2
#: from more ranks that were not read before, how many are read is said, and how long that takes
_MANY = 16


def summary_of(arguments: argparse.Namespace) -> SummaryAnswer:
    """Summarize the chosen trace; without a chosen worker, all ranks of its run. Raises UserError."""
    process.configure_logging()
    is_one = arguments.worker is not None or address_of(arguments.path).worker is not None
    with chosen(arguments, all_of_run=not is_one) as traces:
        answer: SummaryAnswer = traces.answer(SUMMARY, NoParameters()) if is_one else _of_run(traces)
    return answer


def _of_run(traces: Chosen) -> SummaryAnswer:
    """Summarize the ranks of the first span with a readable trace. Raises UserError."""
    answer, unread = _first(traces)
    span = [at for at, file in enumerate(traces.files) if file.span == answer.trace.span]
    is_replayed = len(span) <= _MOST_TOGETHER and _packed(traces, span) <= _MOST_BYTES
    ranks = []
    for at in _with_forecast(traces, span) if answer.ranks is None else ():
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


def _with_forecast(traces: Chosen, places: Sequence[int]) -> Iterator[int]:
    """Yield the places; of many traces that were not read before, tell how many there are and how long they take."""
    unread = [at for at in places if traces.traces[at].workspace.known(traces.files[at]) is None]
    began = time.monotonic()
    for at in places:
        yield at
        if len(unread) > _MANY and at == unread[0]:
            seconds = (time.monotonic() - began) * _packed(traces, unread[1:]) / max(_packed(traces, [at]), 1)
            tell(f"reads {len(unread):,} of {len(places):,} ranks: about {max(seconds, 1):,.0f} s")


def _first(traces: Chosen) -> tuple[SummaryAnswer, dict[str, str]]:
    """Return the first trace that can be read, and by path why others cannot: those before it, and empty files.

    Raises UserError.
    """
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
    return sum(packed_bytes(traces.files[at].entry) for at in places)


def _rank(traces: Chosen, at: int, is_replayed: bool) -> RunRank | RankSummary:
    make, worker = run_rank if is_replayed else summarize, traces.files[at].worker
    return traces.ask(lambda subject: make(subject.model, worker), at)
