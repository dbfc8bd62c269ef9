"""Kernels that only reorder tensors in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import kernels
from torch_tb_profiler.analysis.shared.count_text import by_count, counted
from torch_tb_profiler.analysis.shared.kernel_use import is_compute
from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Int32
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import DEVICE, STEPS
from torch_tb_profiler.insights.places import groups_of_places
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.late_pattern import late_pattern
from torch_tb_profiler.model.kernel_names.families import family_of
from torch_tb_profiler.model.kernel_names.family import Kind

_ID = "layout"
#: between N C H W and N H W C, which libraries do around convolutions
_CONVERSION = late_pattern(r"nchwToNhwc|nhwcToNchw|tensorTransform|^batched_transpose_|transpose_(?:NCHW|CNHW|packed)")
#: places that have a finding of their own
PLACES = 3
#: operators that copy a tensor only to have its elements one behind the other
_CONTIGUOUS = frozenset({"aten::contiguous", "aten::reshape", "aten::_reshape_copy", "aten::flatten"})


def _find(facts: Facts) -> Sequence[Found]:
    conversions = _conversions(facts)
    return [*([] if conversions is None else [conversions]), *_copies(facts)]


def _conversions(facts: Facts) -> Found | None:
    rows = facts.longest_first(_rows_of(facts, lambda name: _CONVERSION.search(name) is not None))
    spent = int(facts.duration(rows).sum())
    if not spent or facts.share(spent) < facts.limit(_ID, "least_share"):
        return None
    return Found(
        title="Convolutions reorder their tensors",
        detail=(
            f"{counted(len(rows), 'kernel')} with {100 * facts.share(spent):.1f} % of the time of the steps "
            f"{by_count(len(rows), 'turns', 'turn')} tensors from "
            "channels first to channels last and back, as the convolutions between them require."
        ),
        advice=(
            "Keep tensors in that layout: `model = model.to(memory_format=torch.channels_last)` and "
            "`x = x.to(memory_format=torch.channels_last)` before the first layer."
        ),
        values={"what": "conversions", "count": len(rows), "share": facts.share(spent)},
        rows=rows,
        changes=(kernels(0, rows=rows.tolist()),),
        confidence="medium",
        evidence=(Evidence("layout_kernels", "Kernels that reorder, per step", spent / facts.steps, "ns", "kernels"),),
        links=(
            Link(
                "channels_last",
                "Channels last memory format",
                "https://docs.pytorch.org/tutorials/intermediate/memory_format_tutorial.html",
            ),
        ),
    )


def _copies(facts: Facts) -> list[Found]:
    model, tree = facts.model, facts.model.tree
    rows = _rows_of(facts, _is_copy)
    if not len(tree) or not len(rows):
        return []
    place = np.searchsorted(model.device_work.row, rows)
    node = model.device_links.operator_node[place]
    named = facts.trace.strings.where(_CONTIGUOUS.__contains__, tree.name)[tree.name]
    rows = facts.longest_first(rows[nearest(tree.parent, named, node) >= 0])
    limit = facts.limit(_ID, "least_share_of_copies")
    if facts.share(int(facts.duration(rows).sum())) < limit:
        return []
    # places that are worth a look of their own, then all others together
    groups = group([groups_of_places(model, rows)])
    total = groups.sum(facts.duration(rows))
    own = [at for at in descending(total)[:PLACES].tolist() if facts.share(int(total[at])) >= limit / 2]
    parts = [rows[groups.of == at] for at in own]
    others = rows[~one_of(groups.of, own)]
    if facts.share(int(facts.duration(others).sum())) >= limit / 2:
        parts.append(others)
    return [_copy(facts, part) for part in parts]


def _copy(facts: Facts, rows: Int32) -> Found:
    spent = int(facts.duration(rows).sum())
    return Found(
        title="Tensors are copied only to change their memory layout",
        detail=(
            f"{100 * facts.share(spent):.1f} % of the average step goes into {len(rows)} copies inside `contiguous` "
            "and `reshape`: the elements stay the same, and are contiguous afterwards."
        ),
        advice=(
            "Leave out `.contiguous()` where the next operator takes strides, as matrix products and "
            "`scaled_dot_product_attention` do, and `.reshape()` after `.transpose()`. `torch.compile(model)` writes "
            "the next result in that order at once."
        ),
        values={"what": "copies", "count": len(rows), "share": facts.share(spent)},
        rows=rows,
        changes=(kernels(0, rows=rows.tolist()),),
        confidence="low",
        evidence=(Evidence("order_copies", "Copies that reorder, per step", spent / facts.steps, "ns", "kernels"),),
        links=(Link("tensor_views", "Tensor views", "https://docs.pytorch.org/docs/stable/tensor_view.html"),),
    )


def _rows_of(facts: Facts, wanted: Callable[[str], bool]) -> Int32:
    """Compute kernels of the steps by their names."""
    model = facts.model
    rows = model.device_work.row[is_compute(model)]
    names = facts.trace.events.name[rows]
    named = facts.trace.strings.where(wanted, names)[names]
    return facts.in_steps(rows[named])


def _is_copy(name: str) -> bool:
    family = family_of(name)
    return family is not None and family.kind is Kind.COPY


RULE = Rule(_ID, "R32", (STEPS, DEVICE), _find)
