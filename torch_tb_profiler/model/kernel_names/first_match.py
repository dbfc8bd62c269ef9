"""The first of many patterns that a text matches, without trying them all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property

from torch_tb_profiler.lazy_pattern import lazy_pattern

#: a pattern is tried where a text has this many characters of it in a row
GRAM = 4

_CLASS = lazy_pattern(r"\[[^]]*\](?:[?*+]|\{[^}]*\})?|\\.(?:[?*+]|\{[^}]*\})?")
_AS_IT_IS = lazy_pattern(r"\(\?i:([^()|]*)\)(?![?*])")
_GROUP = lazy_pattern(r"\([^()]*\)[?*+]?")
_OPTIONAL = lazy_pattern(r".(?:[?*]|\{[^{}]*\})")
_SIGNS = lazy_pattern(r"[\^$.+\s]+")


class FirstMatch:
    """Regular expressions in an order, none with a `|` outside of groups; they are looked at with the first text."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._texts = tuple(patterns)
        self._search: dict[int, Callable[[str], object]] = {}

    def __call__(self, text: str) -> int | None:
        """The place of the first pattern that is found in a text; None: of none.

        Raises ValueError for a pattern with a `|` outside of groups.
        """
        always, by_gram = self._places
        found = set(always)
        for gram in by_gram.keys() & grams_of(text.lower()):
            found.update(by_gram[gram])
        return next((place for place in sorted(found) if self._is_found(place, text)), None)

    @cached_property
    def _places(self) -> tuple[list[int], dict[str, list[int]]]:
        """Patterns that are always tried, and those that are tried where a text has some characters in a row."""
        always: list[int] = []
        by_gram: dict[str, list[int]] = {}
        grams = [grams_of(literal_of(text)) for text in self._texts]
        common = Counter(gram for each in grams for gram in each)
        for place, each in enumerate(grams):
            rarest = min(sorted(each), key=common.__getitem__, default=None)
            (always if rarest is None else by_gram.setdefault(rarest, [])).append(place)
        return always, by_gram

    def _is_found(self, place: int, text: str) -> bool:
        search = self._search.get(place)
        if search is None:  # a pattern costs more to compile than to try on all names of a trace
            search = self._search[place] = re.compile(self._texts[place]).search
        return search(text) is not None


def grams_of(text: str) -> set[str]:
    return {text[at : at + GRAM] for at in range(len(text) - GRAM + 1)}


def literal_of(pattern: str) -> str:
    """The longest text that all matches contain, in lower case: outside of groups, classes and optional parts."""
    text = _CLASS.sub(" ", pattern)
    while (shorter := _GROUP.sub(" ", _AS_IT_IS.sub(r"\1", text), count=1)) != text:
        text = shorter
    if "|" in text:
        raise ValueError(f"an alternative outside of groups: {pattern}")
    return max(_SIGNS.split(_OPTIONAL.sub(" ", text)), key=len).lower()
