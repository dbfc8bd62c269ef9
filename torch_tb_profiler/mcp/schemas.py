"""JSON Schema of arguments and answers, from their types, described by their docstrings."""

from __future__ import annotations

from typing import Any

import msgspec

from torch_tb_profiler.analysis.answer_schemas import components

_TEMPLATE = "#/$defs/{name}"


def schema_of_arguments(arguments: type) -> dict[str, Any]:
    """The schema of arguments, with bounds, defaults and descriptions; other arguments are refused."""
    (_,), found = msgspec.json.schema_components([arguments], ref_template=_TEMPLATE)
    own = found.pop(arguments.__name__)
    kept = {key: own[key] for key in ("type", "properties", "required") if key in own}
    return {**kept, "additionalProperties": False, **({"$defs": found} if found else {})}


def schema_of_answer(answer: type) -> dict[str, Any]:
    """The schema of an answer; every field is required."""
    found = components([answer], _TEMPLATE)
    own = found.pop(answer.__name__)
    others = {name: found[name] for name in sorted(_named(own, found))}
    return {**own, **({"$defs": others} if others else {})}


def _named(schema: Any, known: dict[str, Any]) -> set[str]:
    """The components that a schema refers to, and those that these refer to."""
    found: set[str] = set()
    waiting = [schema]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            waiting += each
        elif isinstance(each, dict):
            waiting += each.values()
            name = str(each.get("$ref", "")).rpartition("/")[2]
            if name and name not in found:
                found.add(name)
                waiting.append(known[name])
    return found
