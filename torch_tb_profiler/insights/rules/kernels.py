"""Kernels that fill little of the device, and kernels whose work is not needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal

import numpy as np

from torch_tb_profiler.analysis.flops.matmuls import matmul_kernels
from torch_tb_profiler.analysis.replay.changes import free, kernels, scale, targets
from torch_tb_profiler.analysis.shared.kernel_use import LIMITS, is_compute, known_occupancy
from torch_tb_profiler.arrays.distinct import distinct, distinct_places, one_of
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.insights.facts import CALLS, DEVICE, HOST, MACHINE, PROPERTIES, STEPS, Facts
from torch_tb_profiler.insights.places import groups_of_places
from torch_tb_profiler.insights.rule import Found, evidence, link, rule
from torch_tb_profiler.insights.shared.blocks import Blocks, blocks_of
from torch_tb_profiler.insights.shared.fusions import fusion_of
from torch_tb_profiler.insights.shared.matmuls import SHORTEST_NS
from torch_tb_profiler.insights.shared.operator_line import operator_line
from torch_tb_profiler.insights.shared.patterns import Group, kernels_of
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.kernel_names.families import family_of
from torch_tb_profiler.model.kernel_names.family import KernelKind
from torch_tb_profiler.model.kernel_names.short import short_name

#: they launch as many blocks as the device holds, or fewer, and each takes one tile after the other
_PERSISTENT = lazy_pattern(
    r"nvjet|sm90_xmma|sm100|cutlass3x|WarpSpecialized|FlashAttn(?:Fwd|Bwd)Sm|enable_sm90|(?i:persistent|stream_?k)"
)
#: they wait on purpose
_WAITING = frozenset({KernelKind.SPIN, KernelKind.WAIT})
_TILED = frozenset({KernelKind.GEMM, KernelKind.CONV})


@rule("R26", STEPS, DEVICE, PROPERTIES)
def few_blocks(facts: Facts) -> Iterator[Found]:
    """Kernels that leave multiprocessors without work: too few blocks, or a last round with few of them."""
    blocks = blocks_of(facts)
    if len(blocks.row):
        yield from _too_few(facts, blocks)
        yield from _last_round(facts, blocks)


def _too_few(facts: Facts, blocks: Blocks) -> Iterator[Found]:
    """Find kernels that most multiprocessors have no block of."""
    limit = partial(facts.limit, "few_blocks")
    few = (blocks.filled < limit("most_filled")) & blocks.alone & (blocks.duration >= limit("least_ns"))
    chosen = np.flatnonzero(few & ~_named(facts, blocks.row, _is_waiting))
    duration, filled = blocks.duration[chosen], blocks.filled[chosen]
    spent = int(duration.sum())
    if not spent or facts.share(spent) < limit("least_share"):
        return
    # with work for half of the multiprocessors a kernel comes near to what the memory gives: no more is promised
    target = np.maximum(duration * filled / limit("expected_filled"), SHORTEST_NS)
    mean = float((filled * duration).sum()) / spent
    name, part = _longest(facts, blocks, chosen)
    yield Found(
        values={"what": "few", "share": facts.share(spent), "filled": mean, "name": name, "part": part},
        rows=facts.longest_first(blocks.row[chosen]),
        changes=(targets(blocks.row[chosen].tolist(), np.ceil(target).astype(np.int64).tolist()),),
        confidence="low",
        evidence=(
            evidence("few_blocks", spent / facts.steps, "ns", "kernels"),
            evidence("filled", mean, "fraction", "kernels"),
        ),
        links=(link("wave_quantization"),),
    )


def _is_waiting(name: str) -> bool:
    family = family_of(name)
    return family is not None and family.kind in _WAITING


def _last_round(facts: Facts, blocks: Blocks) -> Iterator[Found]:
    """Find products whose tiles fill the device some times, and then a small part of it."""
    limit = partial(facts.limit, "few_blocks")
    waves = np.where(blocks.resident > 0, blocks.filled / np.maximum(blocks.resident, 1), np.nan)
    lost = 1 - waves / np.ceil(waves)
    # where a multiprocessor holds several blocks, those that are left run faster, and nothing is lost
    tail = (blocks.resident == 1) & (waves > 1) & (waves < limit("most_rounds"))
    tail &= (lost >= limit("least_lost")) & (blocks.duration >= limit("least_ns"))
    chosen = np.flatnonzero(tail & blocks.alone & _named(facts, blocks.row, _is_tiled))
    duration = blocks.duration[chosen]
    gained = duration * lost[chosen]
    spent = int(duration.sum())
    if not spent or facts.share(int(gained.sum())) < limit("least_share"):
        return
    name, part = _longest(facts, blocks, chosen)
    yield Found(
        values={
            "what": "tail",
            "share": facts.share(spent),
            "lost": float(gained.sum()) / spent,
            "name": name,
            "part": part,
        },
        rows=facts.longest_first(blocks.row[chosen]),
        changes=(targets(blocks.row[chosen].tolist(), np.ceil(duration - gained).astype(np.int64).tolist()),),
        confidence="low",
        evidence=(evidence("last_round", float(gained.sum()) / facts.steps, "ns", "kernels"),),
        links=(link("wave_quantization"),),
    )


def _is_tiled(name: str) -> bool:
    family = family_of(name)
    return (
        family is not None
        and family.kind in _TILED
        and family.tensor_cores is True
        and _PERSISTENT.search(name) is None
    )


def _longest(facts: Facts, blocks: Blocks, chosen: Int64) -> tuple[str, float]:
    """Find the name with most of the time of some kernels, and its part of it."""
    name = facts.trace.events.name[blocks.row[chosen]]
    groups = group([name])
    total = groups.sum(blocks.duration[chosen])
    best = int(descending(total)[0])
    return short_name(facts.trace.strings[int(name[groups.first[best]])]), int(total[best]) / int(total.sum())


def _named(facts: Facts, rows: Int32, wanted: Callable[[str], bool]) -> Bool:
    """Tell which events have a name that is wanted, shape (rows,)."""
    names = facts.trace.events.name[rows]
    mask: Bool = facts.trace.strings.where(wanted, names)[names]
    return mask


@rule("R27", STEPS, DEVICE, PROPERTIES)
def low_occupancy(facts: Facts) -> Iterator[Found]:
    """Kernels of one's own that run few warps at once, though they have blocks enough."""
    blocks, limit = blocks_of(facts), partial(facts.limit, "low_occupancy")
    percent = known_occupancy(facts.trace, facts.model.device_work.take(blocks.place))
    low = (percent < 100 * limit("most_occupancy")) & (blocks.resident > 0)
    low &= blocks.filled >= limit("least_filled") * np.maximum(blocks.resident, 1)
    chosen = np.flatnonzero(low & _named(facts, blocks.row, _is_own))
    names = facts.trace.events.name[blocks.row[chosen]]
    groups = group([names])
    total = groups.sum(blocks.duration[chosen])
    for kernel in descending(total)[:3].tolist():
        share = facts.share(int(total[kernel]))
        if not total[kernel] or share < limit("least_share"):
            break
        of_kernel = chosen[groups.inverse == kernel]
        weight = blocks.duration[of_kernel]
        mean = float((percent[of_kernel] * weight).sum() / weight.sum()) / 100
        yield Found(
            values={
                "share": share,
                "occupancy": mean,
                "limit": LIMITS[int(blocks.limit[of_kernel[np.argmax(weight)]])],
                "name": short_name(facts.trace.strings[int(names[groups.first[kernel]])]),
            },
            rows=facts.longest_first(blocks.row[of_kernel]),
            confidence="low",
            evidence=(
                evidence("occupancy", mean, "fraction", "kernels"),
                evidence("kernel_time", int(total[kernel]) / facts.steps, "ns", "kernels"),
            ),
            links=(link("occupancy"),),
        )


