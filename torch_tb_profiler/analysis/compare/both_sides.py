"""Tables of two traces beside each other."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from torch_tb_profiler.analysis.result import Result
from torch_tb_profiler.trace.lazy_columns import Declared

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
        """both: the columns that are three. hidden: which of the three are hidden, by their own names."""
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
                setattr(cls, side + name, Declared({**one, **words, "hidden": side + name in hidden}))
        super().__init_subclass__(group)


def of_both(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """Columns of both sides and the change, by the names they have in a table."""
    found: dict[str, Any] = {}
    for name, a in left.items():
        b = right[name]
        found |= {name: a, f"exp_{name}": b, f"delta_{name}": b - a}
    return found
