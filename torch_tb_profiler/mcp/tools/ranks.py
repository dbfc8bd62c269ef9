"""Which rank of a run is slow, and what waiting costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, Ms
from torch_tb_profiler.api.profile import Run
from torch_tb_profiler.insights.run.facts import RunFinding
from torch_tb_profiler.insights.run.findings import RunDiagnosis
from torch_tb_profiler.mcp.catalog import TraceCatalog
from torch_tb_profiler.mcp.tool import (
    InvalidRequest,
    Next,
    TableCells,
    Tool,
    ToolAnswer,
    ToolParams,
    brief,
    milliseconds,
    name_of,
    named,
    sentence,
)
from torch_tb_profiler.mcp.tools.summary import FindingBrief, next_of_rank
from torch_tb_profiler.ranks.run.answers import RanksOverview

_NAMES = 5
#: all ranks of a run with more are not replayed within a call
_MOST_REPLAYED = 16

RUN = Annotated[str, Meta(description="A run, or one of its traces, as the tools traces and summary name it.")]


class OneRun(ToolParams, frozen=True, kw_only=True):
    """Which run."""

    run: RUN
    span: Annotated[str | None, Meta(description="Which recording, where there are several.")] = None
    limit: Annotated[int, Meta(description="Entries of each list.", ge=1, le=20)] = _NAMES


class SlowRankBrief(msgspec.Struct, frozen=True, kw_only=True):
    """A rank that works longer than its peers between collectives; no waiting is in it.

    trace        the id of its trace, for other tools
    rank         its number; null if its trace does not contain it
    late_ms      how much longer, of a step
    cause        what takes longer
    operator     the operator, kernel or collective that takes longer; null if no single one does
    operator_ms  the part of it
    saving_ms    how much shorter a step would be without it; null if unknown
    named        whether it surely is slow
    """

    trace: str
    rank: int | None
    late_ms: Ms | None
    cause: str
    operator: str | None
    operator_ms: Ms | None
    saving_ms: Ms | None
    named: bool


class SlowLinkBrief(msgspec.Struct, frozen=True, kw_only=True):
    """A group of ranks whose transfers take longer than those of like groups.

    group     its label
    ranks     its members, at most 16
    kind      collective that is slower
    extra_ms  how much longer, of a step
    ratio     how many times as long
    """

    group: str
    ranks: Sequence[int]
    kind: str
    extra_ms: Ms | None
    ratio: float | None


class RunFindingBrief(FindingBrief, frozen=True, kw_only=True):
    """A cause of lost time over all ranks.

    id         name of the rule
    detail     what was found
    advice     what to do
    names      those that the texts speak of
    saving_ms  what a step would save, all ranks replayed together; null if unknown
    """

    detail: str
    advice: str


class RanksVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What it comes to.

    kind  slow_rank: the first of slow_ranks; slow_link: the first of slow_links; cause: the first finding over ranks;
          cannot_tell: fewer than three ranks; nothing_found: no rank and no link is surely slow
    next  what shows a cause that the first rank has of its own; null if there is no more to ask
    """

    kind: Literal["slow_rank", "slow_link", "cause", "cannot_tell", "nothing_found"]
    next: Next | None


class RanksAnswer(ToolAnswer, frozen=True, kw_only=True):
    """All ranks of a run together.

    verdict      what it comes to
    bound        what bounds the steps of all ranks; null of over 16
    sentence     the same in words
    present      how many ranks were read
    expected     how many the job has; null if the traces do not contain it
    step_ms      median time of a step
    wait_ms      waiting for other ranks while nothing was computed, mean of a step
    transfer_ms  moving data while nothing was computed
    slow_ranks   those that surely are slow first
    slow_links   slowest first
    findings     over all ranks; empty if more than 16 would have to be replayed
    ranks        a row each, the latest first
    """

    verdict: RanksVerdict
    bound: str | None
    sentence: str | None
    present: Count
    expected: Count | None
    step_ms: Ms | None
    wait_ms: Ms | None
    transfer_ms: Ms | None
    slow_ranks: Sequence[SlowRankBrief]
    slow_links: Sequence[SlowLinkBrief]
    findings: Sequence[RunFindingBrief]
    ranks: TableCells


