"""Norms and softmax that are written out, operator by operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, DEVICE, HOST, STEPS
from torch_tb_profiler.insights.rule import Found, Link, Rule
from torch_tb_profiler.insights.shared.fusions import fusion_of
from torch_tb_profiler.insights.shared.patterns import norms
from torch_tb_profiler.insights.shared.wording import how_often


class _Kind(msgspec.Struct, frozen=True):
    """What is written out, and the operator that torch has for it."""

    name: str
    call: str
    link: Link


_KINDS: Mapping[str, _Kind] = {
    "rms_norm": _Kind(
        "An RMS norm",
        "torch.nn.functional.rms_norm(x, (x.shape[-1],), weight, eps)",
        Link(
            "rms_norm",
            "rms_norm",
            "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.rms_norm.html",
        ),
    ),
    "layer_norm": _Kind(
        "A layer norm",
        "torch.nn.functional.layer_norm(x, (x.shape[-1],), weight, bias, eps)",
        Link(
            "layer_norm",
            "layer_norm",
            "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.layer_norm.html",
        ),
    ),
    "softmax": _Kind(
        "A softmax",
        "torch.softmax(x, dim=-1)",
        Link(
            "softmax",
            "softmax",
            "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softmax.html",
        ),
    ),
}


def _find(facts: Facts) -> Sequence[Found]:
    return tuple(each for kind in _KINDS if (each := _of_kind(facts, kind)) is not None)


def _of_kind(facts: Facts, kind: str) -> Found | None:
    found = fusion_of(facts, norms(facts, kind))
    if found is None or facts.share(found.spent_ns) < facts.limit("unfused_norm", "least_share"):
        return None
    about, share = _KINDS[kind], facts.share(found.spent_ns)
    calls, per_call = len(found.groups), found.kernels / len(found.groups)
    return Found(
        title=f"{about.name} is made of many kernels",
        detail=(
            f"It is computed {how_often(calls, facts.steps)} by {per_call:.1f} kernels, one for each operator: "
            f"{100 * share:.1f} % of the step."
        ),
        advice=f"Call `{about.call}`, one kernel, or compile the module that contains it: `torch.compile(module)`.",
        values={"kind": kind, "share": share, "calls": calls, "steps": facts.steps, "per_call": per_call},
        rows=found.rows,
        changes=(found.change,),
        evidence=found.evidence(facts),
        links=(about.link,),
    )


RULE = Rule("unfused_norm", "R28", (STEPS, HOST, DEVICE, CALLS), _find)
