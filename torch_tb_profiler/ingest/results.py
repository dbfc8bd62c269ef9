"""What the ranks of one run say together, from what each has left in the place."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import overload

import msgspec

from torch_tb_profiler.discovery import RunFiles, TraceFile
from torch_tb_profiler.ingest.runner import IngestTarget, Outcome, RankKept, RankLost
from torch_tb_profiler.ranks.reduction import (
    RunResult,
    clock_of_run,
    decode_result,
    encode_result,
    reduce_run,
    reduce_run_with_clock,
    summary_of,
)
from torch_tb_profiler.ranks.run.answers import Clock, RanksSummary
from torch_tb_profiler.ranks.summary import RankSummary, decode_for_worker
from torch_tb_profiler.storage import StorageError
from torch_tb_profiler.workspace.cache.checksummed import checksummed, is_broken, verified
from torch_tb_profiler.workspace.cache.identity import FileNames, result_name
from torch_tb_profiler.workspace.cache.shared_cache import CatalogSkipped
from torch_tb_profiler.workspace.cache.stores import CacheStore, read_when_visible


class RankUnusable(Exception):
    """What a rank has left is gone or damaged."""

    def __init__(self, kept: RankKept) -> None:
        super().__init__(kept.key)
        self.kept = kept


class RunOutcome(msgspec.Struct, frozen=True):
    """A run and span.

    ranks: how many could be read
    failed: files that could not be, and why
    skipped: other files of the run, and why they are no traces
    result: what the ranks say together; None if none could be read
    """

    run: str
    span: str
    ranks: int
    failed: tuple[CatalogSkipped, ...]
    skipped: tuple[CatalogSkipped, ...]
    result: RunResult | None
    _summaries: Sequence[RankSummary]
    _clock: Clock | None

    def summary(self) -> RanksSummary | None:
        """Return it as `summary --json` has it; unknown clocks are fitted only now."""
        return None if self.result is None else summary_of(self.result, self._clock or clock_of_run(self._summaries))


class Summaries(Sequence[RankSummary]):
    """The summaries of ranks, each read when it is taken: never all in memory. Taking one raises RankUnusable."""

    def __init__(self, place: CacheStore, names: FileNames, ranks: Sequence[tuple[TraceFile, RankKept]]) -> None:
        self._place, self._names, self._ranks = place, names, ranks

    def __len__(self) -> int:
        return len(self._ranks)

    @overload
    def __getitem__(self, at: int) -> RankSummary: ...
    @overload
    def __getitem__(self, at: slice) -> Summaries: ...
    def __getitem__(self, at: int | slice) -> RankSummary | Summaries:
        if isinstance(at, slice):
            return Summaries(self._place, self._names, self._ranks[at])
        file, kept = self._ranks[at]
        try:
            content = verified(read_when_visible(self._place, self._names.shared(kept.key).rank))
            found = decode_for_worker(content, file.worker) if content else None
        except FileNotFoundError:
            found = None
        if found is None:
            raise RankUnusable(kept)
        return found


def outcome_of(
    run: RunFiles, span: str, ranks: Sequence[tuple[TraceFile, Outcome]], target: IngestTarget, with_clock: bool = False
) -> RunOutcome:
    """ranks: the files of the run and span; with_clock: its clocks will be asked for. Raises RankUnusable, StorageError
    and OSError.
    """
    kept = [(file, outcome) for file, outcome in ranks if isinstance(outcome, RankKept)]
    failed = [
        CatalogSkipped.of(file.entry.path.rpartition("/")[2], outcome.reason)
        for file, outcome in ranks
        if isinstance(outcome, RankLost)
    ]
    place = target.open()
    summaries = Summaries(place, FileNames(target.expansion), kept)
    result, known = None, None
    if kept:
        try:
            result, known = _result(place, kept, [each.file for each in failed], summaries, with_clock)
        except Exception as error:
            suspect = _suspect(summaries, kept) if is_broken(error) else None
            if suspect is None:
                raise
            raise RankUnusable(suspect) from error
    skipped = tuple(CatalogSkipped.of(s.file, s.reason) for s in run.skipped)
    return RunOutcome(run.name, span, len(kept), tuple(failed), skipped, result, summaries, known)


def _suspect(summaries: Summaries, kept: Sequence[tuple[TraceFile, RankKept]]) -> RankKept | None:
    """Return a rank whose summary cannot be used, else one that somebody else has read; None if there is neither."""
    for summary, (_, rank) in zip(summaries, kept, strict=True):
        try:
            _ = summary.size  # of all its tables
        except Exception as error:
            if not is_broken(error):
                raise
            return rank
    return next((rank for _, rank in kept if rank.was_there), None)


def _result(
    place: CacheStore,
    kept: Sequence[tuple[TraceFile, RankKept]],
    failed: Sequence[str],
    summaries: Summaries,
    with_clock: bool,
) -> tuple[RunResult, Clock | None]:
    """Return the clocks only where the ranks have to be read anyway."""
    name = result_name([(file.worker, rank.key) for file, rank in kept], failed)
    with suppress(FileNotFoundError):
        known = decode_result(verified(place.read(name)) or b"")
        if known is not None:
            return known, None
    result, fitted = (
        reduce_run_with_clock(summaries, failed) if with_clock else (reduce_run(summaries, (), failed), None)
    )
    with suppress(OSError, StorageError):  # it is made again the next time
        place.put(name, checksummed(encode_result(result)), absent=False)
    return result, fitted
