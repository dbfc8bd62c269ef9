"""Where our answers differ from the recorded ones on purpose. docs/differences.md gives the reasons, by `id`.

The test fails on a difference that no entry explains, and on an entry that explains nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from tests.golden.peer import Golden


def any_change(theirs: Any, ours: Any) -> bool:
    return True


def ours_is_more(theirs: Any, ours: Any) -> bool:
    """A larger number, or a row that only we have."""
    if _is_number(theirs) and _is_number(ours):
        return bool(ours > theirs)
    return bool(theirs == "<no such row>" or theirs is None)


def sum_of_rounding(theirs: Any, ours: Any) -> bool:
    """Microseconds as floats of absolute time carry errors of 2^-10 each."""
    return _is_number(theirs) and _is_number(ours) and abs(theirs - ours) <= 0.1


def last_digit(theirs: Any, ours: Any) -> bool:
    return _is_number(theirs) and _is_number(ours) and abs(theirs - ours) <= 1


def operator_known(theirs: Any, ours: Any) -> bool:
    """A row of theirs without an operator's name, or the row of ours that has it."""
    unknown = isinstance(theirs, list) and theirs[0] == "<unknown>" and ours == "<no such row>"
    return unknown or bool(theirs == "<no such row>")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True)
class Explained:
    """Which differences a reason explains: recording and run, route, path in the answer, and how they differ."""

    id: str
    runs: str  # recording/run
    routes: str
    path: str = ""
    how: Callable[[Any, Any], bool] = any_change

    def covers(self, golden: Golden, path: str, theirs: Any, ours: Any) -> bool:
        return (
            any(fnmatchcase(f"{golden.recording}/{golden.params['run']}", run) for run in self.runs.split())
            and any(fnmatchcase(golden.route, route) for route in self.routes.split())
            and re.search(self.path, path) is not None
            and self.how(theirs, ours)
        )


_OVERVIEW_PARTS = r"^\.(?:performance|steps)"
_CONVOLUTION = r'"(?:autograd::engine::evaluate_function: )?(?:aten::convolution_backward|ConvolutionBackward0)"'

EXPLAINED = (
    Explained("categories-counted-twice", "units/datapipe units/distributed_nccl", "/overview", _OVERVIEW_PARTS),
    Explained(
        "annotations-are-labels",
        "torch213/ddp_gloo_* torch213/extras torch213/transformer*",
        "/overview",
        r"^\.(?:performance\[0.*\.children\[\d \"(?:CPU Exec|Other)\"\]|steps\.rows)",
    ),
    Explained(
        "collectives-are-not-operators",
        "units/distributed_*",
        "/operation*",
        r'"(?:gloo|nccl):',
    ),
    Explained(
        "backward-outside-modules",
        "torch213/ddp_gloo_* torch213/extras torch213/no_steps torch213/transformer",
        "/operation* /tree /diff /diffnode",
        "",
        ours_is_more,
    ),
    Explained("main-thread", "units/group_by_kernel_columns units/no_profilerstep", "/tree"),
    Explained("call-stacks-from-frames", "torch213/*", "/operation/table", r"\.has_call_stack$"),
    Explained("tensor-core-operators", "torch213/*", "/operation/table", _CONVOLUTION),
    Explained("rounding-of-sums", "torch213/*", "/operation /diff /diffnode", "", sum_of_rounding),
    Explained("rounding-of-sums", "torch213/*", "/operation/table", "_duration$", last_digit),
    Explained("no-operator-no-step", "units/memory_curve_*", "/overview", _OVERVIEW_PARTS),
    Explained("no-operator-no-step", "units/distributed_nccl_user_annotation*", "/overview /distributed/overlap"),
    Explained(
        "no-operator-no-step",
        "units/distributed_nccl_user_annotation*",
        "/distributed/waittime",
        r"^\.data\.(?:0|null)$",
    ),
    Explained("annotations-are-labels", "torch213/ddp_gloo_*", "/distributed/overlap"),
    Explained(
        "communication-is-its-kernels",
        "units/distributed_nccl",
        "/distributed/overlap /distributed/waittime /distributed/commops",
        r"^\.data\.(?:0|all|worker\d)\b",
    ),
    Explained(
        "communication-is-its-kernels",
        "units/distributed_nccl",
        "/overview",
        r"^\.(?:performance|steps|recommendations)",
    ),
    Explained(
        "launch-by-containment",
        "units/external_id units/gpu_utilization units/group_by_kernel_columns* units/memory_view",
        "/operation* /kernel/table",
    ),
    Explained("launched-outside-operators", "units/runtime_called_by_profilerstep", "/kernel/table"),
    Explained(
        "unlinked-kernels-are-listed", "units/distributed_* units/top_level_runtime", "/kernel/table", r"rows#length"
    ),
    Explained(
        "tensor-core-share-of-all-kernels",
        "units/distributed_* units/runtime_called_by_profilerstep units/top_level_runtime",
        "/overview",
        r"^\.gpu_metrics\.data#length",
    ),
    Explained(
        "utilization-within-steps",
        "units/multiple_profilersteps_no_overlap samples/resnet50_num_workers_4",
        "/overview",
        r"^\.gpu_metrics\.data\[\d+\]\.value$",
    ),
    Explained("findings-with-savings", "samples/* units/* torch213/*", "/overview", r"^\.recommendations"),
    Explained("communication-by-kernel", "units/runtime_launch_multipe_kernels", "/overview"),
    Explained(
        "backward-outside-modules",
        "torch213/ddp_gloo_* torch213/transformer",
        "/memory",
        "",
        ours_is_more,
    ),
    Explained(
        "backward-outside-modules",
        "torch213/ddp_gloo_* torch213/transformer",
        "/memory_events",
        r"^\.rows\.CPU",
        operator_known,
    ),
    Explained(
        "memory-calls", "torch213/no_steps torch213/transformer*", "/memory", r"^\.rows\.\w+\[.*\]\[1\]$", ours_is_more
    ),
    Explained(
        "shared-memory", "torch213/cnn_workers2", "/memory_curve", r"^\.(?:metadata\.peaks|rows)\.CPU", any_change
    ),
    Explained("addresses-of-a-device", "units/memory_view", "/memory_events", r"^\.rows"),
)
