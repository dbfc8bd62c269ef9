"""Attention of inference engines over pages of a cache: how many keys are seen, the name of the engine's step says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.flops.arguments import ERRORS, Arguments
from torch_tb_profiler.analysis.flops.texts import Texts
from torch_tb_profiler.analysis.flops.work import NotKnown, Sure, Work
from torch_tb_profiler.analysis.shared.vllm_steps import StepSums, step_sums
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.model import Model

#: they take the new rows of q, k and v; the cache is no argument
SERVED = frozenset(("vllm::unified_attention", "vllm::unified_attention_with_output"))


def of_steps(model: Model, texts: Texts, nodes: Sequence[int]) -> dict[int, Work]:
    """What is known of some calls by the range of the engine around them. nodes: positions in `Model.tree`."""
    tree, strings = model.tree, model.trace.strings
    tells = ~tree.is_operator & strings.where(step_sums, tree.name)[tree.name]
    around = nearest(tree.parent, tells, np.array(nodes, np.int32))
    found = {}
    for node, step in zip(nodes, around.tolist(), strict=True):
        sums, given = step_sums(texts.name(step)) if step >= 0 else None, texts.arguments(node)
        work = None if sums is None or given is None else _attention(given, sums)
        if work is not None:
            found[node] = work
    return found


def _attention(given: Arguments, sums: StepSums) -> Work | None:
    """At most: layers that see only a window of the keys do not say so. The cache is taken to hold what k and v do."""
    try:
        q, k, v = (given.tensor(at) for at in range(3))
        (rows, heads, size), (_, kept, key), (_, values, out) = q.dims, k.dims, v.dims
        if rows < sums.tokens or key != size or kept != values or not kept or heads % kept:
            return None
        flops = 2 * heads * (size + out) * sums.pairs
        moved = sums.tokens * heads * (size + out) * q.size + sums.keys * kept * (size + out) * k.size
        return Work(flops, moved, q.data, Sure.BOUND)
    except (NotKnown, *ERRORS):
        return None
