"""Reduce all ranks of a run to one result, and store that. docs/ranks.md has the rules in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Float64, Int64, enc_hook
from torch_tb_profiler.codec import convert
from torch_tb_profiler.ranks.peers import StepGrid, representatives
from torch_tb_profiler.ranks.run.answers import (
    MOST_MISSING,
    Clock,
    Matched,
    Metric,
    RanksOverview,
    RanksSummary,
    Representative,
    RunRanks,
    RunTiles,
    Straggler,
)
from torch_tb_profiler.ranks.run.clocks import fit_clocks
from torch_tb_profiler.ranks.run.collectives import RunWaits, bandwidth_fits, collective_rows, slow_links, waits_of
from torch_tb_profiler.ranks.run.data import RunData
from torch_tb_profiler.ranks.run.group_answers import CollectiveRow, Confidence
from torch_tb_profiler.ranks.run.groups import groups_of, layout_of, missing_collectives, nodes_of, world_of
from torch_tb_profiler.ranks.run.notes import ChosenRanks, chosen_ranks, notes_of
from torch_tb_profiler.ranks.run.parallelism import fsdp_of, moe_of, pipeline_of
from torch_tb_profiler.ranks.stragglers.cost import link_stragglers, named_or_slower, stragglers_of
from torch_tb_profiler.ranks.stragglers.slow_ranks import LEAST_STEPS, SlowRanks, can_be_named, late_stages, slow_ranks
from torch_tb_profiler.ranks.summary import RankSummary
from torch_tb_profiler.trace.column_file import ColumnFileError, NamedTables, decode_tables, encode_tables

#: steps from which on an answer is of high confidence
MANY_STEPS = 4
_FEATURES: tuple[Metric, ...] = (
    "step_ns",
    "compute_ns",
    "exposed_wait_ns",
    "exposed_transfer_ns",
    "own_ns",
    "input_ns",
    "host_ns",
)


class RunResult(msgspec.Struct, frozen=True):
    """All ranks of a run, reduced.

    overview     the run page
    collectives  its table of collectives, most waiting first
    heat         of each metric that is known, shape (ranks, steps): in the order of `overview.ranks` and
                 `overview.steps`; -1 where unknown
    """

    overview: RanksOverview
    collectives: tuple[CollectiveRow, ...]
    heat: Mapping[Metric, Int64]

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        of = self.overview
        spans = sum(len(stage.spans) for stage in of.pipeline.stages) if of.pipeline else 0
        rows = 1_000 * len(self.collectives) + 600 * len(of.groups) + 2_000 * len(of.ranks.worker) + 100 * spans
        return 10_000 + rows + sum(values.nbytes for values in self.heat.values())


def reduce_run(summaries: Sequence[RankSummary], loading: Sequence[str] = (), failed: Sequence[str] = ()) -> RunResult:
    """Reduce summaries, in any order; they may be read again each time. loading, failed: files not among them."""
    chosen = chosen_ranks(summaries)
    return _reduced(RunData.read(chosen.ranks), chosen, loading, failed)


def reduce_run_with_clock(
    summaries: Sequence[RankSummary], failed: Sequence[str] = (), loading: Sequence[str] = ()
) -> tuple[RunResult, Clock]:
    """`reduce_run` and `clock_of_run` of the same ranks, which are read once for both."""
    chosen = chosen_ranks(summaries)
    run = RunData.read(chosen.ranks)
    return _reduced(run, chosen, loading, failed), fit_clocks(run)


def _reduced(run: RunData, chosen: ChosenRanks, loading: Sequence[str], failed: Sequence[str]) -> RunResult:
    grid = StepGrid.of([head.steps for head in run.heads])
    groups = groups_of(run)
    waits = waits_of(run)
    heat = _heat(run, grid, waits)
    slow = slow_ranks(run, grid, whole=not loading)
    slow = slow.with_more(late_stages(run, grid, slow, whole=not loading))
    steps = _common_steps(grid)
    step_ns = _mean(heat["step_ns"], np.median)
    links = slow_links(run, groups, step_ns or 0, max(len(grid.names), 1))
    stragglers, lost = stragglers_of(run, grid, slow, groups)
    stragglers += link_stragglers(run, links, len(grid.names), whole=not loading)
    stragglers.sort(key=lambda each: not each.named)
    named = [each for each in stragglers if each.named]
    world = world_of(run)
    # others may wait for a rank that is not here
    is_known = can_be_named(len(run), len(grid.names), whole=not loading) and steps > 0 and len(run) >= (world or 0)
    shared = run.is_shared
    overview = RanksOverview(
        tiles=RunTiles(
            present=len(run),
            expected=world,
            loading=len(loading),
            failed=len(failed),
            steps=steps,
            step_ns=step_ns,
            exposed_wait_ns=_mean(heat.get("exposed_wait_ns")),
            exposed_transfer_ns=_mean(heat.get("exposed_transfer_ns")),
            hidden_ns=_mean(grid.whole([of.hidden for of in run.steps])),
            slowest_worker=named[0].worker if named else None,
            slowest_rank=named[0].rank if named else None,
            slowest_cause=named[0].cause if named else None,
            lost_ns=lost if named or is_known else None,
        ),
        stragglers=stragglers,
        slow_links=links,
        representatives=_representatives(run, heat, slow),
        ranks=_ranks(run, grid, heat, slow, waits, stragglers),
        steps=grid.names,
        metrics=list(heat),
        groups=groups,
        layout=layout_of(run, groups),
        matched=Matched(
            matched=int(np.count_nonzero(shared)),
            unmatched=int(np.count_nonzero((run.state.ranks > 0) & ~shared)) + _without_number(run),
        ),
        missing=missing_collectives(run, groups),
        pipeline=pipeline_of(run, groups),
        moe=moe_of(run, groups),
        fsdp=fsdp_of(run, groups),
        fits=bandwidth_fits(run, groups),
        confidence=_confidence(run, steps, loading, failed),
        notes=notes_of(run, chosen, loading, failed),
    )
    return RunResult(overview, collective_rows(run, groups, waits), heat)


def clock_of_run(summaries: Sequence[RankSummary]) -> Clock:
    """One clock for all ranks, in order of rank."""
    return fit_clocks(RunData.read(chosen_ranks(summaries).ranks, with_work=False))


def summary_of(result: RunResult, fitted: Clock) -> RanksSummary:
    """`ranks` of `summary --json`."""
    of = result.overview
    return RanksSummary(
        present=of.tiles.present,
        expected=of.tiles.expected,
        stragglers=named_or_slower(of.stragglers),
        slow_links=of.slow_links,
        collectives=of.matched,
        missing=of.missing[:MOST_MISSING],
        clock=fitted,
    )


def _heat(run: RunData, grid: StepGrid, waits: RunWaits) -> dict[Metric, Int64]:
    """Compute the metrics of all ranks and steps. Exposed waits and transfers are at most the exposed communication."""
    exposed = grid.whole([steps.exposed for steps in run.steps])
    wait, transfer = grid.whole(waits.wait), grid.whole(waits.transfer)
    # one rank alone tells nothing about waiting
    known = (len(run) > 1) & (wait >= 0) & (exposed >= 0) & ((wait + transfer > 0) | (exposed == 0))
    waiting = np.minimum(wait, exposed)
    own = [np.nan_to_num(each, nan=-1).astype(np.int64) for each in run.own]
    metrics: dict[Metric, Int64] = {
        "step_ns": grid.whole([steps.end - steps.start for steps in run.steps]),
        "compute_ns": grid.whole([steps.compute + steps.hidden for steps in run.steps]),
        "exposed_wait_ns": np.where(known, waiting, -1),
        "exposed_transfer_ns": np.where(known, np.minimum(transfer, exposed - waiting), -1),
        "own_ns": grid.whole(own),
        "input_ns": grid.whole([steps.input for steps in run.steps]),
        "host_ns": grid.whole([steps.host for steps in run.steps]),
        "memory_bytes": grid.whole([steps.memory for steps in run.steps]),
    }
    return {name: values for name, values in metrics.items() if name == "step_ns" or (values >= 0).any()}


def _mean(values: Int64 | None, how: object = np.mean) -> float | None:
    known = None if values is None else values[values >= 0]
    return float(how(known)) if known is not None and len(known) else None  # type: ignore[operator]


def _common_steps(grid: StepGrid) -> int:
    """Count the steps that all ranks have."""
    counts = np.bincount(np.concatenate(grid.place or (np.empty(0, np.int64),)), minlength=len(grid.names))
    return int(np.count_nonzero(counts == len(grid.place))) if grid.place else 0


def _without_number(run: RunData) -> int:
    """Count collectives that can belong to no other rank's, such as sends and receives of unknown partners."""
    return sum(int(np.count_nonzero(rows.number < 0)) for _, rows in run.each())


