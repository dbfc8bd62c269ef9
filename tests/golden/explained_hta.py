"""Where our numbers differ from those of Holistic Trace Analysis, and why. docs/differences.md says more, by `id`.

The test fails on a difference that no entry explains, and on an entry that explains nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase


def any_change(theirs: float, ours: float) -> bool:
    return True


def ours_is_more(theirs: float, ours: float) -> bool:
    return ours > theirs


def ours_is_less(theirs: float, ours: float) -> bool:
    return ours < theirs


def less_than_a_microsecond_per_segment(theirs: float, ours: float) -> bool:
    return theirs <= ours <= theirs * 1.4


def within_the_grain(theirs: float, ours: float) -> bool:
    """A quarter of a microsecond for each of some thousand numbers, half of them up and half down."""
    return abs(theirs - ours) <= 60


@dataclass(frozen=True)
class Explained:
    """Which numbers a reason explains: data sets, questions, what the number is, and how it differs."""

    id: str
    data_sets: str
    questions: str
    what: str = ""
    how: Callable[[float, float], bool] = any_change

    def covers(self, data_set: str, question: str, what: str, theirs: float, ours: float) -> bool:
        return (
            any(fnmatchcase(data_set, name) for name in self.data_sets.split())
            and question in self.questions.split(", ")
            and re.search(self.what, what) is not None
            and self.how(theirs, ours)
        )


_FRACTIONS = "amd_mi250 nccl_parser_config ns_resolution_trace tl_* triton_example"
_WHOLE = "cp_* df_index_resolver dlrm8 kineto_resnet50 saf_a100_compile"

EXPLAINED = (
    Explained("hta-sync-is-work", "cp_*", "temporal", "kernel|idle|compute"),
    Explained("hta-sync-is-work", "cp_*", "kernels", "Stream Wait Event"),
    Explained("hta-sync-is-work", "cp_*", "kernel totals, kernel types", "", ours_is_less),
    Explained("hta-segments-truncated", _FRACTIONS, "kernel types", "", less_than_a_microsecond_per_segment),
    Explained("hta-unknown-launch", "dlrm8", "idle", "host_wait|unknown"),
    Explained("hta-negative-gaps", "saf_a100_compile", "idle", "kernel_wait", ours_is_more),
    Explained("hta-float-grain", "ns_resolution_trace", "temporal, idle, launches", "", within_the_grain),
    Explained("hta-launch-names", "saf_a100_compile tl_* triton_example amd_mi250", "launches, queue"),
    Explained("hta-blocked-last-stream", "df_index_resolver", "queue", "blocked", ours_is_more),
    Explained("hta-ties", "cp_event_sync_multi", "queue", "max"),
    Explained("hta-last-step-dropped", "nccl_parser_config", "operators"),
    Explained("hta-host-rows-on-stream-0", "triton_example tl_rocm_triton", "temporal, kernels", "", ours_is_less),
    Explained("hta-host-rows-on-stream-0", "triton_example tl_rocm_triton", "kernels", "min", ours_is_more),
    Explained("hta-host-rows-on-stream-0", "triton_example tl_rocm_triton", "kernels", "mean"),
    Explained(
        "hta-host-rows-on-stream-0", "triton_example tl_rocm_triton", "kernel types, kernel totals", "", ours_is_less
    ),
    Explained("hta-bandwidth-argument", _WHOLE, "copies"),
    Explained(
        "hta-mtia", "mtia_inference_trace", "temporal, idle, launches, queue, kernels, kernel types, kernel totals"
    ),
    Explained("hta-mtia", "mtia_inference_trace", "operators"),
)
