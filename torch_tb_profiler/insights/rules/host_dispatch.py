"""The host spends most of the step in operators, and the device waits for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import scale
from torch_tb_profiler.analysis.replay.labels import Label
from torch_tb_profiler.analysis.waterfall import waterfall
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import DEVICE, HOST, STEPS
from torch_tb_profiler.insights.rule import NO_ROWS, Evidence, Found, Link, Rule

#: operators that the detail names
NAMED = 3
#: what runs where the program is compiled
COMPILED = ("CompiledFunction", "Torch-Compiled Region", "## Call CompiledFxGraph")
_ADVICE = {
    "training": (
        "Call fewer operators: `torch.compile(model)` makes one of many, `fused=True` or `foreach=True` updates all "
        "parameters in an optimizer at once."
    ),
    "inference": (
        "Call fewer operators: `torch.compile(model)` makes one of many, and larger batches give each more to do. "
        "`torch.inference_mode()` makes each call shorter."
    ),
    "compiled": (
        'Parts are compiled: `torch.compile(model, mode="reduce-overhead")` launches them as CUDA graphs. '
        "`TORCH_LOGS=graph_breaks` names the lines at which compiled code ends and operators run one by one."
    ),
}


def _find(facts: Facts) -> Sequence[Found]:
    found = waterfall(facts.model)
    total = int(found.step_ns.sum()) * len(found.devices)
    if found.basis != "devices" or not total:
        return ()
    busy = 1 - int(found.of("idle").sum()) / total
    row, own = _self_times(facts)
    # an operator that takes longer computes on the CPU; compiled code is Python that launches
    launching = (own <= facts.limit("host_dispatch", "longest_ns")) | _is_compiled(facts, row)
    in_operators = facts.share(int(own[launching].sum()))
    least, most = facts.limit("host_dispatch", "least_busy"), facts.limit("host_dispatch", "most_busy")
    if not least <= busy <= most or in_operators < facts.limit("host_dispatch", "least_share"):
        return ()
    events, strings = facts.trace.events, facts.trace.strings
    by_name = sums_at(events.name[row], own, len(strings))
    top = [int(code) for code in np.argsort(-by_name, kind="stable")[:NAMED] if by_name[code]]
    named = ", ".join(f"`{strings[code]}` {100 * facts.share(int(by_name[code])):.0f} %" for code in top)
    calls = len(row) / facts.steps
    if calls < facts.limit("host_dispatch", "fewest_operators"):
        return ()
    how = _how(facts, row)
    return (
        Found(
            title="Operators keep the host busy, and the device waits",
            detail=(
                f"The host spends {100 * in_operators:.0f} % of the step in {calls:.0f} operators, most in "
                f"{named}, while the device is busy {100 * busy:.0f} % of the time."
            ),
            advice=_ADVICE[how],
            values={
                "share": in_operators,
                "operators": calls,
                "busy": busy,
                "named": named,
                "how": how,
            },
            rows=row[np.argsort(-own, kind="stable")],
            place_rows=NO_ROWS,  # it is everywhere
            changes=(scale("operator", 0.5),),
            confidence="medium",
            evidence=(
                Evidence("in_operators", "Host time in operators, of the step", in_operators, "fraction", "operators"),
                Evidence("device_busy", "Device busy", busy, "fraction", "overview"),
                *(
                    Evidence(
                        "self_time_of",
                        "Self time per step of the operator",
                        int(by_name[code]) / facts.steps,
                        "ns",
                        "operators",
                        f"op:{strings[code]}",
                    )
                    for code in top
                ),
            ),
            links=(Link("torch_compile", "torch.compile", "https://docs.pytorch.org/docs/stable/torch.compiler.html"),),
        ),
    )


def _is_compiled(facts: Facts, row: Int32) -> Bool:
    name = facts.trace.events.name[row]
    found: Bool = facts.trace.strings.where(lambda text: text.startswith(COMPILED), name)[name]
    return found


def _how(facts: Facts, row: Int32) -> str:
    if _is_compiled(facts, row).any():
        return "compiled"
    return "training" if facts.is_training else "inference"


def _self_times(facts: Facts) -> tuple[Int32, Int64]:
    """Operators that begin in the steps, and the host time of each that is no other operator's and no call's, ns."""
    host = facts.graph.host
    counts = (host.label == Label.OPERATOR) & (host.node >= 0)
    own = sums_at(host.node[counts], host.length[counts], len(host.row))
    rows = host.row[own > 0]
    inside = facts.step_of(rows) >= 0
    return rows[inside], own[own > 0][inside]


RULE = Rule("host_dispatch", "R14", (STEPS, HOST, DEVICE), _find, replaces=("device_idle",), general=True, replay=True)
