"""What a rule is, what it looks for, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, Fraction, MeanNs, Ns, Row
from torch_tb_profiler.analysis.replay.changes import Change
from torch_tb_profiler.analysis.replay.quality import ReplayRefusal
from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.reason import Value
from torch_tb_profiler.words import Section, section

if TYPE_CHECKING:
    from torch_tb_profiler.insights.facts import Facts, Need

FindingSeverity = Literal["low", "medium", "high"]
FindingConfidence = Literal["low", "medium", "high"]
LineNumber = Annotated[int, Meta(ge=0, description="number of a line")]
EvidenceUnit = Literal["ns", "bytes", "fraction", "count"]

#: what a rule says
TEXTS = ("title", "detail", "advice")

NO_ROWS: Int32 = np.empty(0, np.int32)


class Evidence(msgspec.Struct, frozen=True):
    """A number that supports a finding, and where it is shown.

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


def evidence(
    key: str, value: float, unit: EvidenceUnit, view: str, select: str | None = None, gpu: int | None = None
) -> Evidence:
    """Make a number with its label, of `words/en/evidence.toml`."""
    label = section("evidence", "labels").say(key, {} if gpu is None else {"gpu": gpu})
    return Evidence(key, label, value, unit, view, select, gpu)


class Link(msgspec.Struct, frozen=True):
    """A page that says more.

    key   what the text says, for saying it in another language
    text  its title
    url   its address
    """

    key: str
    text: str
    url: str


def link(key: str) -> Link:
    """Make a link to a page of `words/en/links.toml`."""
    return Link(key, section("links", "titles").say(key, {}), section("links", "addresses").say(key, {}))


class Instance(msgspec.Struct, frozen=True):
    """One place in the trace where a finding can be seen.

    row          number of the event
    name         of the event
    start_ns     since the start of the trace
    duration_ns  of the event, or of the idle time that it ended
    step         name of the step that most of it lies in; null outside of the steps
    """

    row: Row
    name: str
    start_ns: Ns
    duration_ns: Ns
    step: str | None


class RunInstance(Instance, frozen=True, kw_only=True):
    """One place in the trace of a rank.

    worker       whose trace
    duration_ns  of the part that shows the finding
    """

    worker: str


class Where(msgspec.Struct, frozen=True):
    """A place in the program. What was not recorded is null.

    text              in words, as `aten::copy_ at train.py:12 (train_step)`
    operator          the innermost operator
    file, line        of the innermost Python frame of the user's own code; the line is the one that was recorded
    function          of that frame
    module            the innermost nn.Module, or a class of them
    annotation        the innermost annotation that does not mark steps
    share             which part of the instances, by time, is there, 0…1
    missing           the setting of the profiler that would give the line; null if the line is known, or it was set
    modules           how many modules of the class it is; null of one module
    modules_of_class  how many of the class there are; null of one module
    """

    text: str
    operator: str | None
    file: str | None
    line: LineNumber | None
    function: str | None
    module: str | None
    annotation: str | None
    share: Fraction
    missing: str | None
    modules: Count | None = None
    modules_of_class: Count | None = None


