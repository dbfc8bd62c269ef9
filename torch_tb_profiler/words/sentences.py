"""Fill sentences with values, those of reasons (`reasons.toml`) and of memory (`memory.toml`) among them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.reason import Reason, Value
from torch_tb_profiler.words.files import words_file
from torch_tb_profiler.words.formats import formatted

#: a text, or a choice between texts by a value; see the room's docstring
Sentence = str | Mapping[str, Any]
Values = Mapping[str, Value]

#: a brace that is meant, or the name of a value and its format
_PLACE = lazy_pattern(r"\{\{|\}\}|\{(\w+)(?::([^{}]*))?\}")


class Section(msgspec.Struct, frozen=True):
    """The sentences of one rule, note or refusal by their keys, and those that its file shares."""

    sentences: Mapping[str, Sentence]
    shared: Mapping[str, Sentence]

    def say(self, key: str, values: Values) -> str:
        """Fill one sentence. Raises KeyError where it, a value that it names, or a choice for one is missing."""
        return self._fill(self._sentence(key), values)

    def _sentence(self, key: str) -> Sentence:
        return self.sentences[key] if key in self.sentences else self.shared[key]

    def _fill(self, sentence: Sentence, values: Values) -> str:
        while not isinstance(sentence, str):
            choice = _choice(values.get(sentence["by"], ""))
            sentence = sentence[choice] if choice in sentence else sentence["other"]

        def filled(place: re.Match[str]) -> str:
            name, how = place[1], place[2] or ""
            if name is None:
                return place[0][0]
            return formatted(values[name], how, values) if name in values else self.say(name, values)

        return _PLACE.sub(filled, sentence)


def _choice(value: Value) -> str:
    """Return the key of a value in a table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def values_of(struct: msgspec.Struct) -> dict[str, Value]:
    """Return its fields that are not None; those of a struct in it, and of the first of several, as `growth_steps`."""
    values: dict[str, Value] = {}
    for name in struct.__struct_fields__:
        value = getattr(struct, name)
        if isinstance(value, tuple):
            value = next(iter(value), None)
        if isinstance(value, msgspec.Struct):
            values |= {f"{name}_{key}": inner for key, inner in values_of(value).items()}
        elif value is not None:
            values[name] = value
    return values


def section(area: str, name: str) -> Section:
    """Return the English sentences of one section. Raises KeyError.

    area  the path of the file below the language, without its suffix
    """
    sections = words_file(area)
    return Section(sections[name], sections.get("shared", {}))


def because(kind: str, values: Values | None = None) -> Reason:
    """Return a reason of a kind. values: what the sentence says beyond that."""
    values = values or {}
    return Reason(kind, section("reasons", "texts").say(kind, values), values)


def memory_text(name: str, struct: msgspec.Struct, **more: Value) -> str:
    """Say what a section says of the fields of a struct. more: values that are no fields."""
    return section("memory", name).say("text", values_of(struct) | more)
