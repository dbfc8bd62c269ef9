"""Which ranks stopped a distributed job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count
from torch_tb_profiler.api.recordings import hang
from torch_tb_profiler.hangs.diagnose import Answer, Kind
from torch_tb_profiler.mcp.catalog import TraceCatalog
from torch_tb_profiler.mcp.tool import Tool, ToolAnswer, ToolParams, name_of

_MOST_NAMED = 16


class WhichDumps(ToolParams, frozen=True, kw_only=True):
    """Which job."""

    folder: Annotated[
        str, Meta(description="Path of the folder with the dumps, relative to the root; empty for the root itself.")
    ] = ""


class StoppedRank(msgspec.Struct, frozen=True, kw_only=True):
    """A rank that stopped the job.

    kind  host_stopped: it never entered the call; device_stopped: its partners finished the call, it did not; desync:
          it calls something else than most; deadlock: it is in a circle of ranks; missing: it left no dump
    rank  its number in the job
    call  which it did not finish, or did not enter
    group  description of its process group
    line  where the program called, or called last; null without stacks
    """

    rank: int
    kind: Kind
    call: str | None
    group: str | None
    line: str | None


class HangAnswer(ToolAnswer, frozen=True, kw_only=True):
    """What the dumps of a job say.

    answer   yes; partly: a rank left no dump, or none stands out; cannot: no dump could be read
    ranks    of the job
    dumps    that could be read
    named    those that stopped it
    waiting  ranks with an unfinished call
    """

    answer: Answer
    ranks: Count
    dumps: Count
    named: Sequence[StoppedRank]
    waiting: Count


def _hang(catalog: TraceCatalog, params: WhichDumps) -> HangAnswer:
    report = hang(catalog.folder(params.folder))
    named = [
        StoppedRank(
            rank=each.rank, kind=each.kind, call=name_of(each.call), group=name_of(each.group), line=name_of(each.line)
        )
        for each in report.named[:_MOST_NAMED]
    ]
    unnamed = len(report.named) - len(named)
    notes = [f"{len(report.left_out)} files of the folder are left out."] if report.left_out else []
    return HangAnswer(
        answer=report.answer,
        ranks=report.ranks,
        dumps=report.dumps,
        named=named,
        waiting=len(report.waits),
        notes=notes,
        more={"named": unnamed} if unnamed else {},
    )


HANG = Tool(
    name="hang",
    title="Hang",
    summary="Say which ranks stopped a distributed job that hangs, from its flight-recorder dumps below the root.",
    arguments=WhichDumps,
    answer=HangAnswer,
    compute=_hang,
    budget=2_500,
    shrinks=("named",),
    untrusted=("named[].call", "named[].group", "named[].line"),
)
