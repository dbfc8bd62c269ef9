"""Kernels of one's own that run few warps at once, though they have blocks enough."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.shared.residency import LIMITS, known_occupancy
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import DEVICE, PROPERTIES, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.blocks import blocks_of
from torch_tb_profiler.model.kernel_names.families import family_of
from torch_tb_profiler.model.kernel_names.short import short_name

_ID = "low_occupancy"
_WORDS = {"registers": "registers", "shared_memory": "shared memory", "threads": "threads in a block"}


def _is_own(name: str) -> bool:
    """Whether a kernel may be the user's: of no known library. Compiled ones are torch's to tune."""
    return family_of(name) is None


def _find(facts: Facts) -> Sequence[Found]:
    blocks = blocks_of(facts)
    work, strings = facts.model.device_work, facts.trace.strings
    names = facts.trace.events.name[blocks.row]
    percent = known_occupancy(facts.trace, work.take(blocks.place))
    most = facts.limit(_ID, "most_occupancy")
    low = (percent < 100 * most) & (blocks.filled >= facts.limit(_ID, "least_filled") * np.maximum(blocks.resident, 1))
    low &= (blocks.resident > 0) & strings.where(_is_own, names)[names]
    chosen = np.flatnonzero(low)
    found = []
    groups = group([names[chosen]])
    total = groups.sum(blocks.duration[chosen])
    for at in descending(total)[:3].tolist():
        here = chosen[groups.of == at]
        share = facts.share(int(total[at]))
        if not facts.total_ns or share < facts.limit(_ID, "least_share"):
            break
        weight = blocks.duration[here]
        mean = float((percent[here] * weight).sum() / weight.sum()) / 100
        name = short_name(strings[int(names[here[0]])])
        limit = LIMITS[int(blocks.limit[here[np.argmax(weight)]])]
        found.append(
            Found(
                title="A kernel runs few warps at once",
                detail=(
                    f"{name} takes {100 * share:.1f} % of the average step with an occupancy of {100 * mean:.0f} %, "
                    f"limited by {_WORDS[limit]}."
                ),
                advice=(
                    "If it waits for memory, let more warps run: fewer registers (`__launch_bounds__`), smaller tiles "
                    "in shared memory, or in Triton another `num_warps`."
                ),
                values={"share": share, "occupancy": mean, "limit": limit, "name": name},
                rows=facts.longest_first(blocks.row[here]),
                severity="low",
                confidence="low",
                evidence=(
                    Evidence("occupancy", "Occupancy", mean, "fraction", "kernels"),
                    Evidence("kernel_time", "Its time per step", int(total[at]) / facts.steps, "ns", "kernels"),
                ),
                links=(
                    Link(
                        "occupancy",
                        "Occupancy",
                        "https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/index.html#occupancy",
                    ),
                ),
            )
        )
    return found


RULE = Rule(_ID, "R27", (STEPS, DEVICE, PROPERTIES), _find)
