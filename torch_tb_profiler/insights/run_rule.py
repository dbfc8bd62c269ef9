"""What a rule over several ranks is, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torch_tb_profiler.analysis.answer import Count
from torch_tb_profiler.analysis.replay.changes import Change
from torch_tb_profiler.insights.rule import Evidence, FindingConfidence, FindingSaving, FindingSeverity, Link
from torch_tb_profiler.insights.run_instance import RunInstance
from torch_tb_profiler.reason import Value

if TYPE_CHECKING:
    from torch_tb_profiler.analysis.replay.effects import Effect
    from torch_tb_profiler.insights.run_facts import RunFacts


@dataclass(frozen=True)
class RunFinding:
    """A cause of lost time in a run of several ranks. Plain text. As `Finding`, with the ranks that it is about.

    id          name of the rule
    key         name of this finding: the id, with a number from the second of one rule on
    severity    how much it matters: by `saving` from 10 % (high) and 3 % (medium) of the step on
    confidence  how sure the rule is
    title       the cause in a few words
    detail      what was found
    advice      what to do, with the code to write
    workers     the ranks that have to change; empty when it is all of them
    saving      of the average step of all ranks, when all are replayed together; null of a warning
    evidence    the numbers behind it
    instances   where it can be seen, the most costly first
    count       how many such places there are
    links       a page that says more
    values      what title, detail and advice say beyond the id, for saying it in another language
    """

    id: str
    key: str
    severity: FindingSeverity
    confidence: FindingConfidence
    title: str
    detail: str
    advice: str
    workers: tuple[str, ...]
    saving: FindingSaving | None
    evidence: tuple[Evidence, ...]
    instances: tuple[RunInstance, ...]
    count: Count
    links: tuple[Link, ...] = ()
    values: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class RunFound:
    """What a rule over ranks found, before its saving is known.

    title, detail, advice, values, workers, instances, evidence, links, confidence   as in RunFinding
    remedy    what removes the cause: effects of each rank, in their order; None for a warning
    changes   what `remedy` is made of: what refuses them, refuses it
    bound     what it saves is the most that any remedy can
    severity  of a warning
    refused   why no saving can be promised
    count     how many places there are; None: as many as instances
    """

    title: str
    detail: str
    advice: str
    values: Mapping[str, Value] = field(default_factory=dict)
    workers: tuple[str, ...] = ()
    remedy: tuple[tuple[Effect, ...], ...] | None = None
    changes: tuple[Change, ...] = ()
    bound: bool = True
    instances: tuple[RunInstance, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    links: tuple[Link, ...] = ()
    confidence: FindingConfidence = "high"
    severity: FindingSeverity = "low"
    refused: str | None = None
    count: int | None = None


@dataclass(frozen=True)
class RunRule:
    """A rule over ranks.

    id        its name: also that of its section in `thresholds.toml`
    number    in the list of rules, docs/findings.md
    find      what it finds: nothing, or the causes with the most costly first
    replaces  ids of rules that say the same less precisely: left out when this one finds something
    """

    id: str
    number: str
    find: Callable[[RunFacts], Sequence[RunFound]]
    replaces: tuple[str, ...] = ()
