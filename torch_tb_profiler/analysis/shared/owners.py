"""What started each piece of device work, in words, and how much of the device time has an owner."""

from __future__ import annotations

from typing import Annotated

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Fraction
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.result import column
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.launch_of_work import LaunchEvidence
from torch_tb_profiler.model.modules import module_name
from torch_tb_profiler.model.owners import MissingOwner, OwnerKind, annotated_owner
from torch_tb_profiler.model.steps import PROFILER_STEP
from torch_tb_profiler.trace import Category, Trace
from torch_tb_profiler.trace.store import StringTable

#: what stands for an unknown owner, by the reason
REASONS = {
    MissingOwner.HOST_NOT_RECORDED: "host activity was not recorded",
    MissingOwner.BEFORE_RECORDING: "launched before the recording",
    MissingOwner.NO_CORRELATION: "recorded without a correlation",
    MissingOwner.LAUNCH_LOST: "its launch was lost",
    MissingOwner.AMBIGUOUS: "several calls may have started it",
}

_GRAPH_LAUNCH = lazy_pattern(r"\w*GraphLaunch")
_STEP_TEMPLATE = "ProfilerStep#…"


class OwnerName(msgspec.Struct, frozen=True):
    """An owner of device work, and how it is known.

    how       `How` in small letters
    name      an operator, annotation, module (`Linear_3`), frame (`train.py(12): main`) or thread; None for none
    reason    `Why` in small letters; None if there is an owner
    launcher  name of the API call that started the work; None if it is not in the trace
    text      the same in words; an operator's is its name
    """

    how: str
    name: str | None
    reason: str | None
    launcher: str | None
    text: str

    @property
    def is_operator(self) -> bool:
        return self.how == OwnerKind.OPERATOR.name.lower()


class OwnerNames(msgspec.Struct, frozen=True):
    """`code`: shape (device work,), parallel to `Model.device_work`: a position in `names`."""

    code: Int64
    names: tuple[OwnerName, ...]


class OwnerShares(msgspec.Struct, frozen=True):
    """Shares of the device time, 0 … 1; `linked` + `named_only` + `inferred` + `unowned` = 1.

    linked      of what is known to belong to an operator
    named_only  of what only a range, a step, a module, a frame or a thread is known of
    inferred    of what was launched before the recording, by its like in it
    unowned     of all other
    captured    part of `linked` and `named_only` that is known by the capture of a graph
    by_how      all of it by `How`, in small letters; what there is none of is left out
    by_reason   unowned by `Why`, in small letters
    by_link     all of it by `Link`, in small letters: what joined it with its launch
    """

    linked: float
    named_only: float
    inferred: float
    unowned: float
    captured: float
    by_how: dict[str, float]
    by_reason: dict[str, float]
    by_link: dict[str, float]


@cached
def owner_shares(model: Model) -> OwnerShares | None:
    """Return the share of each way of finding owners; None without device time."""
    owners = model.owners
    duration = np.where(model.is_work, np.maximum(model.trace.events.duration[model.device_work.row], 0), 0)
    total = int(duration.sum())
    if not total:
        return None
    by_how = np.bincount(owners.how, duration, len(OwnerKind)) / total
    by_reason = np.bincount(owners.reason, duration, len(MissingOwner)) / total
    by_link = np.bincount(model.device_links.link, duration, len(LaunchEvidence)) / total
    named = (owners.how != OwnerKind.NONE) & (owners.how != OwnerKind.INFERRED)
    of_operator = take_known(model.trace.events.category, owners.row, missing=0) == Category.OPERATOR
    # the words of an annotated node come before the operator that captured it
    of_operator &= owners.how != OwnerKind.ANNOTATED
    return OwnerShares(
        linked=float(duration[named & of_operator].sum()) / total,
        named_only=float(duration[named & ~of_operator].sum()) / total,
        inferred=float(by_how[OwnerKind.INFERRED]),
        unowned=float(by_how[OwnerKind.NONE]),
        captured=float(by_how[OwnerKind.GRAPH_NODE]),
        by_how={how.name.lower(): float(by_how[how]) for how in OwnerKind if by_how[how] > 0},
        by_reason={
            why.name.lower(): float(by_reason[why])
            for why in MissingOwner
            if why != MissingOwner.OWNED and by_reason[why] > 0
        },
        by_link={link.name.lower(): float(by_link[link]) for link in LaunchEvidence if by_link[link] > 0},
    )


