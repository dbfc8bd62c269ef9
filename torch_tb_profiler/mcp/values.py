"""Values of answers for agents: four significant digits, milliseconds, names that are only names."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from torch_tb_profiler.analysis.definition import Definition
from torch_tb_profiler.analysis.text_format import harmless
from torch_tb_profiler.mcp.declaration import Cells

S = TypeVar("S", bound=msgspec.Struct)

#: characters of a name, and of a sentence
LONGEST_NAME, LONGEST_SENTENCE = 120, 500
_NS_IN_MS = 10**6
#: a name that can be no sentence
_ONE_WORD = re.compile(r"[\w.:+-]{1,60}")


def name_of(text: str | None) -> str | None:
    """A name from a trace: at most 120 characters, without control characters."""
    return None if text is None else harmless(text, LONGEST_NAME)


def milliseconds(ns: float | None) -> float | None:
    """Milliseconds with four significant digits."""
    return None if ns is None else digits(ns / _NS_IN_MS)


def digits(value: float | None) -> float | None:
    """A number with four significant digits; None if it is not a number."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.4g}")


def told(shape: type[S], of: Any, **own: Any) -> S:
    """Return what an agent is told of a part of an answer: the fields of `shape`.

    Those that `own` does not give come from the fields of `of` that are called so: `x_ms` from `x_ns`, names as
    `name_of`, other numbers with four significant digits.
    """
    return shape(**{key: own[key] if key in own else _value(of, key) for key in shape.__struct_fields__})


def _value(of: Any, key: str) -> Any:
    if key.endswith("_ms"):
        return milliseconds(getattr(of, f"{key.removesuffix('_ms')}_ns"))
    value = getattr(of, key)
    if isinstance(value, float):
        return digits(value)
    return name_of(value) if isinstance(value, str) else value


def sentence(text: str, values: Mapping[str, Any]) -> str:
    """A sentence of ours. Names in it that could be read as words of ours give way to `{key}`; `named` has them."""
    for key, value in _sentences(values).items():
        text = text.replace(value, f"{{{key}}}")
    return harmless(text, LONGEST_SENTENCE)


def named(values: Mapping[str, Any]) -> dict[str, str]:
    """The names that a sentence of ours speaks of as `{key}`."""
    return {key: harmless(value, LONGEST_NAME) for key, value in _sentences(values).items()}


def _sentences(values: Mapping[str, Any]) -> dict[str, str]:
    """The longest first, so that none is found inside another."""
    texts = {key: value for key, value in values.items() if isinstance(value, str) and value}
    kept = {key: value for key, value in texts.items() if not _ONE_WORD.fullmatch(value)}
    return dict(sorted(kept.items(), key=lambda each: -len(each[1])))


def key_of(column: Definition) -> str:
    """The name of a column: times are in milliseconds."""
    return f"{column.key.removesuffix('_ns')}_ms" if column.unit == "ns" else column.key


def cell(value: Any, column: Definition) -> Any:
    """The value of a cell in the unit that `key_of` names."""
    if isinstance(value, str):
        return harmless(value, LONGEST_NAME)
    if isinstance(value, bool) or value is None:
        return value
    if column.unit == "ns":
        return milliseconds(value)
    return value if isinstance(value, int) else digits(float(value))


def cells_of(columns: Sequence[Definition], rows: Mapping[str, Sequence[Any]]) -> Cells:
    """A page of a table; `rows` by key of the column."""
    count = len(rows[columns[0].key]) if columns else 0
    return Cells(
        columns=[key_of(column) for column in columns],
        rows=[[cell(rows[column.key][at], column) for column in columns] for at in range(count)],
    )
