"""The language of the filter box: text → conditions, or what is wrong with it (docs/tables.md).

`fe/src/table/filter.ts` is the same in the browser; `tests/cases/table_query.json` holds both to the same answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.text_format import factor_of
from torch_tb_profiler.arrays.types import Bool
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.patterns import PatternError, SlowPattern, TimedPattern

#: names of C++ kernels have thousands of characters
LONGEST = 10_000
#: characters of a regular expression
LONGEST_PATTERN = 200
#: seconds for all texts of a column
PATTERN_SECONDS = 2.0

#: what separates tokens, as `\s` of JavaScript
SPACE = "\t\n\v\f\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

Operator = Literal[">", ">=", "<", "<=", "=", "!="]
ProblemKind = Literal[
    "unknown_column", "bad_regex", "bad_number", "bad_unit", "bad_operator", "open_quote", "too_long", "too_many_sorts"
]


class QueryProblem(ValueError):
    """The text cannot be understood; the message is for a person.

    kind: a word for programs; token: the part of the text; name: the column that is meant
    """

    def __init__(self, kind: ProblemKind, message: str, token: str, name: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.token = token
        self.name = name


class WordCondition(msgspec.Struct, frozen=True):
    """The column `key` contains the text, given in small letters."""

    key: str
    text: str


class FilterPattern:
    """A regular expression, to be found in any case. Raises PatternError."""

    def __init__(self, source: str) -> None:
        if len(source) > LONGEST_PATTERN:
            raise PatternError(f"it is longer than {LONGEST_PATTERN} characters")
        self._pattern = TimedPattern(source, ignore_case=True)

    def search(self, texts: Sequence[str]) -> Bool:
        """Return which of the texts match. Raises PatternError."""
        found = self._pattern.matcher(PATTERN_SECONDS)
        try:
            return np.fromiter(map(found, texts), np.bool_, len(texts))
        except SlowPattern:
            raise PatternError("it takes too long to match") from None


class PatternCondition(msgspec.Struct, frozen=True):
    """A regular expression is found in the column."""

    key: str
    pattern: FilterPattern
    token: str

    def search(self, texts: Sequence[str]) -> Bool:
        """Return which of the texts, given in small letters, match. Raises QueryProblem."""
        try:
            return self.pattern.search(texts)
        except PatternError as error:
            raise QueryProblem("bad_regex", str(error), self.token) from None


class TextCondition(msgspec.Struct, frozen=True):
    """The column is this text, given in small letters, or with `same` false, is not."""

    key: str
    text: str
    same: bool


class BoolCondition(msgspec.Struct, frozen=True):
    """The column is true, false or (None) unknown, or with `same` false, is not."""

    key: str
    value: bool | None
    same: bool


class NumberCondition(msgspec.Struct, frozen=True):
    """The column is a number and compares so."""

    key: str
    operator: Operator
    limit: float


Condition = WordCondition | PatternCondition | TextCondition | BoolCondition | NumberCondition
Column = Mapping[str, Any]

_NAME = lazy_pattern(r"([A-Za-z_][A-Za-z0-9_ ()%-]*?)(~|!=|>=|<=|==|>|<|=)")
_NUMBER = lazy_pattern(rf"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[{SPACE}]*([A-Za-zµ%]*(?:/s)?)")
_TRUTHS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False, "unknown": None, "null": None}


class _Token(msgspec.Struct, frozen=True):
    """`quoted_from`: where the first quote stood, -1 when there was none."""

    text: str
    quoted_from: int


def parse_filter(text: str, columns: Sequence[Column], search: str) -> list[Condition]:
    """Conditions that must all hold. `search`: the column in which words are looked for. Raises QueryProblem."""
    if len(text) > LONGEST:
        raise QueryProblem("too_long", f"the filter is longer than {LONGEST} characters", "")
    return [_condition(token, columns, search) for token in _tokens(text)]


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    current, quoted_from, quoting = "", -1, False
    characters = iter(range(len(text)))
    for at in characters:
        character = text[at]
        if quoting and character == "\\" and text[at + 1 : at + 2] in ('"', "\\"):
            current += text[next(characters)]
        elif character == '"':
            quoting = not quoting
            if quoted_from < 0:
                quoted_from = len(current)
        elif not quoting and _IS_SPACE(character):
            if current or quoted_from >= 0:
                tokens.append(_Token(current, quoted_from))
            current, quoted_from = "", -1
        else:
            current += character
    if quoting:
        raise QueryProblem("open_quote", "a quote is not closed", text)
    if current or quoted_from >= 0:
        tokens.append(_Token(current, quoted_from))
    return tokens


_IS_SPACE: Callable[[str], object] = lazy_pattern(f"[{SPACE}]").match


def _condition(token: _Token, columns: Sequence[Column], search: str) -> Condition:
    text = token.text
    match = _NAME.match(text if token.quoted_from < 0 else text[: token.quoted_from])
    if match is None:
        return WordCondition(search, text.lower())
    name, sign = match[1], match[2]
    operand = text[match.end() :]
    column = find_column(name, columns)
    if column is None:
        # Names of C++ kernels are full of < and =; only what cannot be meant as a name is a mistake.
        if sign == "~" or _NUMBER.fullmatch(operand):
            raise QueryProblem("unknown_column", f"there is no column {name!r}", text, name)
        return WordCondition(search, text.lower())
    return _of_column(column, "=" if sign == "==" else sign, operand, text)


def _of_column(column: Column, sign: str, operand: str, token: str) -> Condition:
    key, kind = column["key"], column["type"]
    if kind == "number" and sign != "~":
        return NumberCondition(key, sign, _limit(column, operand, token))  # type: ignore[arg-type]
    if kind == "string" and sign == "~":
        try:
            return PatternCondition(key, FilterPattern(operand), token)
        except PatternError as error:
            raise QueryProblem("bad_regex", str(error), token) from None
    if sign in ("=", "!="):
        if kind == "string":
            return TextCondition(key, operand.lower(), sign == "=")
        if operand.lower() in _TRUTHS:
            return BoolCondition(key, _TRUTHS[operand.lower()], sign == "=")
    raise QueryProblem("bad_operator", f"{token!r} cannot be asked of {column['label']}", token, column["label"])


def _limit(column: Column, operand: str, token: str) -> float:
    match = _NUMBER.fullmatch(operand)
    if match is None:
        raise QueryProblem("bad_number", f"{token!r} needs a number", token)
    factor = factor_of(match[2], column["unit"])
    if factor is None:
        raise QueryProblem("bad_unit", f"the unit in {token!r} does not fit {column['label']}", token, column["label"])
    return float(match[1]) * factor


def find_column(name: str, columns: Sequence[Column]) -> Column | None:
    """Find a column by key, by key without its unit, or by label; in any case."""
    wanted = _normal(name)
    for names in (
        lambda column: column["key"],
        lambda column: re.sub(r"_(ns|bytes)$", "", column["key"]),
        lambda column: column["label"],
    ):
        for column in columns:
            if _normal(names(column)) == wanted:
                return column
    return None


def _normal(name: str) -> str:
    return re.sub(r"[^a-z0-9%]+", "_", name.lower()).strip("_")
