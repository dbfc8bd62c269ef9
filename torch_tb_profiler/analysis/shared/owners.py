"""Owners of device work in words, and how much of the device time has one."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.launch_of_work import LaunchEvidence
from torch_tb_profiler.model.modules import module_name
from torch_tb_profiler.model.owners import MissingOwner, OwnerKind, annotated_owner
from torch_tb_profiler.model.steps import PROFILER_STEP
from torch_tb_profiler.trace import Category, Trace

#: what stands for an owner that is not known, by why
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

    how       `OwnerKind` in small letters
    name      an operator, annotation, module (`Linear_3`), frame (`train.py(12): main`) or thread; None for none
    reason    `MissingOwner` in small letters; None if there is an owner
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
    """Shares of the device time, 0 … 1; `linked` + `inferred` + `unowned` = 1.

    linked    of what follows from a launch in the trace
    inferred  of what was launched before the recording, by its like in it
    unowned   of all other
    by_how    all of it by `OwnerKind`, in small letters; what there is none of is left out
    by_reason unowned by `MissingOwner`, in small letters
    by_link   all of it by `LaunchEvidence`, in small letters: what joined it with its launch
    """

    linked: float
    inferred: float
    unowned: float
    by_how: dict[str, float]
    by_reason: dict[str, float]
    by_link: dict[str, float]


@cached
def owner_shares(model: Model) -> OwnerShares | None:
    """None without device time."""
    owners = model.owners
    duration = np.where(model.is_work, np.maximum(model.trace.events.duration[model.device_work.row], 0), 0)
    total = int(duration.sum())
    if not total:
        return None
    by_how = np.bincount(owners.how, duration, len(OwnerKind)) / total
    by_reason = np.bincount(owners.reason, duration, len(MissingOwner)) / total
    by_link = np.bincount(model.device_links.link, duration, len(LaunchEvidence)) / total
    return OwnerShares(
        linked=float(by_how.sum() - by_how[OwnerKind.INFERRED] - by_how[OwnerKind.NONE]),
        inferred=float(by_how[OwnerKind.INFERRED]),
        unowned=float(by_how[OwnerKind.NONE]),
        by_how={how.name.lower(): float(by_how[how]) for how in OwnerKind if by_how[how] > 0},
        by_reason={
            why.name.lower(): float(by_reason[why])
            for why in MissingOwner
            if why != MissingOwner.OWNED and by_reason[why] > 0
        },
        by_link={link.name.lower(): float(by_link[link]) for link in LaunchEvidence if by_link[link] > 0},
    )


@cached
def owner_names(model: Model) -> OwnerNames:
    """The owner of each piece of device work."""
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
    return OwnerNames(groups.of, names)


def _annotations(model: Model) -> Int64:
    """The annotation of each piece of device work whose owner it names, a string code; one for all with this owner."""
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
    """The call that started each piece of device work, by the links of the whole trace; -1 for none."""
    owners = model.owners
    # a call may lie before the steps that are chosen
    links = model.structure.device_links
    whole = np.searchsorted(model.trace.device_work.row, model.device_work.row)
    launch = take_known(model.trace.launches.row, links.launch[whole])
    return np.where(owners.how == OwnerKind.NONE, -1, launch).astype(np.int64)


def name_owner(trace: Trace, how: OwnerKind, why: MissingOwner, row: int, launched: int, annotation: int) -> OwnerName:
    """`how`, `why`, `row`: of one row of `Owners`; its launch and annotation follow.

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
    """The name of an owner, and how it is written in a sentence."""
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
