"""The declaration of a tool, its JSON Schemas, the values of its answers, and how they are cut to a budget.

Values have four significant digits, times are milliseconds, and names are only names. Tools are listed in `tools`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, Definition, digits
from torch_tb_profiler.analysis.text_format import harmless
from torch_tb_profiler.mcp.catalog import TraceCatalog
from torch_tb_profiler.reason import ErrorWithReason

TraceId = Annotated[str, Meta(description="A trace, as the tool traces lists it.")]


class InvalidRequest(ErrorWithReason):
    """The request is invalid; the message is a sentence without names from a trace."""


class ToolParams(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of a tool."""


class ToolAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What every answer has.

    notes  what to know about this answer
    more   how many entries were left out for want of room, by list; ask for a later offset or fewer columns
    """

    notes: Sequence[str] = ()
    more: Mapping[str, Count] = {}


class Next(msgspec.Struct, frozen=True, kw_only=True):
    """What to call next.

    tool       its name
    arguments  to call it with
    """

    tool: str
    arguments: Mapping[str, str]


class TableCells(msgspec.Struct, frozen=True, kw_only=True):
    """A table: rows are lists in the order of the columns; null is unknown. Units are in the names of columns.

    columns  names, with the unit at the end
    rows     a list each
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str | float | int | bool | None]]


P = TypeVar("P", bound=ToolParams)
A = TypeVar("A", bound=ToolAnswer)


class Tool(msgspec.Struct, Generic[P, A], frozen=True, kw_only=True):
    """One tool.

    name, title  what it is called
    summary      what it answers and when to call it; our words alone
    arguments    names, types, bounds, defaults and descriptions of its parameters
    answer       type of its answer
    compute      the answer; raises InvalidRequest and ProfileError
    budget       characters of the answer, as compact JSON
    shrinks      lists of the answer, as `table.rows`, that lose their last entries where it would be longer
    untrusted    fields whose texts are from the trace
    """

    name: str
    title: str
    summary: str
    arguments: type[P]
    answer: type[A]
    compute: Callable[[TraceCatalog, P], A]
    budget: int
    shrinks: Sequence[str] = ()
    untrusted: Sequence[str] = ()


AnyTool = Tool[Any, Any]


_TEMPLATE = "#/$defs/{name}"


def schema_of_arguments(arguments: type) -> dict[str, Any]:
    """Return the schema of arguments, with bounds, defaults and descriptions; other arguments are refused."""
    (_,), found = msgspec.json.schema_components([arguments], ref_template=_TEMPLATE)
    schema = found.pop(arguments.__name__)
    kept = {key: schema[key] for key in ("type", "properties", "required") if key in schema}
    return {**kept, "additionalProperties": False, **({"$defs": found} if found else {})}


def fit_to_limit(tool: AnyTool, answer: ToolAnswer) -> str:
    """Return the answer as compact JSON; `more` counts the entries left out. Raises InvalidRequest."""
    values: dict[str, Any] = msgspec.to_builtins(answer)
    values["more"] = dict(values["more"])
    while len(text := compact(values)) > tool.budget:
        lists = [(path, entries) for path in tool.shrinks if (entries := _at(values, path))]
        if not lists:
            raise InvalidRequest(f"the answer does not fit into {tool.budget} characters; ask for less")
        path, entries = max(lists, key=lambda each: len(compact(each[1])))
        # drop about half of the excess, at least one entry
        each = len(compact(entries)) / len(entries)
        dropped = min(max(int((len(text) - tool.budget) / (2 * each)), 1), len(entries))
        del entries[-dropped:]
        values["more"][path] = values["more"].get(path, 0) + dropped
    return text


def compact(value: Any) -> str:
    """Return JSON without spaces and without escapes of non-ASCII characters."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _at(found: dict[str, Any], path: str) -> list[Any] | None:
    """Return the list at a path such as `table.rows`, as a copy that can be cut."""
    *above, last = path.split(".")
    place = found
    for name in above:
        place = place[name]
        if place is None:
            return None
    if not place[last]:
        return None
    place[last] = list(place[last])
    cut: list[Any] = place[last]
    return cut


S = TypeVar("S", bound=msgspec.Struct)

#: limits of the characters of a name and of a sentence
LONGEST_NAME, LONGEST_SENTENCE = 120, 500
_NS_IN_MS = 10**6
#: a name that cannot be a sentence
_ONE_WORD = re.compile(r"[\w.:+-]{1,60}")


def name_of(text: str | None) -> str | None:
    """Return a name from a trace: at most 120 characters, without control characters."""
    return None if text is None else harmless(text, LONGEST_NAME)


def milliseconds(ns: float | None) -> float | None:
    """Return milliseconds with four significant digits."""
    return None if ns is None else digits(ns / _NS_IN_MS)


def brief(shape: type[S], source: Any, **given: Any) -> S:
    """Make a `shape` for an agent from a part of an answer.

    Fields that are not `given` come from the fields of `source` with the same name: `x_ms` from `x_ns`, names through
    `name_of`, other numbers with four significant digits.
    """
    return shape(**{key: given[key] if key in given else _brief_value(source, key) for key in shape.__struct_fields__})


def _brief_value(source: Any, key: str) -> Any:
    if key.endswith("_ms"):
        return milliseconds(getattr(source, f"{key.removesuffix('_ms')}_ns"))
    value = getattr(source, key)
    if isinstance(value, float):
        return digits(value)
    return name_of(value) if isinstance(value, str) else value


def sentence(text: str, values: Mapping[str, Any]) -> str:
    """Replace names that could be read as part of our sentence by `{key}`; `named` returns these names."""
    for key, value in _sentences(values).items():
        text = text.replace(value, f"{{{key}}}")
    return harmless(text, LONGEST_SENTENCE)


def named(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the names that `sentence` replaces by `{key}`."""
    return {key: harmless(value, LONGEST_NAME) for key, value in _sentences(values).items()}


def _sentences(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the values that could be read as sentences, the longest first, as one may contain another."""
    texts = {key: value for key, value in values.items() if isinstance(value, str) and value}
    kept = {key: value for key, value in texts.items() if not _ONE_WORD.fullmatch(value)}
    return dict(sorted(kept.items(), key=lambda each: -len(each[1])))


def key_of(column: Definition) -> str:
    """Return the name of a column: times are in milliseconds."""
    return f"{column.key.removesuffix('_ns')}_ms" if column.unit == "ns" else column.key


def cell(value: Any, column: Definition) -> Any:
    """Return the value of a cell in the unit that `key_of` names."""
    if isinstance(value, str):
        return harmless(value, LONGEST_NAME)
    if isinstance(value, bool) or value is None:
        return value
    if column.unit == "ns":
        return milliseconds(value)
    return value if isinstance(value, int) else digits(float(value))


def cells_of(columns: Sequence[Definition], rows: Mapping[str, Sequence[Any]]) -> TableCells:
    """Return a page of a table. rows: by key of the column."""
    count = len(rows[columns[0].key]) if columns else 0
    return TableCells(
        columns=[key_of(column) for column in columns],
        rows=[[cell(rows[column.key][at], column) for column in columns] for at in range(count)],
    )
