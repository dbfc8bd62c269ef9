"""The first of many patterns that a text matches, without trying them all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

#: a pattern is tried where a text has this many characters of it in a row
GRAM = 4

_CLASS = re.compile(r"\[[^]]*\](?:[?*+]|\{[^}]*\})?|\\.(?:[?*+]|\{[^}]*\})?")
_AS_IT_IS = re.compile(r"\(\?i:([^()|]*)\)(?![?*])")
_GROUP = re.compile(r"\([^()]*\)[?*+]?")
_OPTIONAL = re.compile(r".[?*]")
_SIGNS = re.compile(r"[\^$.+\s]+")


class FirstMatch:
    """Regular expressions in an order, none with a `|` outside of groups. Raises ValueError for one that has."""

    def __init__(self, patterns: Iterable[str]) -> None:
        texts = tuple(patterns)
        self._search = [re.compile(text).search for text in texts]
        self._always: list[int] = []
        self._by_gram: dict[str, list[int]] = {}
        grams = [grams_of(literal_of(text)) for text in texts]
        common = Counter(gram for each in grams for gram in each)
        for place, each in enumerate(grams):
            rarest = min(sorted(each), key=common.__getitem__, default=None)
            (self._always if rarest is None else self._by_gram.setdefault(rarest, [])).append(place)

    def __call__(self, text: str) -> int | None:
        """The place of the first pattern that is found in a text; None: of none."""
        found = set(self._always)
        for gram in self._by_gram.keys() & grams_of(text.lower()):
            found.update(self._by_gram[gram])
        return next((place for place in sorted(found) if self._search[place](text)), None)


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
