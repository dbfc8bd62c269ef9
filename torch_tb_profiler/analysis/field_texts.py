"""Reads the descriptions of fields from the docstrings of types, the one place where fields are described."""

from __future__ import annotations

import inspect

from torch_tb_profiler.lazy_pattern import lazy_pattern

#: a line of a docstring that says what a field is: `name, other  text`
_FIELD_LINE = lazy_pattern(r"^ *([a-z_]\w*(?:, [a-z_]\w*)*) {2,}(\S.*)$")


def fields_of(docstring: str) -> dict[str, str]:
    """What a docstring says of each field; a text goes on in the lines below that begin under it."""
    found: dict[str, str] = {}
    names: list[str] = []
    column = 0
    for line in docstring.splitlines():
        match = _FIELD_LINE.match(line)
        if match:
            names, column = match[1].split(", "), match.start(2)
            found |= dict.fromkeys(names, match[2].strip())
        elif names and line.strip() and len(line) - len(line.lstrip()) == column:
            found |= {name: f"{found[name]} {line.strip()}" for name in names}
        else:
            names = []
    return found


def field_texts(of: type) -> dict[str, str]:
    """What the docstrings of a type and of its bases say of their fields."""
    found: dict[str, str] = {}
    for each in reversed(of.__mro__):
        found |= fields_of(inspect.cleandoc(own_docstring(each)))
    return found


def own_docstring(of: type) -> str:
    """That of the type itself; empty if there is none."""
    text = of.__dict__.get("__doc__") or ""
    # dataclasses without a docstring are given their signature
    return "" if text.startswith(f"{of.__name__}(") else text
