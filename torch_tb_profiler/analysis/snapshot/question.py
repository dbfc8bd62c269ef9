"""Questions about a memory snapshot: a summary, what is in use by line or stack, and lifetimes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Bytes, Count, InlineTable, TraceMeta
from torch_tb_profiler.analysis.question import NoParameters, NotFound, Question, Subject
from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.analysis.snapshot.alive import AliveBy, WhichTree, alive_rows, alive_stacks
from torch_tb_profiler.analysis.snapshot.allocation_patterns import lifetime_rows
from torch_tb_profiler.analysis.snapshot.frames import stack_names
from torch_tb_profiler.analysis.snapshot.history import (
    AtMoment,
    Moment,
    OfDevice,
    device_history,
    moment_of,
    snapshot_question,
)
from torch_tb_profiler.analysis.snapshot.lifetimes import about
from torch_tb_profiler.analysis.snapshot.oom import Oom
from torch_tb_profiler.analysis.snapshot.segment_map import SNAPSHOT_SEGMENTS
from torch_tb_profiler.analysis.snapshot.summary import SnapshotDevice, SnapshotFinding, memory_snapshot
from torch_tb_profiler.analysis.snapshot.timeline import SNAPSHOT_TIMELINE
from torch_tb_profiler.analysis.stacks.flame_graph import SMALLEST_SHARE
from torch_tb_profiler.analysis.tabular import Table, TableMeta
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.words.sentences import because, memory_text


class WhichAlive(AtMoment, frozen=True):
    """A moment, one to compare with, and what makes a row."""

    by: Annotated[AliveBy, Meta(description="What makes a row.")] = "line"
    since: Annotated[str | None, Meta(description="The moment to compare with, as `at`; without it none.")] = None


class SnapshotAnswer(Answer, frozen=True, kw_only=True):
    """A memory snapshot in a few numbers.

    meta            which snapshot
    said            the sentence: why memory ran out, otherwise the largest numbers
    devices         that have a record or a segment, the one with most records first
    device_texts    the same in words: what was most, and what is left
    inferred_texts  why memory ran out, if it did when the snapshot was taken; empty of devices with a history
    ooms            failed allocations, by device, then record
    oom_sentences   the same in words
    findings        what to change
    finding_texts   the same in words
    contradictions  how often there is what cannot be, in the records and the state at the end
    cut_off         whether the file ends too early; if so, memory in use is counted from the first record
    overflowed      whether the oldest records were overwritten; null if the file does not contain it
    settings        of the allocator
    """

    meta: TraceMeta
    said: str
    devices: Sequence[SnapshotDevice]
    device_texts: Sequence[str]
    inferred_texts: Sequence[str]
    ooms: Sequence[Oom]
    oom_sentences: Sequence[str]
    findings: Sequence[SnapshotFinding]
    finding_texts: Sequence[str]
    contradictions: Count
    cut_off: bool
    overflowed: bool | None
    settings: Mapping[str, str | int | float | bool | Mapping[str, int | str | bool]]


class AliveMeta(TableMeta, frozen=True, kw_only=True):
    """What accompanies the blocks that are alive.

    moment    the record after which it is
    since     the record that is compared with, null for none
    group_by  what makes a row
    """

    moment: Moment
    since: Moment | None
    group_by: str


class StacksOfSnapshotMeta(TraceMeta, frozen=True, kw_only=True):
    """Beside bytes by call stack.

    moment       the record after which they are in use
    root         id of the only entry that is shown, with everything below it; 0 for everything
    whole_bytes  of what is shown
    all_bytes    of all stacks
    limit_bytes  entries with less are folded together
    """

    moment: Moment
    root: int
    whole_bytes: Bytes
    all_bytes: Bytes
    limit_bytes: Bytes


class SnapshotStacksAnswer(InlineTable, frozen=True, kw_only=True):
    """Bytes in use by call stack as a tree in a table: `parent` is a row, -1 at the top.

    meta  which snapshot and moment
    """

    meta: StacksOfSnapshotMeta


class SnapshotStacks(Result, group="snapshot.stacks"):
    """A tree of call stacks in preorder, by what they hold."""

    id: Int64 = column("Id", "Identifies the frames from the outermost down to it.", unit=None)
    parent: Int64 = column("Parent", "Row of its caller; -1 at the top.", unit=None)
    name: Sequence[str] = column("Name", "file(line): function of a frame.")
    self_bytes: Int64 = column("Self", "Requested bytes in use that it allocated itself.")
    total_bytes: Int64 = column("Total", "Self + Σ total of the entries directly below.")
    blocks: Int64 = column("Allocations", "How many it allocated itself.")
    folded: Int64 = column("Folded", "How many entries were folded into this one; 0 for all others.")


def _snapshot(subject: Subject, _: NoParameters) -> SnapshotAnswer:
    summary = memory_snapshot(subject.model)
    return SnapshotAnswer(
        meta=TraceMeta(**subject.about("snapshot")),
        said=summary.text,
        devices=summary.devices,
        device_texts=[device.text for device in summary.devices],
        inferred_texts=[
            memory_text("inferred_oom", device.inferred_oom) if device.inferred_oom else ""
            for device in summary.devices
        ],
        ooms=summary.ooms,
        oom_sentences=[memory_text("oom", oom) for oom in summary.ooms],
        findings=summary.findings,
        finding_texts=[memory_text(finding.id, finding) for finding in summary.findings],
        contradictions=summary.contradictions,
        cut_off=summary.cut_off,
        overflowed=summary.overflowed,
        settings=about(subject.model).get("settings") or {},
    )


def _alive(subject: Subject, params: WhichAlive) -> Table[AliveMeta]:
    model = subject.model
    history = device_history(model, params.device)
    at = moment_of(history, params.at)
    since = None if params.since is None else moment_of(history, params.since)
    rows = alive_rows(history, stack_names(model), at.position, params.by, None if since is None else since.position)
    meta = AliveMeta(
        **subject.about("snapshot"),
        moment=at,
        since=since,
        group_by=params.by,
    )
    without = ("line", "size") if params.by in ("module", "annotation") else ("group",)
    return rows.table(meta, without=without if since else (*without, "difference"))


def _lifetimes(subject: Subject, params: OfDevice) -> Table[TableMeta]:
    model = subject.model
    found = lifetime_rows(device_history(model, params.device), stack_names(model))
    return found.table(TableMeta(**subject.about("snapshot")))


def _stacks(subject: Subject, params: WhichTree) -> SnapshotStacksAnswer:
    model = subject.model
    history = device_history(model, params.device)
    moment = moment_of(history, params.at)
    names = stack_names(model)
    stacks = alive_stacks(history, names, moment.position, params, SMALLEST_SHARE)
    if stacks is None:
        raise NotFound(because("no_such_stack", {"root": params.root}))
    tree = SnapshotStacks(
        id=stacks.id,
        parent=stacks.parent,
        name=stacks.name,
        self_bytes=stacks.self_ns,
        total_bytes=stacks.total_ns,
        blocks=stacks.calls,
        folded=stacks.folded,
    ).as_columns()
    meta = StacksOfSnapshotMeta(
        **subject.about("snapshot"),
        moment=moment,
        root=params.root,
        whole_bytes=stacks.whole_ns,
        all_bytes=stacks.all_ns,
        limit_bytes=stacks.limit_ns,
    )
    return SnapshotStacksAnswer(meta=meta, columns=tree.columns, rows=tree.rows)


MEMORY_SNAPSHOT = snapshot_question(
    name="snapshot",
    summary="A memory snapshot in a few numbers, and why memory ran out",
    answer=SnapshotAnswer,
    compute=_snapshot,
    precompute=(NoParameters(),),
    report=({},),
)


SNAPSHOT_ALIVE = snapshot_question(
    name="snapshot/alive",
    summary="What is in use at a moment, by line, stack, size, stream, module or annotation",
    answer=Table[AliveMeta],
    parameters=WhichAlive,
    compute=_alive,
    precompute=(WhichAlive(),),
    report=({}, {"by": "size"}, {"by": "module"}),
)


SNAPSHOT_TREE = snapshot_question(
    name="snapshot/stacks",
    summary="Bytes in use at a moment by call stack, as a tree in a table",
    answer=SnapshotStacksAnswer,
    parameters=WhichTree,
    compute=_stacks,
    precompute=(WhichTree(),),
    report=({},),
)


LIFETIMES = snapshot_question(
    name="snapshot/lifetimes",
    summary="How long the allocations of each stack live",
    answer=Table[TableMeta],
    parameters=OfDevice,
    compute=_lifetimes,
    precompute=(OfDevice(),),
    report=({},),
)


#: in the order in which the page asks them
QUESTIONS: Sequence[Question] = (
    MEMORY_SNAPSHOT,
    SNAPSHOT_TIMELINE,
    SNAPSHOT_ALIVE,
    SNAPSHOT_SEGMENTS,
    SNAPSHOT_TREE,
    LIFETIMES,
)
