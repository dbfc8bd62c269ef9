"""Kernels that leave multiprocessors without work: too few blocks, or a last round with few of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import targets
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import DEVICE, PROPERTIES, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.blocks import Blocks, blocks_of
from torch_tb_profiler.insights.shared.products import SHORTEST_NS
from torch_tb_profiler.late_pattern import late_pattern
from torch_tb_profiler.model.kernel_names.families import family_of
from torch_tb_profiler.model.kernel_names.family import Kind
from torch_tb_profiler.model.kernel_names.short import short_name

_ID = "few_blocks"
#: they launch as many blocks as the device holds, or fewer, and each takes one tile after the other
_PERSISTENT = late_pattern(
    r"nvjet|sm90_xmma|sm100|cutlass3x|WarpSpecialized|FlashAttn(?:Fwd|Bwd)Sm|enable_sm90|(?i:persistent|stream_?k)"
)
#: they wait on purpose
_WAITING = frozenset({Kind.SPIN, Kind.WAIT})
_TILED = frozenset({Kind.GEMM, Kind.CONV})


def _find(facts: Facts) -> Sequence[Found]:
    blocks = blocks_of(facts)
    if not len(blocks.row):
        return ()
    found = (_too_few(facts, blocks), _last_round(facts, blocks))
    return [each for each in found if each is not None]


def _named(facts: Facts, blocks: Blocks, wanted: Callable[[str], bool]) -> Bool:
    strings = facts.trace.strings
    names = facts.trace.events.name[blocks.row]
    mask: Bool = strings.where(wanted, names)[names]
    return mask


def _is_waiting(name: str) -> bool:
    family = family_of(name)
    return family is not None and family.kind in _WAITING


def _is_tiled(name: str) -> bool:
    family = family_of(name)
    return (
        family is not None
        and family.kind in _TILED
        and family.tensor_cores is True
        and _PERSISTENT.search(name) is None
    )


def _too_few(facts: Facts, blocks: Blocks) -> Found | None:
    """Kernels that most multiprocessors have no block of."""
    most = facts.limit(_ID, "most_filled")
    few = (blocks.filled < most) & blocks.alone & (blocks.duration >= facts.limit(_ID, "least_ns"))
    few &= ~_named(facts, blocks, _is_waiting)
    chosen = np.flatnonzero(few)
    spent = int(blocks.duration[chosen].sum())
    if not len(chosen) or not facts.total_ns or facts.share(spent) < facts.limit(_ID, "least_share"):
        return None
    # with work for half of the multiprocessors a kernel comes near to what the memory gives: no more is promised
    possible = facts.limit(_ID, "expected_filled")
    target = np.maximum(blocks.duration[chosen] * blocks.filled[chosen] / possible, SHORTEST_NS)
    filled = float((blocks.filled[chosen] * blocks.duration[chosen]).sum()) / spent
    name, share = _longest(facts, blocks, chosen)
    return Found(
        title="Kernels with too few blocks leave most of the GPU idle",
        detail=(
            f"{100 * facts.share(spent):.1f} % of the average step goes into kernels that give work to "
            f"{100 * filled:.0f} % of the multiprocessors, with nothing else running: {100 * share:.0f} % of it into "
            f"{name}."
        ),
        advice=(
            "Give each call more to do: a larger batch, or one call for several of them; `torch.compile(model)` joins "
            "small reductions with what is around them. In a kernel of your own split the work over more blocks."
        ),
        values={"what": "few", "share": facts.share(spent), "filled": filled, "name": name, "part": share},
        rows=facts.longest_first(blocks.row[chosen]),
        changes=(targets(blocks.row[chosen].tolist(), np.ceil(target).astype(np.int64).tolist()),),
        confidence="low",
        evidence=(
            Evidence("few_blocks", "Kernels with few blocks, per step", spent / facts.steps, "ns", "kernels"),
            Evidence("filled", "Multiprocessors that have a block", filled, "fraction", "kernels"),
        ),
        links=(_LINK,),
    )


def _last_round(facts: Facts, blocks: Blocks) -> Found | None:
    """Products whose tiles fill the device some times, and then a small part of it."""
    waves = np.where(blocks.resident > 0, blocks.filled / np.maximum(blocks.resident, 1), np.nan)
    lost = 1 - waves / np.ceil(waves)
    # where a multiprocessor holds several blocks, those that are left run faster, and nothing is lost
    tail = (blocks.resident == 1) & (waves > 1) & (waves < facts.limit(_ID, "most_rounds"))
    tail &= (lost >= facts.limit(_ID, "least_lost")) & (blocks.duration >= facts.limit(_ID, "least_ns"))
    chosen = np.flatnonzero(tail & blocks.alone & _named(facts, blocks, _is_tiled))
    gained = blocks.duration[chosen] * lost[chosen]
    if not len(chosen) or not facts.total_ns or facts.share(int(gained.sum())) < facts.limit(_ID, "least_share"):
        return None
    spent = int(blocks.duration[chosen].sum())
    target = np.ceil(blocks.duration[chosen] - gained).astype(np.int64)
    mean = float(gained.sum()) / spent
    name, share = _longest(facts, blocks, chosen)
    return Found(
        title="The last round of tiles leaves the GPU idle",
        detail=(
            f"{100 * facts.share(spent):.1f} % of the average step goes into products whose tiles fill all "
            f"multiprocessors once or a few times, and then few of them: {100 * mean:.0f} % of their time is lost."
        ),
        advice=(
            "Choose a batch or a width a little smaller, so that its tiles fill whole rounds; "
            '`torch.compile(model, mode="max-autotune")` tries other sizes of tiles.'
        ),
        values={"what": "tail", "share": facts.share(spent), "lost": mean, "name": name, "part": share},
        rows=facts.longest_first(blocks.row[chosen]),
        changes=(targets(blocks.row[chosen].tolist(), target.tolist()),),
        confidence="low",
        evidence=(
            Evidence(
                "last_round",
                "Lost in the last round of tiles, per step",
                float(gained.sum()) / facts.steps,
                "ns",
                "kernels",
            ),
        ),
        links=(_LINK,),
    )


def _longest(facts: Facts, blocks: Blocks, chosen: Int64) -> tuple[str, float]:
    """The name with most of the time of some kernels, and its part of it."""
    name = facts.trace.events.name[blocks.row[chosen]]
    groups = group([name])
    total = groups.sum(blocks.duration[chosen])
    best = int(descending(total)[0])
    return short_name(facts.trace.strings[int(name[groups.first[best]])]), int(total[best]) / int(total.sum())


_LINK = Link(
    "wave_quantization",
    "Tiles and waves",
    "https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html#wave-quant",
)

RULE = Rule(_ID, "R26", (STEPS, DEVICE, PROPERTIES), _find)