def _is_own(name: str) -> bool:
    """Tell whether a kernel may be the user's: of no known library. Compiled ones are torch's to tune."""
    return family_of(name) is None


#: between N C H W and N H W C, which libraries do around convolutions
_CONVERSION = lazy_pattern(r"nchwToNhwc|nhwcToNchw|tensorTransform|^batched_transpose_|transpose_(?:NCHW|CNHW|packed)")
#: places that have a finding of their own
_PLACES = 3
#: operators that copy a tensor only to have its elements one behind the other
_CONTIGUOUS = frozenset({"aten::contiguous", "aten::reshape", "aten::_reshape_copy", "aten::flatten"})


@rule("R32", STEPS, MACHINE)
def layout(facts: Facts) -> Iterator[Found]:
    """Kernels, or operators of a program on the CPU, that only reorder tensors in memory."""
    if not facts.model.has_device_work:
        yield from _copies_on_cpu(facts)
        return
    rows = facts.model.device_work.row[is_compute(facts.model)]
    conversions = rows[_named(facts, rows, lambda name: _CONVERSION.search(name) is not None)]
    conversions = facts.longest_first(facts.in_steps(conversions))
    spent = int(facts.duration(conversions).sum())
    if spent and facts.share(spent) >= facts.limit("layout", "least_share"):
        yield _reordered(facts, conversions, "conversions")
    for part in _copies(facts, facts.in_steps(rows[_named(facts, rows, _is_copy)])):
        yield _reordered(facts, part, "copies")


