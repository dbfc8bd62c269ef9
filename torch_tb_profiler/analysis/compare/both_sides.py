"""Tables of two traces beside each other."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.result import Result
from torch_tb_profiler.analysis.tabular import Tabular
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.trace.lazy_columns import FieldDeclaration

#: by what the names of their columns begin with: how label, text and id begin
SIDES = {
    "": ("Baseline ", "Baseline: ", "baseline "),
    "exp_": ("Experiment ", "Experiment: ", "experiment "),
    "delta_": ("Δ ", "Experiment − baseline: ", "delta "),
}


class BothSides(Result):
    """A table with columns of the baseline, of the experiment (`exp_…`) and of the change (`delta_…`).

    A subclass declares the three as one. They stand at the end; one that it names itself stays where it is.
    """

    def __init_subclass__(cls, group: str, both: Collection[str], hidden: Collection[str] = ()) -> None:
        """Declare columns on both sides.

        both     columns that become three
        hidden   which of these are hidden, by their own names
        """
        hints = cls.__annotations__
        for name in both:
            one = vars(cls)[name].known
            delattr(cls, name)
            for side, (label, text, id_) in SIDES.items():
                words = {
                    "label": label + one["label"],
                    "text": text + one["text"],
                    "id": id_ + (one["id"] or f"{group}.{name}"),
                }
                hints[side + name] = hints[name]
                setattr(cls, side + name, FieldDeclaration({**one, **words, "hidden": side + name in hidden}))
        super().__init_subclass__(group)


def of_both(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns of both sides and the change, by the names they have in a table."""
    found: dict[str, Any] = {}
    for name, a in left.items():
        b = right[name]
        found |= {name: a, f"exp_{name}": b, f"delta_{name}": b - a}
    return found


class Delta(Tabular, msgspec.Struct, frozen=True):
    """A table of both sides by name: of each column its left and right values; by the largest change, descending.

    A name that a side does not have counts 0 there.
    """

    name: tuple[str, ...]
    left: dict[str, Int64]
    right: dict[str, Int64]

    def __len__(self) -> int:
        return len(self.name)

    def to_columns(self) -> dict[str, Any]:
        """Return the left and right values of each column side by side."""
        found: dict[str, Any] = {"name": self.name}
        for column in self.left:
            found[f"{column}_left"], found[f"{column}_right"] = self.left[column], self.right[column]
        return found


def delta(left: Any, right: Any, by: tuple[str, ...]) -> Delta:
    """Join two tables of sums; `by` names the columns whose change decides the order, the first that changed counts."""
    names = list(dict.fromkeys([*left.name, *right.name]))
    columns = [c for c in left.__struct_fields__ if c != "name"]
    sides = [_spread(table, names, columns) for table in (left, right)]
    changes = [np.abs(sides[1][c] - sides[0][c]) for c in by]
    changed = next((c for c in changes if c.any()), None)
    if changed is None:
        changed = sides[0][by[0]] if sides[0][by[0]].any() else sides[0][by[-1]]
    order = np.argsort(-changed, kind="stable")
    return Delta(
        tuple(names[i] for i in order.tolist()),
        {c: sides[0][c][order] for c in columns},
        {c: sides[1][c][order] for c in columns},
    )


def _spread(table: Any, names: list[str], columns: list[str]) -> dict[str, Int64]:
    place = {name: i for i, name in enumerate(names)}
    at = np.array([place[name] for name in table.name], np.int64)
    found = {}
    for column in columns:
        values = np.zeros(len(names), np.int64)
        values[at] = getattr(table, column)
        found[column] = values
    return found
