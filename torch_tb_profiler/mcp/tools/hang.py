"""Which ranks stopped a distributed job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count
from torch_tb_profiler.api.hang import hang
from torch_tb_profiler.hangs.diagnose import Answer, Kind
from torch_tb_profiler.mcp.catalog import TraceCatalog
from torch_tb_profiler.mcp.tool import Tool, ToolAnswer, ToolParams, name_of

_MOST_NAMED, _MOST_WAITS, _MOST_RANKS = 16, 16, 16


class WhichDumps(ToolParams, frozen=True, kw_only=True):
    """Which job."""

    folder: Annotated[
        str, Meta(description="Path of the folder with the dumps, relative to the root; empty for the root itself.")
    ] = ""


class StoppedRank(msgspec.Struct, frozen=True, kw_only=True):
    """A rank that stopped the job.

    kind  host_stopped: it never entered the call; device_stopped: its partners finished the call, it did not; desync:
          it calls something else than most; deadlock: it is in a circle of ranks; missing: it left no dump
    line  where the program called, or called last; null without stacks
    """

    rank: int
    kind: Kind
    call: str | None
    group: str | None
    line: str | None


class WaitingRank(msgspec.Struct, frozen=True, kw_only=True):
    """A rank in its first unfinished call. on: ranks that it waits for; empty where the dumps do not show any."""

    rank: int
    call: str
    group: str
    on: Sequence[int]


class HangAnswer(ToolAnswer, frozen=True, kw_only=True):
    """What the dumps of a job say.

    answer   yes; partly: a rank left no dump, or none stands out; cannot: no dump could be read
    ranks    of the job
    dumps    that could be read
    waiting  ranks with an unfinished call
    waits    the first of them
    """

    answer: Answer
    ranks: Count
    dumps: Count
    named: Sequence[StoppedRank]
    waiting: Count
    waits: Sequence[WaitingRank]


def _hang(catalog: TraceCatalog, params: WhichDumps) -> HangAnswer:
    report = hang(catalog.folder(params.folder))
    named = [
        StoppedRank(
            rank=each.rank, kind=each.kind, call=name_of(each.call), group=name_of(each.group), line=name_of(each.line)
        )
        for each in report.named[:_MOST_NAMED]
    ]
    waits = [
        WaitingRank(
            rank=wait.rank,
            call=name_of(wait.call) or "",
            group=name_of(wait.group) or "",
            on=wait.on[:_MOST_RANKS],
        )
        for wait in report.waits[:_MOST_WAITS]
    ]
    more = {"named": len(report.named) - len(named), "waits": len(report.waits) - len(waits)}
    notes = [f"{len(report.left_out)} files of the folder are left out."] if report.left_out else []
    return HangAnswer(
        answer=report.answer,
        ranks=report.ranks,
        dumps=report.dumps,
        named=named,
        waiting=len(report.waits),
        waits=waits,
        notes=notes,
        more={key: count for key, count in more.items() if count},
    )


HANG = Tool(
    name="hang",
    title="Hang",
    summary="Say which ranks stopped a distributed job that hangs, from its flight-recorder dumps below the root.",
    arguments=WhichDumps,
    answer=HangAnswer,
    compute=_hang,
    budget=4_000,
    shrinks=("waits", "named"),
    untrusted=("named[].call", "named[].group", "named[].line", "waits[].call", "waits[].group"),
)
