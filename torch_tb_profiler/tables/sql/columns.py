"""What columns and tables are: descriptions taken from where they are declared, values, and shared columns."""

from __future__ import annotations

import collections.abc
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Meta
from msgspec.structs import replace

from torch_tb_profiler.analysis.answer import ColumnType, Definition, field_texts
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.slices import track_name
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.types import Int32, Int64, Ints
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.selection import step_of_events
from torch_tb_profiler.ranks.reduction import RunResult
from torch_tb_profiler.trace import Category
from torch_tb_profiler.trace.schema import JSON_TEXT, Events, TraceTable

#: of the columns that a chrome trace event has itself
_OF_EVENT = "the event"


class SqlColumn(msgspec.Struct, frozen=True):
    """One column of a table.

    name     in SQL
    type     of its values
    unit     of its values; empty if they have none
    meaning  what it is
    origin   the key in the trace file, or what declares it
    missing  when it is NULL; empty if it never is
    """

    name: str
    type: ColumnType
    unit: str
    meaning: str
    origin: str
    missing: str = ""

    def called(self, name: str, missing: str | None = None) -> SqlColumn:
        """Return the same column under another name; missing: when it is NULL."""
        return replace(self, name=name, missing=self.missing if missing is None else missing)


def of_schema(table: type[TraceTable], name: str) -> SqlColumn:
    """Return a column of the trace file."""
    found = next(column for column in table.schema() if column.name == name)
    key = found.source[0] if found.source else ""
    return SqlColumn(
        name,
        "string" if found.is_string else "number",
        "JSON text" if found.unit == JSON_TEXT else "" if found.is_string else found.unit,
        "; ".join(
            filter(None, (key, found.meaning if key or not found.is_string else f"{found.meaning} of the event"))
        ),
        f"args: {key}" if key else _OF_EVENT,
        "not in the file",
    )


def of_definition(definition: Definition, missing: str = "") -> SqlColumn:
    """Return a column that an analysis defines."""
    return SqlColumn(
        definition.key, definition.type, definition.unit or "", definition.help, f"definition: {definition.id}", missing
    )


def of_field(answer: type, name: str, values: ColumnType, unit: str = "", missing: str = "") -> SqlColumn:
    """Return a field of an answer or of a result, which its docstring describes."""
    return SqlColumn(name, values, unit, field_texts(answer)[name], f"{answer.__name__}.{name}", missing)


def of_answer(answer: type[msgspec.Struct], names: Iterable[str] | None = None) -> tuple[SqlColumn, ...]:
    """Fields of an answer (all without `names`), or of an answer of parallel lists.

    Types and units are those of their annotations.
    """
    hints = get_type_hints(answer, include_extras=True)
    return tuple(_field_column(answer, name, hints[name]) for name in (names or answer.__struct_fields__))


def _field_column(answer: type, name: str, hint: Any) -> SqlColumn:
    if get_origin(hint) is Annotated and get_args(hint.__origin__):  # a label beside what has parts
        hint = hint.__origin__
    if get_origin(hint) in (Sequence, collections.abc.Sequence):
        (hint,) = get_args(hint)
    choices = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    given = next(each for each in choices if each is not NoneType)
    missing = "unknown" if NoneType in choices else ""
    unit = next((meta.description for meta in getattr(given, "__metadata__", ()) if isinstance(meta, Meta)), None) or ""
    plain_type = getattr(given, "__origin__", given)
    types: Mapping[Any, ColumnType] = {int: "number", float: "number", bool: "bool"}
    return of_field(answer, name, types.get(plain_type, "string"), {"nanoseconds": "ns"}.get(unit, unit), missing)