class FindingSaving(msgspec.Struct, frozen=True):
    """What removing the cause would save in the average step, by replay (docs/replay.md). Null where it is refused.

    alone_ns         when nothing else is changed
    after_others_ns  beyond the findings that are counted before this one; these add up to what all save together
    last_in_ns       beyond all other findings; those that come after all of these by their nature are left out
    low_ns, high_ns  an interval of `after_others_ns`; null with fewer than two steps
    bound            the most that any remedy can save
    refused          why there is no number
    refused_id       the same as a name, for saying it in another language
    refused_share    the measure that decided, 0…1, where there is one
    share_of_step    where the saving is refused, which part of the step the finding takes; null where unknown
    at_most_ns       where the saving is refused, and the finding explains what bounds the steps: what relieving that
                     saves, by replay; null else
    """

    alone_ns: MeanNs | None
    after_others_ns: MeanNs | None
    last_in_ns: MeanNs | None
    low_ns: MeanNs | None
    high_ns: MeanNs | None
    bound: bool
    refused: str | None = None
    refused_id: str | None = None
    refused_share: Fraction | None = None
    share_of_step: Fraction | None = None
    at_most_ns: MeanNs | None = None


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """A cause of lost time, or a warning. Plain text.

    id          name of the rule
    key         name of this finding: the id, with a number from the second of one rule on
    severity    how much it matters: by `saving`, or what it takes of the step, from 10 % (high) and 3 % (medium) on
    confidence  how sure the rule is
    title       the cause in a few words
    detail      what was found
    advice      what to do, with the code to write
    saving      what it costs the average step; null of a warning, which has no time
    evidence    the numbers that support it
    count       how many places there are where it can be seen
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
    saving: FindingSaving | None
    evidence: tuple[Evidence, ...]
    count: Count
    links: tuple[Link, ...] = ()
    values: Mapping[str, Value] = msgspec.field(default_factory=dict)


class Finding(Cause, frozen=True, kw_only=True):
    """A cause of lost time, or a warning, for one trace.

    where       where in the program; null if unknown
    instances   where it can be seen in the trace, the longest first: the first of `count`
    """

    where: Where | None
    instances: tuple[Instance, ...]


class FoundCause(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule found, before its saving is known. What it says of it is in `words`, in the section of the rule.

    values, evidence, links, confidence   as in Cause
    changes    what of the replay removes the cause, all together
    severity   of a warning
    refused    why no saving can be promised, though the cause is known
    once       what it costs passes once, when a program starts: kernels that are loaded, code that is compiled
    seen       which part of its occurrences lies in the recorded steps, 0…1: n steps have n − 1 gaps between them
    """

    values: Mapping[str, Value] = msgspec.field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    links: tuple[Link, ...] = ()
    confidence: FindingConfidence = "high"
    severity: FindingSeverity = "low"
    refused: ReplayRefusal | None = None
    once: bool = False
    seen: float = 1.0

    def said(self, words: Section) -> dict[str, Any]:
        """Return the fields of a Cause that are known without its saving and its instances."""
        texts = {name: words.say(name, self.values) for name in TEXTS}
        return texts | {name: getattr(self, name) for name in ("confidence", "evidence", "links", "values")}


class Found(FoundCause, frozen=True, kw_only=True):
    """What a rule found in one trace. Without changes it is a warning.

    rows          shape (n,): the events that show it, with the most costly first
    spans         shape (n, 2): start and end of what each of `rows` shows, ns; None: the event itself
    place_rows    shape (m,): host events or device work that say where in the program; `rows` when None
    place_ns      shape (m,): how much each of `place_rows` counts, ns; their durations when None
    least_share   shown only when it saves this share of the step alone, or beyond all others; None: the common limit
    """

    rows: Int32 = msgspec.field(default_factory=lambda: NO_ROWS)
    spans: Int64 | None = None
    place_rows: Int32 | None = None
    place_ns: Int64 | None = None
    least_share: float | None = None


class Rule(msgspec.Struct, frozen=True):
    """One rule. Its family is the file that it is in, and the file of its words.

    id        its name: also that of its section in `thresholds.toml` and in the words, and of a muted rule
    number    in the list of rules, docs/findings.md
    family    the name of both files
    needs     what a trace must hold, else the rule is not evaluated
    find      what it finds: nothing, or the causes with the most costly first
    replaces  ids of rules that say the same less precisely: left out when this one finds something
    general   applied last, and only to what the other findings leave unexplained
    symptom   what other causes bring about, too: comes behind these where they explain most of it
    over_ranks  about communication: of a run of several ranks it is said, too, with what replaying them together saves
    replay    looks at the graph of the replay, so that it is applied when that is made; the others before, for memory
    """

    id: str
    number: str
    family: str
    needs: tuple[Need, ...]
    find: Callable[[Facts], Sequence[Found]]
    replaces: tuple[str, ...] = ()
    general: bool = False
    symptom: bool = False
    over_ranks: bool = False
    replay: bool = False

    @property
    def words(self) -> Section:
        """What it says."""
        return section(f"rules/{self.family}", self.id)


def rule(
    number: str,
    *needs: Need,
    replaces: tuple[str, ...] = (),
    general: bool = False,
    symptom: bool = False,
    over_ranks: bool = False,
    replay: bool = False,
) -> Callable[[Callable[[Facts], Iterable[Found]]], Rule]:
    """Make a rule of a function with its name that yields what it finds."""

    def made(find: Callable[[Facts], Iterable[Found]]) -> Rule:
        @wraps(find)
        def found(facts: Facts) -> tuple[Found, ...]:
            return tuple(find(facts))

        return Rule(
            id=find.__name__,
            number=number,
            family=find.__module__.rpartition(".")[2],
            needs=needs,
            find=found,
            replaces=replaces,
            general=general,
            symptom=symptom,
            over_ranks=over_ranks,
            replay=replay,
        )

    return made


def has_host_range(model: Model, name: str) -> bool:
    """Tell whether an operator or annotation of this name ran on the host."""
    code = model.trace.strings.code(name)
    return code >= 0 and bool((model.tree.name == code).any())
