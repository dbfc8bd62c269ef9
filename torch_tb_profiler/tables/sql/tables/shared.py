"""Columns that several tables have, and what they are made of."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.slices import track_name
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.types import Int32, Int64, Ints
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.step_range import step_of_events
from torch_tb_profiler.tables.sql.columns import SqlColumn, Texts, Values, known, of_schema
from torch_tb_profiler.trace import Category
from torch_tb_profiler.trace.schema import Events

ROW = SqlColumn("row", "number", "row", "number of the event in its file; it names the event in all tables", "")
NAME = of_schema(Events, "name").called("name", "the event has no name")
CATEGORY = SqlColumn(
    "category",
    "string",
    "",
    f"one of {', '.join(category.name.lower() for category in Category)}",
    "cat, in one vocabulary",
)
START = SqlColumn("start_ns", "number", "ns", "since the start of the trace", "ts")
DURATION = SqlColumn("duration_ns", "number", "ns", "as recorded", "dur", "the event has no duration")
END = SqlColumn("end_ns", "number", "ns", "start_ns + duration_ns; the start itself without a duration", "ts, dur")
STEP = SqlColumn(
    "step",
    "string",
    "",
    "name of the step that it belongs to, as in the table steps: on the host that in which it begins, on devices that "
    "in which it was launched",
    "model.step_range",
    "it belongs to no step",
)
THREAD = SqlColumn("thread", "string", "", "the host thread: process, its number, thread", "pid, tid")
OPERATOR = SqlColumn(
    "operator",
    "string",
    "",
    "name of the innermost operator that launched it",
    "model.launches",
    "its launch is not in the trace, or in no operator",
)
OPERATOR_ROW = replace(OPERATOR, name="operator_row", type="number", unit="row", meaning="the same: its event")
LAUNCH_ROW = SqlColumn(
    "launch_row", "number", "row", "the API call that started it", "correlation", "its launch is not in the trace"
)

TIMES = (START, DURATION, END)


def event_values(model: Model, rows: Ints) -> dict[str, Values]:
    """Of some events: row, name, times and step."""
    events = model.trace.events
    return {
        "row": rows,
        "name": Texts(events.name[rows], model.trace.strings),
        "start_ns": events.start[rows],
        "duration_ns": known(events.duration[rows]),
        "end_ns": events.end[rows],
        "step": step_values(model, rows),
    }


def step_values(model: Model, rows: Ints) -> Texts:
    """The step of some events."""
    return Texts(steps_of(model)[rows], model.steps.names)


def thread_values(model: Model, rows: Ints) -> Texts:
    """The track of some events."""
    return Texts(model.trace.events.track[rows], tuple(map(track_name, model.trace.tracks)))


def operator_values(model: Model, node: Int32) -> dict[str, Values]:
    """Of what was called in some places of the call tree (-1: in none): the operator there."""
    tree = model.tree
    return {
        "operator_row": known(take_known(tree.row, node)),
        "operator": Texts(take_known(tree.name, node), model.trace.strings),
    }


@cached
def steps_of(model: Model) -> Int64:
    """Shape (events,): see `step_of_events`."""
    return step_of_events(model.structure, model.steps)


def category_values(model: Model, rows: Ints) -> Texts:
    """The category of some events."""
    return Texts(model.trace.events.category[rows].astype(np.int64), [each.name.lower() for each in Category])