def _is_copy(name: str) -> bool:
    family = family_of(name)
    return family is not None and family.kind is KernelKind.COPY


def _copies(facts: Facts, rows: Int32) -> Iterator[Int32]:
    """Find the copies that make tensors contiguous: places that are worth a look of their own, then all others."""
    model, tree = facts.model, facts.model.tree
    if not len(tree) or not len(rows):
        return
    node = model.device_links.operator_node[np.searchsorted(model.device_work.row, rows)]
    named = facts.trace.strings.where(_CONTIGUOUS.__contains__, tree.name)[tree.name]
    rows = facts.longest_first(rows[nearest(tree.parent, named, node) >= 0])
    limit = facts.limit("layout", "least_share_of_copies")
    if facts.share(int(facts.duration(rows).sum())) < limit:
        return
    groups = group([groups_of_places(model, rows)])
    total = groups.sum(facts.duration(rows))
    own = [at for at in descending(total)[:_PLACES].tolist() if facts.share(int(total[at])) >= limit / 2]
    yield from (rows[groups.inverse == at] for at in own)
    others = rows[~one_of(groups.inverse, own)]
    if facts.share(int(facts.duration(others).sum())) >= limit / 2:
        yield others


def _copies_on_cpu(facts: Facts) -> Iterator[Found]:
    """Find copies of a program on the CPU that make tensors contiguous."""
    tree, strings = facts.model.tree, facts.trace.strings
    named = strings.where(_CONTIGUOUS.__contains__, tree.name)[tree.name]
    copied = np.flatnonzero(strings.where(lambda name: name == "aten::copy_", tree.name)[tree.name])
    rows = facts.in_steps(tree.row[copied[nearest(tree.parent, named, copied) >= 0]])
    spent = int(facts.duration(rows).sum())
    if not len(rows) or facts.share(spent) < facts.limit("layout", "least_share_of_copies"):
        return
    yield Found(
        values={"what": "copies", "count": len(rows), "share": facts.share(spent)},
        rows=facts.longest_first(rows),
        changes=(free("operator", rows=rows.tolist()),),
        confidence="low",
        evidence=(evidence("order_copies", spent / facts.steps, "ns", "operators"),),
        links=(link("tensor_views"),),
    )


