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
    """A number behind a finding, and the view (and the row in it) where it can be seen.

    `key` and `gpu` are what the label says, for saying it in another language.
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
    """A page to read. `key` is what the text says, for saying it in another language."""

    key: str
    text: str
    url: str


@dataclass(frozen=True)
class Finding:
    """Advice for one trace, as plain text.

    `saving_ns` is what the average step could become shorter by at most, None where it cannot be estimated.
    `values` is what the detail says beyond the id, for saying it in another language.
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