class KnownOwners(msgspec.Struct, frozen=True, kw_only=True):
    """Whether device work has an owner: shares of the device time, 0…1; null without device time.

    `linked`, `named_only`, `inferred` and `unowned` add up to 1.

    linked      an operator launched it, or launched the call that captured it into a graph
    named_only  only a range, a step, a module, a frame or a thread is known
    inferred    was launched before the recording; its like in the recording has an owner
    unowned     none of these
    captured    part of `linked` and `named_only` that is known by the capture of a graph
    """

    linked: Fraction | None
    named_only: Fraction | None
    inferred: Fraction | None
    unowned: Fraction | None
    captured: Fraction | None


def known_owners(model: Model) -> KnownOwners:
    """Return the shares of the device time by what is known of its owners."""
    shares = owner_shares(model)
    return KnownOwners(**{name: getattr(shares, name, None) for name in KnownOwners.__struct_fields__})


@cached
def owner_names(model: Model) -> OwnerNames:
    """Name the owner of each piece of device work."""
    owners, events = model.owners, model.trace.events
    name = take_known(events.name, owners.row)
    category = take_known(events.category, owners.row, missing=0)
    launched = np.where(owners.how == OwnerKind.INFERRED, -1, take_known(events.name, _launch_rows(model)))
    track = np.where(category == Category.RUNTIME, take_known(events.track, owners.row), -1)
    track = np.where(category == Category.DRIVER, take_known(events.track, owners.row), track)
    annotated = _annotations(model)
    name, category, track = (np.where(annotated > 0, -1, key) for key in (name, category, track))
    groups = group([owners.how, owners.reason, name + 1, category + 1, launched + 1, track + 1, annotated])
    parts = owners.how, owners.reason, owners.row, launched, annotated
    names = tuple(
        name_owner(model.trace, OwnerKind(how), MissingOwner(why), *numbers)
        for how, why, *numbers in zip(*(each[groups.first].tolist() for each in parts), strict=True)
    )
    return OwnerNames(groups.inverse, names)


def _annotations(model: Model) -> Int64:
    """Return the annotation of each piece of device work whose owner it names, a string code; one for all with this
    owner.
    """
    annotated = np.where(model.owners.how == OwnerKind.ANNOTATED, model.device_work.annotation, 0).astype(np.int64)
    if annotated.any():
        first: dict[str | None, int] = {}
        codes = {
            code: first.setdefault(annotated_owner(model.trace.strings[code]), code)
            for code in distinct(annotated).tolist()
        }
        annotated = np.array([codes[code] for code in annotated.tolist()], np.int64)
    return annotated


def _launch_rows(model: Model) -> Int64:
    """Return the call that started each piece of device work, by the links of the whole trace; -1 for none."""
    owners = model.owners
    # a call may lie before the steps that are chosen
    links = model.structure.device_links
    whole = np.searchsorted(model.trace.device_work.row, model.device_work.row)
    launch = take_known(model.trace.launches.row, links.launch[whole])
    return np.where(owners.how == OwnerKind.NONE, -1, launch).astype(np.int64)


def name_owner(trace: Trace, how: OwnerKind, why: MissingOwner, row: int, launched: int, annotation: int) -> OwnerName:
    """Put an owner into words. `how`, `why`, `row`: of one row of `Owners`; its launch and annotation follow.

    launched    name of the API call, a string code, -1 for none
    annotation  of the work, a string code; used if the owner is known by it
    """
    launcher = str(trace.strings[launched]) if launched >= 0 else None
    if how == OwnerKind.NONE:
        return OwnerName("none", None, why.name.lower(), launcher, REASONS.get(why, "no device work"))
    if how == OwnerKind.ANNOTATED:
        named = annotated_owner(trace.strings[annotation]) or ""
        return OwnerName(how.name.lower(), named, None, launcher, f"annotated: {named}")
    name, words = _words(trace, row)
    if how == OwnerKind.GRAPH_NODE:
        words = f"graph replay of {words}"
    elif how == OwnerKind.INFERRED:
        words = f"inferred: {words}"
    elif how == OwnerKind.THREAD:
        words = f"{launcher} on {words}"
    elif how != OwnerKind.OPERATOR and launcher is not None and _GRAPH_LAUNCH.match(launcher):
        words = f"graph replay in {words}"
    elif how == OwnerKind.COMPILED:
        words = f"compiled: {words}"
    return OwnerName(how.name.lower(), name, None, launcher, words)


