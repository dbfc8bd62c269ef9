"""What a program does one by one, for which there is one operator: elements, experts, gradients."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod

import numpy as np

from torch_tb_profiler.analysis.replay.changes import Change, free, fused_groups, scale, targets, without
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.lookup import LaneIndex, take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.insights.facts import CALLS, DEVICE, HOST, SHAPES, STEPS, Facts
from torch_tb_profiler.insights.places import groups_of_places
from torch_tb_profiler.insights.rule import NO_ROWS, Found, evidence, link, rule
from torch_tb_profiler.insights.shared.fusions import fusion_of
from torch_tb_profiler.insights.shared.operator_line import EVALUATE, input_dims, operator_line
from torch_tb_profiler.insights.shared.patterns import Group, kernels_of, products_left, shapes
from torch_tb_profiler.insights.shared.recurring import Loops, tensor_loops
from torch_tb_profiler.model.model import DATALOADER_NAME
from torch_tb_profiler.trace import Category

#: places in the code that are listed one by one
_MOST_PLACES = 3


@rule("R16", STEPS, HOST)
def tensor_loop(facts: Facts) -> Iterator[Found]:
    """Find a Python loop over the elements of a tensor."""
    tree = facts.model.structure.tree
    fewest, largest = (int(facts.limit("tensor_loop", name)) for name in ("fewest_rounds", "most_operators"))
    loops = tensor_loops(facts.model, fewest, largest)
    rows = tree.row[loops.first]
    # a batch is put together by another thread or process where that matters
    loading = nearest(tree.parent, _is_loading(facts), loops.first) >= 0
    inside = np.flatnonzero((facts.step_of(rows) >= 0) & ~loading)
    if not len(inside):
        return
    place = groups_of_places(facts.model, rows[inside])
    length = loops.end - loops.start
    total = {int(each): int(length[inside[place == each]].sum()) for each in distinct(place)}
    for each in sorted(total, key=lambda number: -total[number])[:_MOST_PLACES]:
        if facts.share(total[each]) >= facts.limit("tensor_loop", "least_share"):
            mine = inside[place == each]
            yield _of_place(facts, loops, mine[np.argsort(-length[mine], kind="stable")], rows)


def _is_loading(facts: Facts) -> Bool:
    tree = facts.model.structure.tree
    named = facts.trace.strings.where(DATALOADER_NAME.search, tree.name)[tree.name]
    found: Bool = named & (tree.category == Category.USER_ANNOTATION)
    return found


def _of_place(facts: Facts, loops: Loops, mine: Int64, rows: Int32) -> Found:
    spent = int((loops.end[mine] - loops.start[mine]).sum())
    all_rounds, spent_ns = int(loops.rounds[mine].sum()), spent / facts.steps
    stretches = list(zip(loops.track[mine], loops.start[mine], loops.end[mine], strict=True))
    backward = _backward_of(facts, loops, mine)
    return Found(
        values={
            "operators": int(loops.operators[mine[0]]),
            "rounds": int(loops.rounds[mine].max()),
            "spent_ns": spent_ns,
            "share": facts.share(spent),
        },
        rows=rows[mine],
        # one round is left of each loop
        changes=(
            scale(None, len(mine) / all_rounds, intervals=stretches),
            *([scale(None, len(mine) / all_rounds, rows=backward)] if len(backward) else []),
        ),
        confidence="medium" if bool(loops.is_sure[mine].all()) else "low",
        evidence=(
            evidence("loop_per_step", spent_ns, "ns", "trace", "aten::select"),
            evidence("rounds_per_step", all_rounds / facts.steps, "count", "operators", "aten::select"),
            evidence("loops", len(mine), "count", "trace", "aten::select"),
        ),
        links=(link("vmap"),),
    )


def _backward_of(facts: Facts, loops: Loops, mine: Int64) -> Int32:
    """Return the nodes of autograd that belong to the operators of some loops: they run as often."""
    tree, pairs = facts.model.structure.tree, facts.model.structure.forward_backward
    if not len(pairs.forward):
        return NO_ROWS
    order = mine[np.lexsort((loops.start[mine], loops.track[mine]))]
    place = LaneIndex(loops.track[order], loops.start[order]).last(tree.track[pairs.forward], tree.start[pairs.forward])
    inside = (place >= 0) & (tree.start[pairs.forward] < take_known(loops.end[order], place))
    is_node = facts.trace.strings.where(lambda name: name.startswith(EVALUATE), tree.name)[tree.name]
    node = nearest(tree.parent, is_node, pairs.backward[inside])
    found: Int32 = distinct(tree.row[node[node >= 0]])
    return found


#: take the tokens of an expert, multiply two or three times, put them back
_EXPERT = r"I[^AIgG\n]{0,5}(?:[gG][^AIgG\n]{0,5}){2,3}(?:I[^AIgG\n]{0,5})?A"
#: what routes tokens chooses the best experts (`topk`) at most so many operators before it; layers of graphs do not
_AFTER_ROUTING = 40
#: what a gather is multiplied in: the same layer, without attention and without adding up what the experts gave
_UNTIL_PRODUCTS, _BEFORE_PRODUCT = r"[^AS\n]*", 24
#: operators between one expert and the next, at most
_BETWEEN = 12


@rule("R63", STEPS, HOST, DEVICE, CALLS)
def expert_loop(facts: Facts) -> Iterator[Found]:
    """Find a mixture of experts as a loop over the experts: many small products."""
    line, tree_row = operator_line(facts.model), facts.model.tree.row
    groups, experts, waiting = [], 0, []
    for first, after, count in _loops(line.text, list(line.matches(_EXPERT))):
        if count < facts.limit("expert_loop", "least_experts") or not line.is_soon_after("K", first, _AFTER_ROUTING):
            continue
        rows = kernels_of(facts.model, line.rows(first, after))
        if len(rows) and int(facts.step_of(rows[:1])[0]) >= 0:
            groups.append((rows, products_left(facts, rows)))
            experts += count
            nodes = line.node[first:after]
            waiting += tree_row[nodes[[letter == "N" for letter in line.text[first:after]]]].tolist()
    spent = sum(int(facts.duration(rows).sum()) for rows, _ in groups)
    kernels = sum(len(rows) for rows, _ in groups)
    if not groups or kernels / facts.steps < facts.limit("expert_loop", "least_kernels"):
        return
    changes: list[Change] = [fused_groups((rows.tolist(), target) for rows, target in groups)]
    if waiting:
        changes.append(without("sync", rows=waiting))
    longest = [int(rows[np.argmax(facts.duration(rows))]) for rows, _ in groups]
    yield Found(
        values={
            "layers": len(groups),
            "steps": facts.steps,
            "experts": experts / len(groups),
            "kernels": kernels / facts.steps,
            "mean_ns": spent / kernels,
        },
        rows=facts.longest_first(np.array(longest, np.int32)),
        changes=tuple(changes),
        evidence=(
            evidence("expert_kernels", kernels / facts.steps, "count", "kernels"),
            evidence("expert_ns", spent / facts.steps, "ns", "kernels"),
        ),
        confidence="medium",
        links=(link("grouped_mm"),),
    )


def _loops(text: str, experts: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """(first, after, experts) of experts that follow one another, without a product of anything else between."""
    found: list[tuple[int, int, int]] = []
    for first, after in experts:
        between = text[found[-1][1] : first] if found else ""
        if found and len(between) <= _BETWEEN and not set(between) & set("gG\n"):
            found[-1] = (found[-1][0], after, found[-1][2] + 1)
        else:
            found.append((first, after, 1))
    return found


@rule("R64", STEPS, HOST, DEVICE, CALLS, SHAPES)
def gathered_experts(facts: Facts) -> Iterator[Found]:
    """Find weights of experts that are copied for each token."""
    line = operator_line(facts.model)
    groups = []
    taken: set[int] = set()
    for gather, _ in line.matches("I"):
        if not line.is_soon_after("K", gather, _AFTER_ROUTING):
            continue
        after = re.match(_UNTIL_PRODUCTS, line.text[gather + 1 :][:_BEFORE_PRODUCT])
        products = [at for at in range(gather + 1, gather + 1 + (after.end() if after else 0)) if line.text[at] == "G"]
        product = next((at for at in products if at not in taken and _is_of_weights(facts, gather, at)), None)
        if product is not None:
            taken.add(product)
            rows = [kernels_of(facts.model, line.rows(at, at + 1)) for at in (gather, product)]
            groups.append(Group(np.concatenate(rows), int(facts.duration(rows[1]).sum())))
    found = fusion_of(facts, groups)
    share = facts.share(found.spent_ns - found.left_ns) if found else 0.0
    if found is None or share < facts.limit("gathered_experts", "least_share"):
        return
    yield Found(
        values={"calls": len(found.groups), "steps": facts.steps, "share": share},
        rows=found.rows,
        changes=(found.change,),
        evidence=found.evidence(facts),
        confidence="medium",  # of few tokens the copies may be cheaper than sorting
        links=(link("grouped_mm"),),
    )


def _is_of_weights(facts: Facts, gather: int, product: int) -> bool:
    """Tell whether an index takes whole matrices out of a stack of them, which the product then multiplies with."""
    line, strings = operator_line(facts.model), facts.trace.strings
    nodes = line.node[[gather, product]]
    taken, multiplied = (shapes(str(strings[code])) for code in input_dims(facts.model, nodes).tolist())
    if not taken or len(taken[0]) != 3:
        return False
    matrix = taken[0][1:]
    if min(matrix) < 16 or taken[0][0] < 2:
        return False
    size = prod(matrix)
    return any(
        len(shape) == 3 and prod(shape) % size == 0 and prod(shape) > 0 and sorted(shape[1:]) == sorted(matrix)
        for shape in multiplied
    )


_ZEROES = frozenset(("aten::zero_", "aten::_foreach_zero_"))
#: the same call on modules has no annotation
_FRAME = "): zero_grad"


@rule("R19", STEPS, HOST)
def zero_grad(facts: Facts) -> Iterator[Found]:
    """Gradients are filled with zeros instead of being set to None."""
    trace, structure, n = facts.trace, facts.model.structure, facts.steps
    tree, links = structure.tree, structure.device_links
    zero = np.flatnonzero(trace.strings.where(_ZEROES.__contains__, tree.name)[tree.name] & _in_zero_grad(facts))
    zero = zero[facts.step_of(tree.row[zero]) >= 0]
    if not len(zero):
        return
    wanted = np.zeros(len(tree), np.bool_)
    wanted[zero] = True
    rows = tree.row[zero]
    work = trace.device_work.row[(links.launch >= 0) & (nearest(tree.parent, wanted, links.node) >= 0)]
    fills = max(len(rows), len(work)) / n
    if fills < facts.limit("zero_grad", "fewest_per_step"):
        return
    host_ns, device_ns = (int(facts.duration(each).sum()) / n for each in (rows, work))
    changes: list[Change] = [free(rows=rows)]
    if len(work):
        changes.append(targets(work, np.zeros(len(work), np.int64)))
    yield Found(
        values={"fills": fills, "host_ns": host_ns, "device_ns": device_ns, "on_device": len(work) > 0},
        rows=facts.longest_first(rows),
        changes=tuple(changes),
        evidence=(
            evidence("fills_per_step", fills, "count", "operators", "aten::zero_"),
            evidence("zero_grad_on_host", host_ns, "ns", "operators"),
            *((evidence("zero_grad_on_device", device_ns, "ns", "kernels"),) if len(work) else ()),
        ),
        links=(link("zero_grad"),),
    )


def _in_zero_grad(facts: Facts) -> Bool:
    """Shape (nodes,): what runs inside of `zero_grad` of an optimizer or a module."""
    model = facts.model
    tree, frames, strings = model.structure.tree, model.structure.frames, facts.trace.strings
    marked = tree.category == Category.USER_ANNOTATION
    marked &= strings.where(lambda name: name.startswith("Optimizer.zero_grad#"), tree.name)[tree.name]
    nodes: Int64 = np.arange(len(tree), dtype=np.int64)
    found: Bool = nearest(tree.parent, marked, nodes) >= 0
    if len(frames):
        called = strings.where(lambda name: name.endswith(_FRAME) and "torch/" in name, frames.name)[frames.name]
        found |= nearest(frames.parent, called, tree.frame) >= 0
    return found
