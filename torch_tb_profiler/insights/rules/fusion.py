"""Kernels that one kernel could replace: elementwise chains, and norms and attention operator by operator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.insights.facts import CALLS, DEVICE, HOST, MACHINE, STEPS, Facts
from torch_tb_profiler.insights.rule import Found, link, rule
from torch_tb_profiler.insights.shared.fusions import Fusion, WrittenOut, fusion_of, written_out
from torch_tb_profiler.insights.shared.operator_line import input_dims, input_types, operator_line
from torch_tb_profiler.insights.shared.patterns import (
    Group,
    attention,
    attention_group,
    attention_written_out,
    chains,
    in_backward_of_attention,
    norm_spans,
    norms,
    shapes,
)

#: what is written out, and the page of the operator that torch has for it
_KINDS = ("rms_norm", "layer_norm", "softmax")
_MATH = "aten::_scaled_dot_product_attention_math"


def _costly(facts: Facts, name: str, groups: Sequence[Group]) -> Fusion | None:
    """Return what there is to fuse; None where it takes less of the steps than the rule of this name speaks of."""
    found = fusion_of(facts, groups)
    return None if found is None or facts.share(found.spent_ns) < facts.limit(name, "least_share") else found


@rule("R28", STEPS, HOST, DEVICE, CALLS)
def pointwise_chain(facts: Facts) -> Iterator[Found]:
    """Chains of elementwise kernels: each reads and writes the whole tensor."""
    taken = [attention_group(facts, first, after).rows for first, after in attention(facts.model)]
    taken += [each.rows for kind in _KINDS for each in norms(facts, kind)]
    groups = chains(facts, taken, int(facts.limit("pointwise_chain", "least_kernels")))
    fusion = _costly(facts, "pointwise_chain", groups)
    if fusion is None:
        return
    yield Found(
        values={
            "share": facts.share(fusion.spent_ns),
            "kernels": fusion.kernels / facts.steps,
            "per_chain": fusion.kernels / len(fusion.groups),
        },
        rows=fusion.rows,
        changes=(fusion.change,),
        evidence=fusion.evidence(facts),
        confidence="medium",
        links=(link("compile_tutorial"),),
    )


def _on_cpu(facts: Facts, name: str, spans: Sequence[tuple[int, int]], stays: str = "") -> WrittenOut | None:
    """Find what one operator could do in a program on the CPU; None where it takes less than the rule speaks of."""
    found = written_out(facts, spans, stays)
    return None if found is None or facts.share(found.ns) < facts.limit(name, "least_share") else found


@rule("R28", STEPS, HOST, MACHINE)
def unfused_norm(facts: Facts) -> Iterator[Found]:
    """Norms and softmax that are written out, operator by operator."""
    on_cpu = not facts.model.has_device_work
    for kind in _KINDS if on_cpu else ():
        one = _on_cpu(facts, "unfused_norm", norm_spans(facts.model, kind))
        if one is not None:
            yield Found(
                values={
                    "kind": kind,
                    "share": facts.share(one.ns),
                    "calls": one.calls,
                    "steps": facts.steps,
                    "per_call": one.pieces / one.calls,
                    "device": False,
                },
                rows=one.rows,
                changes=(one.change,),
                confidence="medium",
                links=(link(kind),),
            )
    for kind in () if on_cpu or not facts.model.has_runtime else _KINDS:
        fusion = _costly(facts, "unfused_norm", norms(facts, kind))
        if fusion is None:
            continue
        calls = len(fusion.groups)
        yield Found(
            values={
                "kind": kind,
                "share": facts.share(fusion.spent_ns),
                "calls": calls,
                "steps": facts.steps,
                "per_call": fusion.kernels / calls,
                "device": True,
            },
            rows=fusion.rows,
            changes=(fusion.change,),
            evidence=fusion.evidence(facts),
            links=(link(kind),),
        )


@rule("R30", STEPS, HOST, MACHINE)
def unfused_attention(facts: Facts) -> Iterator[Found]:
    """Attention made of two products and a softmax."""
    spans = attention_written_out(facts.model, attention(facts.model))
    one = None if facts.model.has_device_work else _on_cpu(facts, "unfused_attention", spans, stays="G")
    if one is not None:
        yield Found(
            values={"share": facts.share(one.ns), "calls": one.calls, "steps": facts.steps},
            rows=one.rows,
            changes=(one.change,),
            confidence="medium",
            links=(link("sdpa"),),
        )
    if one is not None or not facts.model.has_device_work or not facts.model.has_runtime:
        return
    found = _costly(facts, "unfused_attention", [attention_group(facts, first, after) for first, after in spans])
    if found is None:
        return
    yield Found(
        values={"share": facts.share(found.spent_ns), "calls": len(found.groups), "steps": facts.steps},
        rows=found.rows,
        changes=(found.change,),
        evidence=found.evidence(facts),
        confidence="medium",
        links=(link("sdpa"),),
    )


@rule("R31", STEPS, HOST, DEVICE, CALLS)
def attention_math(facts: Facts) -> Iterator[Found]:
    """Torch's operator of attention runs without a fused kernel."""
    model, tree = facts.model, facts.model.tree
    named = tree.name == facts.trace.strings.code(_MATH)
    calls = np.flatnonzero(named)
    if not len(calls):
        return
    line = operator_line(model)
    around = nearest(tree.parent, named, model.device_links.operator_node)
    groups = []
    for call in distinct(around[around >= 0]).tolist():
        place = line.place[(around == call) & (line.place >= 0)]
        if len(place):
            groups.append(attention_group(facts, int(place.min()), int(place.max()) + 1))
    groups += in_backward_of_attention(facts)
    found = _costly(facts, "attention_math", groups)
    if found is None:
        return
    yield Found(
        values={"share": facts.share(found.spent_ns), "inputs": _query(facts, calls)},
        rows=found.rows,
        changes=(found.change,),
        place_rows=tree.row[calls],
        evidence=found.evidence(facts),
        links=(link("sdpa_kernel"),),
    )


def _query(facts: Facts, calls: Int64) -> str:
    """Shape and type of the query of the first call; empty if not recorded."""
    dims = shapes(str(facts.trace.strings[input_dims(facts.model, calls[:1])[0]]))
    types = str(facts.trace.strings[input_types(facts.model, calls[:1])[0]])
    if not dims or not dims[0]:
        return ""
    kind = types.strip("[]").split(",")[0].strip(' "')
    return f"{' × '.join(map(str, dims[0]))} {kind}".rstrip()