def _words(trace: Trace, row: int) -> tuple[str, str]:
    """Return the name of an owner, and how it is written in a sentence."""
    events = trace.events
    text, category = str(trace.strings[events.name[row]]), events.category[row]
    if category in (Category.RUNTIME, Category.DRIVER):
        track = trace.tracks[events.track[row]]
        thread = track.thread_name or f"thread {track.tid}"
        return thread, thread
    if category == Category.PYTHON_FUNCTION and module_name(text) != text:
        return module_name(text), f"module: {module_name(text)}"
    if PROFILER_STEP.fullmatch(text):
        return _STEP_TEMPLATE, _STEP_TEMPLATE
    return text, text


NOT_RECORDED = "(launched before the recording)"


class Launchers(msgspec.Struct, frozen=True):
    """`code`: shape (device work,), parallel to `Model.device_work`; equal codes are the same launcher."""

    code: Int32
    strings: StringTable

    def text(self, code: int) -> str:
        """Return an operator's name; in parentheses what is no operator, such as `(cudaGraphLaunch)`."""
        strings = self.strings
        if code < len(strings):
            return str(strings[code])
        if code == len(strings):
            return NOT_RECORDED
        return f"({strings[code - len(strings) - 1]})"

    def is_operator(self, code: int) -> bool:
        return code < len(self.strings)


class Unattributed(msgspec.Struct, frozen=True):
    """Device work that no operator launched, by its owner.

    owner      what the work belongs to, such as `graph replay of aten::mm` or `module: Linear_3`, or why that is
               unknown
    how        how the owner is known: by what ran around the launch (compiled, annotated, annotation, module, frame,
               thread), the capture of the graph (graph_node), the same work in a recorded step (inferred), or none
    name       only the owner's name; null for none
    reason     why there is none: host_not_recorded, before_recording, no_correlation, launch_lost or
               ambiguous; null for others
    launcher   the API call in parentheses, or that it is not in the trace
    calls      how many kernels, copies and memsets
    device_ns  Σ of their durations
    """

    owner: Annotated[str, column("Owner")]
    how: Annotated[str, column("Known by")]
    name: str | None
    reason: str | None
    launcher: str
    calls: Annotated[int, column("Calls")]
    device_ns: Annotated[int, column("Device time")]


@cached
def launchers(model: Model) -> Launchers:
    trace = model.trace
    node, launch = model.device_links.operator_node, model.device_links.launch
    code = np.full(len(node), len(trace.strings), dtype=np.int32)
    called = launch >= 0
    code[called] = trace.events.name[model.launches.row[launch[called]]] + len(trace.strings) + 1
    owned = node >= 0
    code[owned] = model.tree.name[node[owned]]
    return Launchers(code, trace.strings)


def unattributed(model: Model) -> tuple[Unattributed, ...]:
    """List device work without an operator by device time, descending; with the operators' device self times it adds up
    to all work.
    """
    owners = owner_names(model)
    chosen = np.flatnonzero(model.is_work & (model.device_links.operator_node < 0))
    code = owners.code[chosen]
    groups = group([code])
    rows = model.device_work.row[chosen]
    total, calls = groups.sum(np.maximum(model.trace.events.duration[rows], 0)), groups.count()
    found = []
    for g in descending(total).tolist():
        owner = owners.names[int(code[groups.first[g]])]
        launcher = NOT_RECORDED if owner.launcher is None else f"({owner.launcher})"
        found.append(
            Unattributed(owner.text, owner.how, owner.name, owner.reason, launcher, int(calls[g]), int(total[g]))
        )
    return tuple(found)
