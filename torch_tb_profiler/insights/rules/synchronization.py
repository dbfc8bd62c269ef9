"""The host waits for the device: for values, for sizes, to log, to check, and at each launch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.changes import Change, free, scale, targets, without
from torch_tb_profiler.analysis.replay.launched_work import WorkKind
from torch_tb_profiler.analysis.replay.scenario import apply_changes, unchanged
from torch_tb_profiler.arrays.distinct import distinct, isin
from torch_tb_profiler.arrays.grouping import greatest_at, group, least_at
from torch_tb_profiler.arrays.lookup import LaneIndex, take_known
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.insights.facts import CALLS, DEVICE, FRAMES, HOST, STEPS, Facts
from torch_tb_profiler.insights.places import common_place
from torch_tb_profiler.insights.rule import Found, evidence, link, rule
from torch_tb_profiler.insights.shared.allocations import freeing_waits
from torch_tb_profiler.insights.shared.copies import Direction, copies_of, large_reads
from torch_tb_profiler.insights.shared.device_words import platform
from torch_tb_profiler.insights.shared.frames import SAVES, in_frames, in_logging, logging_frame, logging_rows
from torch_tb_profiler.insights.shared.recurring import by_place
from torch_tb_profiler.insights.shared.waits import (
    WaitedFor,
    Waits,
    anomaly_checks,
    below,
    by_line,
    in_checks,
    recurring_waits,
    wait_evidence,
    waits,
)
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.event_names import SYNCHRONIZE

_OF: Mapping[WaitedFor, str] = {
    WaitedFor.CONDITION: "condition",
    WaitedFor.COPY_BACK: "copy_back",
    WaitedFor.COPY_TO: "copy_to",
    WaitedFor.DEVICE: "device",
    WaitedFor.STREAM: "stream",
}
#: how the calls of the devices that torch runs on begin: NVIDIA, AMD, Intel (three layers), Ascend
_APIS = ("cuda", "hip", "ur", "pi", "ze", "acl")
_GRAD_SCALER = lazy_pattern(r"torch/(?:cuda/)?amp/grad_scaler\.py\(")
_PAGES = {
    "copy_back": "pinned_memory",
    "copy_to": "pinned_memory",
    "device": "asynchronous_execution",
    "stream": "asynchronous_execution",
    "runtime": "asynchronous_execution",
}
#: reported by rules of their own
_OTHERS = (WaitedFor.DYNAMIC, WaitedFor.PAGEABLE)


@rule("R9", STEPS, DEVICE, CALLS, replay=True)
def sync_points(facts: Facts) -> Iterator[Found]:
    """Find calls in which the host stops and waits for the device."""
    trace, least = facts.trace, facts.limit("sync_points", "least_share")
    found = waits(facts.model)
    found = recurring_waits(facts, found.take(~_are_others(facts, found)))
    found = found.take(~_are_tokens(facts, found))
    lines = by_line(facts, found, least)
    places = _hidden_places(facts, lines, found)
    for line in [found] if places else lines:
        call = _call_of(facts, line)
        operator = str(trace.strings[int(line.operator[0])]) if line.operator[0] >= 0 else ""
        how = _how(facts, line, call)
        # what is left of many lines together has no name
        what = "" if len(distinct(line.operator)) > 1 else operator or call
        yield Found(
            values={"what": what, **_values(facts, line), "how": how, "places": places},
            rows=line.longest,
            changes=_never_asked(line),
            # less is what any program waits for that uses a value once a step
            least_share=least,
            confidence="medium" if how in ("operator", "runtime") else "high",
            evidence=wait_evidence(facts, line, call),
            links=(link(_PAGES.get(how, "sync_debug_mode")),),
        )


def _hidden_places(facts: Facts, lines: Sequence[Waits], waits: Waits) -> str:
    """Where waits are that save time only together, as the next one waits for what one did no longer wait for; empty
    where those of single lines save most of what all do.

    lines   the heaviest
    waits   all waits
    """
    if not lines or len(lines[0]) == len(waits):
        return ""
    base = int(unchanged(facts.graph).settled_ns.sum())

    def saved(some: Waits) -> int:
        return base - int(apply_changes(facts.trace, facts.graph, [without("sync", rows=some.row)]).settled_ns.sum())

    together = saved(waits)
    least = max(facts.limit("sync_points", "least_share") * base, 1)
    if together < least or sum(map(saved, lines)) > facts.limit("sync_points", "most_alone") * together:
        return ""
    places = [common_place(facts.model, waits.row[at]) for at in by_place(facts, waits.row, waits.waited_ns)]
    return ", ".join(dict.fromkeys(f"`{place.text}`" for place in places if place is not None))


def _are_others(facts: Facts, waits: Waits) -> Bool:
    """Mark waits that other rules report."""
    model = facts.model
    names = facts.trace.strings.where(lambda name: "barrier" in name.lower(), np.maximum(waits.operator, 0))
    others = (waits.operator >= 0) & names[np.maximum(waits.operator, 0)]
    others |= in_logging(model, waits.row) | in_checks(model, waits.row) | np.isin(waits.asked, _OTHERS)
    # what the allocator waits for before it gives memory back
    others |= isin(waits.row, freeing_waits(model)) | in_frames(model, waits.row, SAVES)
    # the copies of another rule, and what waits for them in the same operator
    others |= isin(waits.place, waits.place[isin(waits.row, large_reads(facts).call)])
    return others


#: what a server needs of each step: values, or a copy of them and the event after it
_TOKENS = (WaitedFor.VALUE, WaitedFor.COPY_BACK, WaitedFor.STREAM)


def _are_tokens(facts: Facts, waits: Waits) -> Bool:
    """Mark reads that end the steps of a program which infers: the next step begins with what they read.

    They are the only ones, all work is done when they return, and no other is launched after them. None where batches
    are copied to the device: a batch does not depend on what is read of the one before.
    """
    batches = copies_of(facts)
    batches = batches.take(batches.direction == Direction.TO_DEVICE)
    if facts.is_training or not len(waits) or (batches.bytes >= facts.limit("sync_points", "batch_bytes")).any():
        return np.zeros(len(waits), np.bool_)
    items, calls, step = facts.graph.items, facts.graph.calls, facts.step_of(waits.row)
    item = np.flatnonzero(items.call >= 0)
    item = item[np.argsort(calls.start[items.call[item]], kind="stable")]
    returned = facts.trace.events.end[waits.row]
    after = np.searchsorted(calls.start[items.call[item]], returned)
    ended = np.append(0, np.maximum.accumulate(items.end[item]))[after] <= returned
    ended &= np.append(facts.step_of(calls.row[items.call[item]]), -1)[after] != step
    pairs = group([step, waits.place.astype(np.int64)])
    alone = np.bincount(step[pairs.first], minlength=facts.steps)[step] == 1
    ends: Bool = np.isin(waits.asked, _TOKENS) & ended & alone
    return ends


def _never_asked(line: Waits) -> tuple[Change, ...]:
    """Return what removes waits, with the operators that are left out with them: those that read one value."""
    read = line.place[line.asked == WaitedFor.VALUE]
    return (without("sync", rows=line.row), *([free(rows=distinct(read))] if len(read) else []))


def _call_of(facts: Facts, group: Waits) -> str:
    """Return the call of the first."""
    return str(facts.trace.strings[int(facts.trace.events.name[group.row[0]])])


def _values(facts: Facts, group: Waits) -> dict[str, str | float]:
    waited = int(group.waited_ns.sum())
    return {
        "times": group.times,
        "steps": facts.steps,
        "waited_ns": waited / facts.steps,
        "share": facts.share(waited),
    }


def _how(facts: Facts, group: Waits, call: str) -> str:
    """Say what the program asked for."""
    kinds = {WaitedFor(each) for each in group.asked.tolist()}
    if len(kinds) > 1:
        return "operator"
    (kind,) = kinds
    if kind == WaitedFor.VALUE and bool(in_frames(facts.model, group.row[:1], _GRAD_SCALER)[0]):
        return "grad_scaler"
    if kind == WaitedFor.VALUE:
        return _kind_of_value(facts, group) or ("value" if facts.is_training else "value_inference")
    if group.operator[0] >= 0:
        return _OF.get(kind, "operator")
    # torch copies in operators; what it waits for outside of them is the program's own call
    is_torch = call.startswith(_APIS) and bool(facts.model.structure.tree.is_operator.any())
    return _OF[kind] if is_torch and kind in (WaitedFor.DEVICE, WaitedFor.STREAM) else "runtime"


#: how the types of values begin that are no loss: sizes and positions, and conditions
_WHOLE = ("long", "int", "short", "char", "unsigned", "c10::uint")
#: names of what computes sizes
_OF_SIZES = lazy_pattern(r"(?i)all_?(?:2|to)_?all|splits?\b|permute|(?:^|[^a-z])sizes?(?:[^a-z]|$)|dispatch|num_tokens")


def _kind_of_value(facts: Facts, group: Waits) -> str | None:
    """Say what a value is that is read, by its type, else by the names around it; None where it may be a loss."""
    tree, trace = facts.model.structure.tree, facts.trace
    row = group.place[:1]
    node = facts.model.structure.nesting.innermost(trace.events.track[row], trace.events.start[row]).astype(np.int64)
    operator = take_known(tree.operator, node).astype(np.int64)
    types = str(trace.strings[int(take_known(trace.operators.input_type, operator, missing=0)[0])])
    first = types.strip("[]").split(",")[0].strip(' "')
    if first.startswith("bool"):
        return "condition"
    if first.startswith(_WHOLE):
        return "size"
    where = common_place(facts.model, row)
    around = "" if where is None else " ".join(filter(None, (where.annotation, where.function, where.module)))
    return "size" if not first and _OF_SIZES.search(around) else None


@rule("R10", STEPS, DEVICE, CALLS, FRAMES, replay=True)
def logging_reads(facts: Facts) -> Iterator[Found]:
    """Values that are read from the device in each step to be printed or logged."""
    model = facts.model
    found = waits(model)
    frame = logging_frame(model, found.row)
    asked = np.isin(found.asked, (WaitedFor.VALUE, WaitedFor.CONDITION, WaitedFor.COPY_BACK))
    group = recurring_waits(facts, found.take((frame >= 0) & asked))
    if not len(group) or facts.share(int(group.waited_ns.sum())) < facts.limit("logging_reads", "least_share"):
        return
    group = group.take(np.argsort(-group.waited_ns, kind="stable"))
    first = logging_frame(model, group.row[:1])[0]
    frame_name = str(facts.trace.strings[int(model.structure.frames.name[first])])
    yield Found(
        values={"logger": frame_name.rpartition(": ")[2], **_values(facts, group)},
        rows=group.longest,
        # what is not read need not be put into words
        changes=(without("sync", rows=group.row), free(rows=logging_rows(model, group.row))),
        evidence=wait_evidence(facts, group, _call_of(facts, group)),
        links=(link("avoid_synchronization"),),
    )


#: what to do, and how the names of its operators begin; the first that fits
_SIZES: Mapping[str, tuple[str, ...]] = {
    "assign": ("aten::index_put_", "aten::_index_put"),
    "mask": ("aten::index", "aten::masked"),
    "repeat": ("aten::repeat_interleave",),
    "bincount": ("aten::bincount",),
    "unique": ("aten::unique", "aten::_unique"),
}


@rule("R11", STEPS, DEVICE, CALLS, replay=True)
def dynamic_shapes(facts: Facts) -> Iterator[Found]:
    """Operators whose result has a size that only the device knows, so that the host waits for it."""
    found = waits(facts.model)
    least = facts.limit("dynamic_shapes", "least_share")
    for line in by_line(facts, found.take(found.asked == WaitedFor.DYNAMIC), least):
        operator = str(facts.trace.strings[int(line.operator[0])])
        how = next((how for how, begins in _SIZES.items() if operator.startswith(begins)), "nonzero")
        yield Found(
            values={"operator": operator, **_values(facts, line), "how": how},
            rows=line.longest,
            changes=(without("sync", rows=line.row),),
            evidence=wait_evidence(facts, line, _call_of(facts, line)),
            links=(link("sync_debug_mode"),),
        )


@rule("R12", STEPS, HOST)
def anomaly_mode(facts: Facts) -> Iterator[Found]:
    """Anomaly detection of autograd: the gradients of each backward node are checked for NaN."""
    model = facts.model
    checks = anomaly_checks(model)
    fewest, least = facts.limit("anomaly_mode", "fewest"), facts.limit("anomaly_mode", "least_ratio")
    rows = facts.in_steps(model.structure.tree.row[checks.node])
    if len(checks.checked) < fewest or checks.share < least or not len(rows):
        return
    spent_ns = int(facts.duration(rows).sum()) / facts.steps
    changes: list[Change] = [without("sync", rows=rows), free(rows=rows)]
    work = model.trace.device_work.row[below(model, checks.node, model.structure.device_links.node) >= 0]
    if len(work):
        changes.append(targets(work, np.zeros(len(work), np.int64)))
    yield Found(
        values={"share": checks.share, "spent_ns": spent_ns},
        rows=facts.longest_first(rows),
        changes=tuple(changes),
        evidence=(
            evidence("checked_nodes", checks.share, "fraction", "operators"),
            evidence("checks_per_step", spent_ns, "ns", "operators"),
        ),
        links=(link("anomaly_detection"),),
    )


@rule("R12", STEPS, DEVICE, CALLS, replaces=("sync_points", "logging_reads", "dynamic_shapes"), replay=True)
def launch_blocking(facts: Facts) -> Iterator[Found]:
    """Each launch waits until its kernel is done: CUDA_LAUNCH_BLOCKING and its like."""
    row, launches = facts.graph.calls.row, _launches(facts)
    n = len(launches.call)
    if n < facts.limit("launch_blocking", "fewest"):
        return
    blocks = launches.within | (launches.sync >= 0)
    share = float(np.count_nonzero(blocks)) / n
    if share < facts.limit("launch_blocking", "least_ratio"):
        return
    within = launches.call[launches.within]
    syncs = distinct(launches.sync[(launches.sync >= 0) & ~launches.within])
    waited = int(facts.duration(row[np.concatenate((within, syncs))]).sum())
    yield Found(
        values={"share": share, "launches": n, "platform": platform(facts.model)},
        rows=facts.longest_first(row[launches.call[blocks]]),
        changes=tuple(_changes(facts, within, syncs)),
        evidence=(
            evidence("blocking_launches", share, "fraction", "trace"),
            evidence("launches", n, "count", "trace"),
            evidence("in_launches", waited / facts.steps, "ns", "trace"),
        ),
        links=(link("asynchronous_execution"),),
    )


class _Launches(msgspec.Struct, frozen=True):
    """Launches of kernels in the steps that take long enough to tell. Parallel, shape (n,).

    call      index into RuntimeCalls
    within    the call returned only after the last of its kernels had ended
    sync      index into RuntimeCalls: a call that waits and follows at once on the same thread, -1 for none
    """

    call: Int64
    within: Bool
    sync: Int64


def _launches(facts: Facts) -> _Launches:
    calls, items, strings = facts.graph.calls, facts.graph.items, facts.trace.strings
    kernel = np.flatnonzero((items.kind == WorkKind.KERNEL) & (items.call >= 0))
    done_of = greatest_at(items.call[kernel], items.end[kernel], len(calls))
    starts = np.zeros(len(calls), np.bool_)
    starts[items.call[kernel]] = True
    began_of = least_at(items.call[kernel], items.start[kernel], len(calls))
    call = np.flatnonzero(starts & (facts.step_of(calls.row) >= 0))
    call = call[done_of[call] - began_of[call] >= facts.limit("launch_blocking", "long_ns")]
    is_sync = np.flatnonzero(strings.where(SYNCHRONIZE.search, calls.name)[calls.name])
    first = LaneIndex(calls.lane[is_sync], calls.start[is_sync]).first(calls.lane[call], calls.end[call])
    after = take_known(is_sync, first)
    near = facts.limit("launch_blocking", "follows_ns")
    follows = np.where((after >= 0) & (take_known(calls.start, after) - calls.end[call] <= near), after, -1)
    return _Launches(call, calls.end[call] >= done_of[call], follows)


def _changes(facts: Facts, within: Int64, syncs: Int64) -> Sequence[Change]:
    """Return what lets launches take their own time alone, and nothing wait after them."""
    graph, calls = facts.graph, facts.graph.calls
    found: list[Change] = [without("sync", rows=calls.row[syncs])] if len(syncs) else []
    if len(within):
        # until its kernel can begin
        own = np.minimum(calls.release[within], calls.end[within]) - calls.start[within]
        own = np.maximum(own - graph.latencies.launch, 0)
        took = int((calls.end[within] - calls.start[within]).sum())
        found.append(scale("launch", int(own.sum()) / max(took, 1), rows=calls.row[within]))
    return found
