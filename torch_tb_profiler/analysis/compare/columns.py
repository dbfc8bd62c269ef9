"""Two traces beside each other."""

from __future__ import annotations

from msgspec import UNSET
from msgspec.structs import replace

from torch_tb_profiler.analysis.definition import Definition, by_key
from torch_tb_profiler.analysis.kernels.table import KernelTable
from torch_tb_profiler.analysis.operators.table import OperatorTable
from torch_tb_profiler.analysis.roofline.table import RooflineTable

_PARTS = "parts"


def _of_both(*definitions: Definition) -> dict[str, Definition]:
    """Baseline, experiment and change of each."""
    found: list[Definition] = []
    for key, d in by_key(_PARTS, *definitions).items():
        found += (
            replace(d, label=f"Baseline {d.label}", help=f"Baseline: {d.help}", id=f"baseline {d.id}"),
            replace(
                d,
                key=f"exp_{key}",
                label=f"Experiment {d.label}",
                help=f"Experiment: {d.help}",
                id=f"experiment {d.id}",
            ),
            replace(
                d,
                key=f"delta_{key}",
                label=f"Δ {d.label}",
                help=f"Experiment − baseline: {d.help}",
                id=f"delta {d.id}",
            ),
        )
    return by_key(_PARTS, *found)


COMPARE_PARTS = {
    **by_key(
        _PARTS,
        Definition(
            "path",
            "Path",
            "string",
            None,
            "Where the part is: 0 is the root, 0-2 its third part; empty if there is nothing to open.",
        ),
        Definition(
            "name",
            "Baseline",
            "string",
            None,
            "Name of the part in the baseline; for several between two pairs, the first and the last; empty if the "
            "baseline has nothing there.",
        ),
        Definition("exp_name", "Experiment", "string", None, "The same in the experiment."),
        Definition(
            "kind",
            "Kind",
            "string",
            None,
            "What it is on both sides (module, backward, dataloader, optimizer, step, label, communication, "
            "operator), or group. At the end of the root: before (work launched before the recording) and rest "
            "(everything that is in no part).",
        ),
        Definition("has_parts", "Has parts", "bool", None, "Whether it consists of parts that can be paired."),
    ),
    **_of_both(
        Definition("duration_ns", "Host", "number", "ns", "Σ durations on the host."),
        Definition(
            "device_ns", "Device", "number", "ns", "Σ durations of the kernels, copies and fills launched in it."
        ),
        Definition(
            "total_ns", "Time", "number", "ns", "Σ of the device time of each node, or of its duration if it has none."
        ),
    ),
}

COMPARE_OPERATORS = {
    "name": OperatorTable.columns["name"],
    **_of_both(
        *(
            OperatorTable.columns[key]
            for key in ("calls", "host_self_ns", "host_total_ns", "device_self_ns", "device_total_ns")
        )
    ),
}

COMPARE_KERNELS = {
    "name": KernelTable.columns["name"],
    "short_name": KernelTable.columns["short_name"],
    **_of_both(KernelTable.columns["calls"], KernelTable.columns["total_ns"]),
}

#: of the columns of both sides; the change of lost time comes first
_SHOWN = frozenset("delta_lost_ns delta_time_ns roof_share exp_roof_share lost_ns exp_lost_ns".split())


def _rooflines() -> dict[str, Definition]:
    columns = RooflineTable.columns
    both = _of_both(*(columns[key] for key in ("calls", "time_ns", "flops", "roof_share", "lost_ns")))
    cause = Definition(
        "cause",
        "What differs",
        "string",
        None,
        "only_baseline, only_experiment: the other side does not have it; work: calls of a step, FLOP or bytes "
        "differ by more than 1 %; kernels: the same work at a part of the roof that differs by more than 5 %; "
        "same.",
    )
    return {
        **{key: columns[key] for key in ("name", "input_shape")},
        "delta_lost_ns": both["delta_lost_ns"],
        **by_key("compare_roofline", cause),
        **{key: replace(each, hidden=key not in _SHOWN or UNSET) for key, each in both.items()},
    }


COMPARE_ROOFLINE = _rooflines()