def _medians(values: Int64) -> list[int | None]:
    if values.size and (values >= 0).all():
        return [round(value) for value in np.median(values, axis=1).tolist()]
    return [round(float(np.median(row[row >= 0]))) if (row >= 0).any() else None for row in values]


def _ranks(
    run: RunData,
    grid: StepGrid,
    heat: Mapping[Metric, Int64],
    slow: SlowRanks,
    waits: RunWaits,
    stragglers: Sequence[Straggler],
) -> RunRanks:
    none: list[int | None] = [None] * len(run)
    named = {straggler.worker for straggler in stragglers if straggler.named}

    def medians(metric: Metric) -> list[int | None]:
        return _medians(heat[metric]) if metric in heat else none

    def known(values: Float64) -> list[int | None]:
        return [None if np.isnan(value) else round(value) for value in values.tolist()]

    return RunRanks(
        worker=[head.worker for head in run.heads],
        rank=[head.rank for head in run.heads],
        host=[head.host or None for head in run.heads],
        node=nodes_of(run),
        device=[head.device for head in run.heads],
        peers=slow.kind.tolist(),
        steps=[len(each) for each in run.steps],
        step_ns=medians("step_ns"),
        compute_ns=medians("compute_ns"),
        exposed_wait_ns=medians("exposed_wait_ns"),
        exposed_transfer_ns=medians("exposed_transfer_ns"),
        hidden_ns=_medians(grid.whole([each.hidden for each in run.steps])),
        own_ns=known(slow.own),
        late_ns=known(slow.late),
        z=[None if np.isnan(value) else round(value, 2) for value in slow.z.tolist()],
        input_ns=medians("input_ns"),
        host_ns=medians("host_ns"),
        memory_bytes=medians("memory_bytes"),
        collectives=run.collectives,
        unmatched=waits.unmatched,
        named=[head.worker in named for head in run.heads],
    )


