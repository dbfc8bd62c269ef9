"""The question what is in use in one snapshot and not in another."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Count, InlineTable, TraceMeta
from torch_tb_profiler.analysis.question import NotFound, Question, Subject
from torch_tb_profiler.analysis.snapshot.against import AgainstBy, against
from torch_tb_profiler.analysis.snapshot.frames import stack_names
from torch_tb_profiler.analysis.snapshot.moments import Moment, device_history, find_moment, moment_of
from torch_tb_profiler.snapshot.state import is_snapshot
from torch_tb_profiler.words.reasons import because

MOST_ROWS = 2000

_At = Annotated[str, Meta(description="A moment of this side, as `at` of what is alive.", max_length=40)]
_Device = Annotated[int | None, Meta(description="Number of a device; without it that with most records.")]


class WhichTwo(msgspec.Struct, frozen=True):
    """A moment of each of two snapshots, and what makes a row."""

    at: _At = "peak"
    exp_at: _At = "peak"
    device: _Device = None
    exp_device: _Device = None
    by: Annotated[AgainstBy, Meta(description="What makes a row.")] = "line"


class AgainstAnswer(Answer, frozen=True, kw_only=True):
    """What is in use in a snapshot, the second of the two, and what was in another.

    meta      the snapshot that is looked at
    before    the moment of the other side: its peak if it has none of the requested kind
    moment    the moment
    rows      what differs most first; Σ difference over all rows = the difference of `requested` of the moments
    left_out  how many more there are
    """

    meta: TraceMeta
    before: Moment
    moment: Moment
    rows: InlineTable
    left_out: Count


def _against(other: Subject, own: Subject, asked: WhichTwo) -> AgainstAnswer:
    if not is_snapshot(other.model.trace) or not is_snapshot(own.model.trace):
        raise NotFound(because("no_snapshot"))
    theirs, ours = device_history(other.model, asked.device), device_history(own.model, asked.exp_device)
    # a program that ran out of memory is compared with one that did not
    before = find_moment(theirs, asked.at) or moment_of(theirs, "peak")
    at = moment_of(ours, asked.exp_at)
    found = against(
        (theirs, stack_names(other.model), before.position), (ours, stack_names(own.model), at.position), asked.by
    )
    return AgainstAnswer(
        meta=TraceMeta(**own.about("snapshot")),
        before=before,
        moment=at,
        rows=found.as_columns(without=() if asked.by == "size" else ("size",), most=MOST_ROWS),
        left_out=max(len(found) - MOST_ROWS, 0),
    )


SNAPSHOT_AGAINST_ANOTHER = Question(
    name="snapshot/against",
    summary="Memory in use in a memory snapshot, but not in another",
    compute=_against,
)
