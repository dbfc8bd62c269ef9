"""Functions that queries may call in addition to those of DuckDB."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.model import Model
from torch_tb_profiler.model.kernel_names.short import short_name
from torch_tb_profiler.trace import Category

#: ms(x): nanoseconds as milliseconds. overlap_ns: the length that [a0, a1) and [b0, b1) have in common
ALWAYS = (
    "CREATE MACRO main.ms(ns) AS ns / 1e6",
    "CREATE MACRO main.overlap_ns(a0, a1, b0, b1) AS greatest(0, least(a1, b1) - greatest(a0, b0))",
)

# What stands for an argument is looked up in the query of the macro first: columns there have names that none has.

#: the name of a kernel as a page shows it; any other text as it is
SHORT = "CREATE MACRO main.short(text) AS coalesce((SELECT _short FROM _.short WHERE _name = text), text)"

#: whether a part of [a, b) lies in a step
IN_STEPS = "CREATE MACRO {schema}.in_steps(a, b) AS EXISTS (SELECT 1 FROM {windows} WHERE _from < b AND _to > a)"


def short_names(model: Model) -> dict[str, str]:
    """The short name of each kernel."""
    events = model.trace.events
    codes = np.unique(events.name[events.category == Category.KERNEL])
    return {text: short_name(text) for text in model.trace.strings.texts(codes) if text}
