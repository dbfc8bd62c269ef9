"""Kernels and operators that changed between two sides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Fraction, NsMean
from torch_tb_profiler.analysis.change.figures import RecordingFigures
from torch_tb_profiler.analysis.change.lists import ListVerdict, SideOfName, name_list
from torch_tb_profiler.analysis.change.named import Named


class MovedName(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel or operator that changed, by more than 2 % or in its number of calls. Of the mean step.

    kind       kernel or operator
    name       its name
    owner      of a kernel: the operator, or whatever else launched most of it; null of an operator
    base_ns    in the baseline
    new_ns     in the new recordings
    change_ns  new − base
    base_calls calls in the baseline
    new_calls  calls in the new recordings
    change     of a typical step, relative, 0.05 is 5 % more; null if it was not tested
    lower      95 % interval of it
    upper      its other end
    q          the least false discovery rate at which a change beyond 2 % is shown; null if it was not tested
    verdict    slower, faster, new, gone, or of which only the number of calls says something
    """

    kind: Literal["kernel", "operator"]
    name: str
    owner: str | None
    base_ns: NsMean
    new_ns: NsMean
    change_ns: NsMean
    base_calls: Annotated[float, Meta(ge=0)]
    new_calls: Annotated[float, Meta(ge=0)]
    change: float | None
    lower: float | None
    upper: float | None
    q: Fraction | None
    verdict: ListVerdict


def moved_names(
    kind: Literal["kernel", "operator"], base: Sequence[RecordingFigures], new: Sequence[RecordingFigures]
) -> list[MovedName]:
    """What changed beyond the floor, or in its number of calls, by the change of the mean step, the largest first."""
    sides = base, new
    on_devices = base[0].basis == "devices" and new[0].basis == "devices"
    before, after = (_names(kind, side, on_devices) for side in sides)
    steps = [mean([ns for each in side for ns in each.step_ns[each.kept]]) for side in sides]
    owners = {named.name: named.owner for side in sides for each in side for named in each.kernels.names}
    found = []
    for each in name_list(before, after, (steps[0], steps[1])).names:
        if each.verdict not in ("slower", "faster", "new", "gone") and not each.calls_changed:
            continue
        found.append(
            MovedName(
                kind=kind,
                name=each.name,
                owner=owners.get(each.name) if kind == "kernel" else None,
                base_ns=each.before_ns,
                new_ns=each.exp_ns,
                change_ns=each.exp_ns - each.before_ns,
                base_calls=each.calls,
                new_calls=each.exp_calls,
                change=each.shift,
                lower=each.low,
                upper=each.high,
                q=each.q,
                verdict=each.verdict,
            )
        )
    return found


def _names(kind: str, side: Sequence[RecordingFigures], on_devices: bool) -> dict[str, SideOfName]:
    """Every name in each step of all recordings; times are means over lanes."""
    tables = [{named.name: named for named in _table(kind, each)} for each in side]
    is_of_device = kind == "kernel" or on_devices
    found = {}
    for name in dict.fromkeys(name for table in tables for name in table):
        ns: list[int] = []
        calls: list[int] = []
        for each, table in zip(side, tables, strict=True):
            named, nothing = table.get(name), [0] * len(each.steps)
            lanes = each.lanes if is_of_device else each.ranks
            times = nothing if named is None else named.device_ns if is_of_device else named.host_ns
            ns += [round(value / lanes) for value in times[each.kept]]
            calls += (nothing if named is None else named.calls)[each.kept]
        found[name] = SideOfName(np.array(ns, np.int64), np.array(calls, np.int64))
    return found


def _table(kind: str, figures: RecordingFigures) -> Sequence[Named]:
    return (figures.kernels if kind == "kernel" else figures.operators).names


def mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0
