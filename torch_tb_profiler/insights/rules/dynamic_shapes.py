"""Operators whose result has a size that only the device knows, so that the host waits for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch_tb_profiler.analysis.replay.changes import without
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, DEVICE, STEPS
from torch_tb_profiler.insights.rule import Found, Rule
from torch_tb_profiler.insights.shared.waits import SYNC_DEBUG, WaitedFor, Waits, by_line, wait_evidence, waits
from torch_tb_profiler.insights.shared.wording import how_often, ms

_MASK = "Keep the size fixed: "
#: by operator; the first whose name begins so
_ADVICE: Mapping[str, tuple[str, str]] = {
    "aten::index_put_": ("assign", f"{_MASK}`x = torch.where(mask, value, x)` or `x.masked_fill_(mask, value)`."),
    "aten::_index_put": ("assign", f"{_MASK}`x = torch.where(mask, value, x)` or `x.masked_fill_(mask, value)`."),
    "aten::index": (
        "mask",
        f"{_MASK}`torch.where(mask, x, 0)` in place of `x[mask]`; a mean is `(x * mask).sum() / mask.sum()`.",
    ),
    "aten::masked": (
        "mask",
        f"{_MASK}`torch.where(mask, x, 0)` in place of `x[mask]`; a mean is `(x * mask).sum() / mask.sum()`.",
    ),
    "aten::repeat_interleave": (
        "repeat",
        "Pass the size, which the program usually knows: `torch.repeat_interleave(x, repeats, output_size=n)`.",
    ),
    "aten::bincount": (
        "bincount",
        "Count with a known number of bins: `torch.zeros(n, dtype=torch.long, device=x.device).scatter_add_(0, x, "
        "torch.ones_like(x))`.",
    ),
    "aten::unique": ("unique", "Do it on the host while the batch is made, or in a worker of the DataLoader."),
    "aten::_unique": ("unique", "Do it on the host while the batch is made, or in a worker of the DataLoader."),
}
_OTHERWISE = (
    "nonzero",
    f"{_MASK}`torch.nonzero_static(x, size=n)` where the size is known, else `torch.where(mask, a, b)`.",
)


def _find(facts: Facts) -> Sequence[Found]:
    found = waits(facts.model)
    groups = by_line(facts, found.take(found.asked == WaitedFor.DYNAMIC), facts.limit("dynamic_shapes", "least_share"))
    return [_of_group(facts, group) for group in groups]


def _of_group(facts: Facts, group: Waits) -> Found:
    trace = facts.trace
    operator = str(trace.strings[int(group.operator[0])])
    how, advice = next((said for name, said in _ADVICE.items() if operator.startswith(name)), _OTHERWISE)
    waited = int(group.waited_ns.sum())
    share, waited_ns = facts.share(waited), waited / facts.steps
    return Found(
        title=f"{operator} waits for the size of its result",
        detail=(
            f"Only the device knows the size of the result of `{operator}`: the host waits for it "
            f"{how_often(group.times, facts.steps)}, {ms(waited_ns)}, {100 * share:.1f} % of the average step."
        ),
        advice=advice,
        values={
            "operator": operator,
            "times": group.times,
            "steps": facts.steps,
            "waited_ns": waited_ns,
            "share": share,
            "how": how,
        },
        rows=group.longest,
        changes=(without("sync", rows=group.row),),
        evidence=wait_evidence(facts, group, str(trace.strings[int(trace.events.name[group.row[0]])])),
        links=(SYNC_DEBUG,),
    )


RULE = Rule("dynamic_shapes", "R11", (STEPS, DEVICE, CALLS), _find, replay=True)