def _reordered(facts: Facts, rows: Int32, what: Literal["conversions", "copies"]) -> Found:
    """Make the finding of some kernels."""
    spent, converts = int(facts.duration(rows).sum()), what == "conversions"
    return Found(
        values={"what": what, "count": len(rows), "share": facts.share(spent)},
        rows=rows,
        changes=(kernels(0, rows=rows.tolist()),),
        confidence="medium" if converts else "low",
        evidence=(evidence("layout_kernels" if converts else "order_copies", spent / facts.steps, "ns", "kernels"),),
        links=(link("channels_last" if converts else "tensor_views"),),
    )


@rule("R33", STEPS, HOST, DEVICE, CALLS)
def conv_bias(facts: Facts) -> Iterator[Found]:
    """Convolutions add a bias that the batch norm behind them takes away again."""
    line = operator_line(facts.model)
    groups = []
    # a batch norm that trains counts its batches (`add_`) first
    for first, _ in line.matches(r"Vi(?=a?b)"):
        rows = kernels_of(facts.model, line.rows(first, first + 2))
        adding = kernels_of(facts.model, line.rows(first + 1, first + 2))
        if len(adding) and len(rows) > len(adding):
            groups.append(Group(rows, int(facts.duration(rows).sum()) - int(facts.duration(adding).sum())))
    fusion = fusion_of(facts, groups)
    if fusion is None or facts.share(fusion.spent_ns - fusion.left_ns) < facts.limit("conv_bias", "least_share"):
        return
    yield Found(
        values={
            "convolutions": len(fusion.groups) / facts.steps,
            "spent_ns": (fusion.spent_ns - fusion.left_ns) / facts.steps,
            "training": facts.is_training,
        },
        rows=fusion.rows,
        changes=(fusion.change,),
        evidence=fusion.evidence(facts),
        links=(link("conv_bias"),),
    )


_CONVOLUTIONS = frozenset(
    {
        *("aten::" + name for name in "cudnn_convolution cudnn_convolution_transpose convolution_backward".split()),
        *("aten::" + name for name in "cudnn_convolution_relu cudnn_convolution_add_relu miopen_convolution".split()),
        *("aten::cudnn_convolution_backward_" + name for name in ("input", "weight")),
    }
)
#: what a call costs the host whose algorithm is known, where the trace has none such, ns
_USUAL_CALL_NS = 100_000


@rule("R34", STEPS, HOST, DEVICE)
def convolution_tuning(facts: Facts) -> Iterator[Found]:
    """Convolutions that try all algorithms while steps run, because they have not seen their sizes before."""
    model, tree, limit = facts.model, facts.model.tree, partial(facts.limit, "convolution_tuning")
    if not len(tree):
        return
    tried = matmul_kernels(model)
    convolves = facts.trace.strings.where(_CONVOLUTIONS.__contains__, tree.name)[tree.name]
    owner = nearest(tree.parent, convolves, model.device_links.operator_node[tried.place])
    rows = tried.row[owner >= 0]
    nodes, node_of = distinct_places(owner[owner >= 0])
    pairs = group([node_of.astype(np.int64), facts.trace.events.name[rows]])
    count = np.bincount(node_of, minlength=len(nodes))
    different = np.bincount(node_of[pairs.first], minlength=len(nodes))
    tunes = (count >= limit("least_kernels")) & (different >= limit("least_different"))
    step = facts.step_of(tree.row[nodes])
    # a first step is there to warm up
    tuned = np.flatnonzero(tunes & (step >= min(1, facts.steps - 1)))
    duration = (tree.end - tree.start)[nodes]
    spent = int(duration[tuned].sum())
    if not spent or facts.steps < 2 or facts.share(spent) < limit("least_share"):
        return
    others, calls = duration[(step >= 0) & ~tunes], tree.row[nodes[tuned]]
    usual = median(others) if len(others) else _USUAL_CALL_NS
    extra = _all_but_the_last(facts, rows, node_of, tuned)
    yield Found(
        values={
            "count": len(tuned),
            "steps": len(distinct(step[tuned])),
            "all_steps": facts.steps,
            "kernels": int(count[tuned].max()),
            "share": facts.share(spent),
        },
        rows=facts.longest_first(calls),
        changes=(
            scale(None, min(1.0, usual / (spent / len(tuned))), rows=calls.tolist()),
            targets(extra.tolist(), [0] * len(extra)),
        ),
        confidence="medium",
        evidence=(
            evidence("tuned_calls", len(tuned), "count", "operators"),
            evidence("tuned_time", spent / facts.steps, "ns", "operators"),
        ),
        links=(link("cudnn_benchmark"),),
    )


