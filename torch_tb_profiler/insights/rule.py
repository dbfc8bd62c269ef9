"""What a rule is and what it says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from torch_tb_profiler.model import Model
from torch_tb_profiler.reason import Value

FindingSeverity = Literal["low", "medium", "high"]
EvidenceUnit = Literal["ns", "bytes", "fraction", "count"]


@dataclass(frozen=True)
class Evidence:
    """A number behind a finding, and where it can be seen.

    key     what the label says, for saying it in another language
    label   what the number is
    value   the number, in `unit`
    unit    ns, bytes, fraction (0…1) or count
    view    id of the view that shows it
    select  what to choose in that view
    gpu     number of the device that the label names
    """

    key: str
    label: str
    value: float
    unit: EvidenceUnit
    view: str
    select: str | None = None
    gpu: int | None = None


@dataclass(frozen=True)
class Link:
    """A page that says more.

    key   what the text says, for saying it in another language
    text  its title
    url   its address
    """

    key: str
    text: str
    url: str


@dataclass(frozen=True)
class Finding:
    """Advice for one trace, as plain text.

    id         name of the rule
    severity   how much it matters
    title      the advice in a few words
    detail     what was found and what to do
    saving_ns  what the average step could become shorter by at most, None where it cannot be estimated
    evidence   the numbers behind it
    links      pages that say more
    values     what the detail says beyond the id, for saying it in another language
    """

    id: str
    severity: FindingSeverity
    title: str
    detail: str
    saving_ns: float | None
    evidence: tuple[Evidence, ...]
    links: tuple[Link, ...] = ()
    values: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Rule:
    """One rule: its id, what a trace must hold for it (for people), and the function that applies it."""

    id: str
    needs: str
    apply: Callable[[Model], Finding | None]


def has_host_range(model: Model, name: str) -> bool:
    """Whether an operator or annotation of this name ran on the host."""
    code = model.trace.strings.code(name)
    return code >= 0 and bool((model.tree.name == code).any())