def _ranks(catalog: TraceCatalog, params: OneRun) -> RanksAnswer:
    run = catalog.run(params.run)
    spans = [name for name in run.spans() if params.span in (None, name_of(name))]
    if not spans:
        raise InvalidRequest("the run has no such span")
    overview = run.reduced(spans[0]).overview
    tiles = overview.tiles
    diagnosis = _diagnosis(run, spans[0])
    findings = [] if diagnosis is None else [_finding(item) for item in diagnosis.findings]
    notes = [] if len(spans) == 1 else [f"This is the first of {len(spans)} recordings; span chooses another."]
    if tiles.failed:
        notes.append(f"{tiles.failed} traces cannot be read.")
    if tiles.present > _MOST_REPLAYED:
        notes.append("There are too many ranks to replay together here: findings are left out.")
    slow = [
        brief(SlowRankBrief, item, trace=catalog.id_of(run.trace(item.worker, spans[0])))
        for item in overview.stragglers[: params.limit]
    ]
    links = [brief(SlowLinkBrief, item, ranks=list(item.ranks[:16])) for item in overview.slow_links[: params.limit]]
    return RanksAnswer(
        verdict=_verdict(catalog, run, overview, slow, findings),
        bound=None if diagnosis is None else diagnosis.bound.kind,
        sentence=None if diagnosis is None else sentence(diagnosis.bound.sentence, diagnosis.bound.values),
        present=tiles.present,
        expected=tiles.expected,
        step_ms=milliseconds(tiles.step_ns),
        wait_ms=milliseconds(tiles.exposed_wait_ns),
        transfer_ms=milliseconds(tiles.exposed_transfer_ns),
        slow_ranks=slow,
        slow_links=links,
        findings=findings[: params.limit],
        ranks=_table(overview, params.limit),
        notes=notes,
        more={"ranks.rows": left} if (left := len(overview.ranks) - params.limit) > 0 else {},
    )


def _verdict(
    catalog: TraceCatalog,
    run: Run,
    overview: RanksOverview,
    slow: Sequence[SlowRankBrief],
    findings: Sequence[RunFindingBrief],
) -> RanksVerdict:
    if slow and slow[0].named:
        return RanksVerdict(kind="slow_rank", next=None)
    if overview.slow_links:
        return RanksVerdict(kind="slow_link", next=None)
    if any(each.severity != "low" and each.saving_ms for each in findings):
        return RanksVerdict(kind="cause", next=None)
    # with fewer nobody can say which of them is the slow one; each rank may have a cause of its own in any case
    few = overview.tiles.present < _FEWEST
    return RanksVerdict(
        kind="cannot_tell" if few else "nothing_found",
        next=next_of_rank(catalog, [catalog.id_of(trace) for trace in run.traces]),
    )


_FEWEST = 3


def _diagnosis(run: Run, span: str) -> RunDiagnosis | None:
    """Return what is known of all ranks; None of too many."""
    n = sum(trace.span == span for trace in run.traces)
    return run.diagnosis(span) if n <= _MOST_REPLAYED else None


def _finding(finding: RunFinding) -> RunFindingBrief:
    return brief(
        RunFindingBrief,
        finding,
        id=finding.key,
        title=sentence(finding.title, finding.values),
        detail=sentence(finding.detail, finding.values),
        advice=sentence(finding.advice, finding.values),
        names=named(finding.values),
        saving_ms=None if finding.saving is None else milliseconds(finding.saving.after_others_ns),
    )


_COLUMNS = ("step_ns", "own_ns", "late_ns", "exposed_wait_ns", "input_ns")


def _table(overview: RanksOverview, limit: int) -> TableCells:
    ranks = overview.ranks
    late = [(-1 if ns is None else ns) for ns in ranks.late_ns]
    order = sorted(range(len(ranks)), key=lambda at: (-late[at], at))[:limit]
    values = [getattr(ranks, key) for key in _COLUMNS]
    return TableCells(
        columns=["rank", *(f"{key.removesuffix('_ns')}_ms" for key in _COLUMNS)],
        rows=[[ranks.rank[at], *(milliseconds(column[at]) for column in values)] for at in order],
    )


RANKS = Tool(
    name="ranks",
    title="Ranks of a run",
    summary=(
        "Say which rank of a run is slow and why, which link is slow, and what waiting costs all others. Call it first "
        "for a run of several ranks, then summary for one of them."
    ),
    arguments=OneRun,
    answer=RanksAnswer,
    compute=_ranks,
    budget=2_500,
    shrinks=("ranks.rows", "findings", "slow_links", "slow_ranks"),
    untrusted=(
        "verdict.next.arguments",
        "slow_ranks[].trace",
        "slow_ranks[].operator",
        "slow_links[].group",
        "slow_links[].kind",
        "findings[].names",
    ),
)