class SqlTexts(msgspec.Struct, frozen=True):
    """Values of a column of texts: `texts[codes]`; an empty text, and a code below zero, is NULL."""

    codes: Ints
    texts: Sequence[str]

    @classmethod
    def of(cls, values: Sequence[str | None]) -> SqlTexts:
        """Make a column of a list of texts."""
        known: dict[str, int] = {}
        codes = [-1 if text is None else known.setdefault(text, len(known)) for text in values]
        return cls(np.array(codes, np.int64), tuple(known))

    def __len__(self) -> int:
        return len(self.codes)

    def used(self) -> tuple[npt.NDArray[np.int32], list[str | None]]:
        """Return codes into the list of the texts that occur, and that list, which begins with None."""
        codes = np.where(self.codes < 0, len(self.texts), self.codes)
        occurs = np.flatnonzero(np.bincount(codes, minlength=len(self.texts) + 1)[: len(self.texts)])
        chosen = [code for code in occurs.tolist() if self.texts[code]]
        place = np.zeros(len(self.texts) + 1, np.int32)
        place[chosen] = np.arange(1, len(chosen) + 1)
        return place[codes], [None, *(_encodable(self.texts[code]) for code in chosen)]


SqlValues = SqlTexts | npt.NDArray[Any] | Sequence[Any]


def known(values: Ints) -> npt.NDArray[Any]:
    """Integers in which a negative number says that there is none."""
    return np.ma.masked_less(values, 0)


def plain(values: SqlValues) -> npt.NDArray[Any]:
    """Return numbers and booleans as an array; missing values (None, NaN) are masked."""
    assert not isinstance(values, SqlTexts)
    if isinstance(values, np.ndarray):
        return _known_floats(values)
    there = [each is not None for each in values]
    known_values = [each for each in values if each is not None]
    kept = np.array(known_values) if known_values else np.zeros(0, np.int64)
    filled = np.zeros(len(there), kept.dtype)
    filled[there] = kept
    return _known_floats(np.ma.array(filled, mask=~np.array(there, np.bool_)))


def _known_floats(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.ma.masked_invalid(values) if values.dtype.kind == "f" else values


def rows_at(rows: Ints, index: Ints) -> Int64:
    """Return the rows that positions of a table name; -1 for those below zero."""
    found = np.full(len(index), -1, np.int64)
    there = index >= 0
    found[there] = rows[index[there]]
    return found


def _encodable(text: str) -> str:
    """Halves of characters, which JSON may hold and no text in UTF-8 can, are replaced."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


class SqlTable(msgspec.Struct, frozen=True):
    """A table about one trace.

    meaning  what one of its rows is
    fill     the values of each column, all of one length
    """

    name: str
    meaning: str
    columns: tuple[SqlColumn, ...]
    fill: Callable[[Model], Mapping[str, SqlValues]]


class RunTable(msgspec.Struct, frozen=True):
    """A table about all ranks of a span of a run together; run and span are put before its columns.

    fill     the values of each column, all of one length
    """

    name: str
    meaning: str
    columns: tuple[SqlColumn, ...]
    fill: Callable[[RunResult], Mapping[str, Sequence[object]]]


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


def event_values(model: Model, rows: Ints) -> dict[str, SqlValues]:
    """Return row, name, times and step of some events."""
    events = model.trace.events
    return {
        "row": rows,
        "name": SqlTexts(events.name[rows], model.trace.strings),
        "start_ns": events.start[rows],
        "duration_ns": known(events.duration[rows]),
        "end_ns": events.end[rows],
        "step": step_values(model, rows),
    }


def step_values(model: Model, rows: Ints) -> SqlTexts:
    """Return the step of some events."""
    return SqlTexts(steps_of(model)[rows], model.steps.names)


def thread_values(model: Model, rows: Ints) -> SqlTexts:
    """Return the track of some events."""
    return SqlTexts(model.trace.events.track[rows], tuple(map(track_name, model.trace.tracks)))


def operator_values(model: Model, node: Int32) -> dict[str, SqlValues]:
    """Return the operator at some places of the call tree (-1: at none)."""
    tree = model.tree
    return {
        "operator_row": known(take_known(tree.row, node)),
        "operator": SqlTexts(take_known(tree.name, node), model.trace.strings),
    }


@cached
def steps_of(model: Model) -> Int64:
    """Shape (events,): see `step_of_events`."""
    return step_of_events(model.structure, model.steps)


def category_values(model: Model, rows: Ints) -> SqlTexts:
    """Return the category of some events."""
    return SqlTexts(model.trace.events.category[rows].astype(np.int64), [each.name.lower() for each in Category])