def _all_but_the_last(facts: Facts, rows: Int32, of: Int64, tuned: Int64) -> Int32:
    """Find the kernels that were tried: of each call all but the last, which is the one that was chosen."""
    here = np.flatnonzero(one_of(of, tuned.tolist()))
    order = here[np.lexsort((facts.trace.events.start[rows[here]], of[here]))]
    last = np.append(of[order][1:] != of[order][:-1], True)
    kept: Int32 = rows[order[~last]]
    return kept


#: in fewer steps the first and the last third are not compared
_FEWEST_STEPS = 6


@rule("R74", STEPS, DEVICE)
def clock_throttling(facts: Facts) -> Iterator[Found]:
    """Find that the same kernels take longer from step to step, nearly all of them alike: the clock of the device goes
    down.
    """
    model, n = facts.model, facts.steps - 1
    work, chosen = model.device_work, np.flatnonzero(is_compute(model))
    step = facts.step_of(work.row[chosen]) - 1  # the first step warms up
    chosen, step = chosen[step >= 0], step[step >= 0]
    if n < _FEWEST_STEPS or not len(chosen):
        return
    ns = facts.duration(work.row[chosen])
    alike = group([facts.trace.events.name[work.row[chosen]], work.grid[chosen], work.block[chosen]])
    calls, spent = (np.zeros((len(alike), n), np.int64) for _ in range(2))
    np.add.at(calls, (alike.inverse, step), 1)
    np.add.at(spent, (alike.inverse, step), ns)
    same = (calls == calls[:, :1]).all(axis=1)  # as often in every step
    third = n // 3
    early, late = spent[same][:, :third].sum(axis=1), spent[same][:, -third:].sum(axis=1)
    ratio, of_step = facts.limit("clock_throttling", "least_ratio"), spent[same].sum(axis=0)
    if not same.any() or late.sum() < ratio * early.sum():
        return
    slower = late >= (1 + (ratio - 1) / 2) * early
    least = facts.limit("clock_throttling", "least_share_of_kernels")
    if late[slower].sum() < least * spent[:, -third:].sum() or not _rises(of_step):
        return
    usual = early.sum() / third
    mine = np.flatnonzero(same[alike.inverse] & (of_step[step] > usual))
    rows = work.row[chosen[mine]]
    yield Found(
        values={
            "ratio": float(late.sum() / early.sum()),
            "steps": third,
            "share": float(late[slower].sum() / late.sum()),
        },
        rows=facts.longest_first(rows),
        changes=(targets(rows.tolist(), (ns[mine] * usual / of_step[step[mine]]).astype(np.int64).tolist()),),
        confidence="medium",
        evidence=(
            evidence("early_kernels", float(usual), "ns", "steps"),
            evidence("late_kernels", float(late.sum() / third), "ns", "steps"),
        ),
        links=(link("clocks"),),
    )


def _rises(ns: Int64) -> bool:
    """Tell whether times go up from step to step: of most pairs of steps, the later one takes longer."""
    earlier, later = np.triu_indices(len(ns), 1)
    return float((ns[later] > ns[earlier]).mean()) >= _OF_PAIRS


#: of all pairs of steps
_OF_PAIRS = 0.75
