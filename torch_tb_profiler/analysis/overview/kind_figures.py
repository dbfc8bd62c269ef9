"""What the steps of each kind take: for pages, commands and agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Answer, Count, NsMean
from torch_tb_profiler.analysis.overview.overview import average_of, step_times
from torch_tb_profiler.analysis.step_kinds.find import KindId, step_kinds
from torch_tb_profiler.analysis.waterfall import Part, average, waterfall
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.model import Model


class KindFigures(Answer, frozen=True, kw_only=True):
    """What the steps of one kind take.

    id           what is known of their program: `training` has a backward pass or an optimizer step, `without_backward`
                 has none while other steps do, `other` is only known to be another program
    label        what marks the steps, without numbers, where marks tell kinds apart; else null
    number       from 1 among kinds that have the same id and label; null of the only one
    title        its name in English
    count        how many steps
    steps        their names
    from_step    the first of them, where they follow each other without others between; else null
    to_step      the last of them, likewise
    mean_ns      arithmetic mean of their periods
    median_ns    median of their periods
    category_ns  of the average step of the kind, by category; they add up to `mean_ns`
    waterfall    where the time of the average step of the kind went; the parts add up to `mean_ns` exactly
    """

    id: KindId
    label: str | None
    number: Count | None
    title: str
    count: Count
    steps: Sequence[str]
    from_step: str | None
    to_step: str | None
    mean_ns: NsMean
    median_ns: NsMean
    category_ns: Mapping[str, NsMean]
    waterfall: Sequence[Part]


def kind_figures(model: Model) -> list[KindFigures]:
    """Of the steps that are chosen, in the order of their first steps; empty where all are of one kind."""
    kinds = step_kinds(model)
    if not kinds.are_several:
        return []
    times, parts = step_times(model), waterfall(model)
    figures = []
    for number, kind in enumerate(kinds.kinds):
        at = np.flatnonzero(kinds.of == number)
        names = [times.names[each] for each in at.tolist()]
        is_range = kinds.is_range(number)
        mine = average_of(times, at)
        figures.append(
            KindFigures(
                id=kind.id,
                label=kind.label,
                number=kind.number,
                title=kind.title,
                count=len(at),
                steps=names,
                from_step=names[0] if is_range else None,
                to_step=names[-1] if is_range else None,
                mean_ns=mine.step_ns,
                median_ns=median(times.duration_ns[at]),
                category_ns=mine.category_ns,
                waterfall=average(msgspec.structs.replace(parts, step_ns=parts.step_ns[at], ns=parts.ns[:, at])),
            )
        )
    return figures