def _representatives(run: RunData, heat: Mapping[Metric, Int64], slow: SlowRanks) -> list[Representative]:
    columns = [_medians(heat[name]) for name in _FEATURES if name in heat]
    features = np.array(columns, np.float64).T if columns and len(run) else np.empty((0, 0))
    named = [each.rank for each in slow.found if each.named]
    chosen, like = representatives(features, named)
    return [
        Representative(worker=run.heads[at].worker, rank=run.heads[at].rank, like=count, named=at in named)
        for at, count in zip(chosen.tolist(), like.tolist(), strict=True)
    ]


def _confidence(run: RunData, steps: int, loading: Sequence[str], failed: Sequence[str]) -> Confidence:
    world = world_of(run)
    if loading or steps < LEAST_STEPS or len(run) < 2:
        return "low"
    return "high" if world == len(run) and steps >= MANY_STEPS and not failed else "medium"


class _Head(msgspec.Struct, frozen=True):
    """shape: of each heat map, (ranks, steps)."""

    overview: RanksOverview
    collectives: tuple[CollectiveRow, ...]
    shape: tuple[int, int]


def encode_result(result: RunResult) -> bytes:
    """Make a column file: the answers in its head, the heat maps as columns."""
    shape = next((values.shape for values in result.heat.values()), (0, 0))
    head = msgspec.to_builtins(_Head(result.overview, result.collectives, (shape[0], shape[1])), enc_hook=enc_hook)
    heat: dict[str, Any] = {metric: values.ravel().astype(np.int64) for metric, values in result.heat.items()}
    return encode_tables(NamedTables(head, [], {"heat": heat}))


def decode_result(content: bytes) -> RunResult | None:
    """Read what `encode_result` made; None if it is damaged, or of other code."""
    try:
        found = decode_tables(content)
        head = convert(found.header, _Head)
        heat = {
            convert(metric, Metric): values.reshape(head.shape)
            for metric, values in found.tables.get("heat", {}).items()
        }
    except (ColumnFileError, ValueError):
        return None
    return RunResult(head.overview, head.collectives, heat)
