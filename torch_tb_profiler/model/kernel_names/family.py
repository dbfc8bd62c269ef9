"""What a family of kernels is, and how a name finds its family without trying all patterns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from enum import Enum
from functools import cached_property, wraps
from sys import getsizeof
from typing import TypeVar

import msgspec

from torch_tb_profiler.lazy_pattern import lazy_pattern


class KernelKind(str, Enum):
    """The kind of work of a kernel. A helper prepares or finishes the work of another kernel."""

    ACTIVATION = "activation"
    ATTENTION = "attention"
    ATTENTION_HELPER = "attention helper"
    COMMUNICATION = "communication"
    COMPUTE = "compute"
    CONCATENATE = "concatenate"
    CONV = "conv"
    CONV_HELPER = "conv helper"
    COPY = "copy"
    EMBEDDING = "embedding"
    FILL = "fill"
    GEMM = "gemm"
    GEMM_HELPER = "gemm helper"
    GEMV = "gemv"
    IMAGE = "image"
    INDEX = "index"
    KV_CACHE = "kv cache"
    LAYOUT = "layout"
    LINEAR_ALGEBRA = "linear algebra"
    LINEAR_ATTENTION = "linear attention"
    LOSS = "loss"
    NORM = "norm"
    OPTIMIZER = "optimizer"
    POINTWISE = "pointwise"
    POOLING = "pooling"
    QUANTIZE = "quantize"
    RANDOM = "random"
    REDUCTION = "reduction"
    ROTARY = "rotary"
    ROUTING = "routing"
    SAMPLER = "sampler"
    SOFTMAX = "softmax"
    SORT = "sort"
    SPIN = "spin"
    WAIT = "wait"


#: what a family says of tensor cores
YES, NO, OPEN = True, False, None

#: kinds that multiply matrices: tensor cores could do their work
MATMULS = frozenset({KernelKind.GEMM, KernelKind.CONV, KernelKind.ATTENTION})


class KernelFamily(msgspec.Struct, frozen=True):
    """Kernels that are named alike.

    tensor_cores  whether they use tensor cores (matrix cores on AMD); None: the name leaves it open
    also          what such a kernel does beside its kind
    patterns      regular expressions without a `|` outside of groups; one of them is found in the plain name
    """

    kind: KernelKind
    library: str
    tensor_cores: bool | None
    patterns: tuple[str, ...]
    also: KernelKind | None = None

    @property
    def label(self) -> str:
        """`gemm`; `communication + norm`."""
        return self.kind.value if self.also is None else f"{self.kind.value} + {self.also.value}"


def of_kind(
    kind: KernelKind, library: str, tensor_cores: bool | None, patterns: str, also: KernelKind | None = None
) -> KernelFamily:
    """Make a family, with its patterns in one text."""
    return KernelFamily(kind, library, tensor_cores, tuple(patterns.split()), also)


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
        """Return the place of the first pattern that is found in a text; None without any.

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
    """Return the longest text that all matches contain, lower case: outside of groups, classes and optional parts."""
    text = _CLASS.sub(" ", pattern)
    while (shorter := _GROUP.sub(" ", _AS_IT_IS.sub(r"\1", text), count=1)) != text:
        text = shorter
    if "|" in text:
        raise ValueError(f"an alternative outside of groups: {pattern}")
    return max(_SIGNS.split(_OPTIONAL.sub(" ", text)), key=len).lower()


T = TypeVar("T")

#: bytes of the names that are kept for one function; when there are more, it starts again
MOST_BYTES = 24_000_000
#: what a name takes beside its text
_ENTRY_BYTES = 100


def cached_by_name(of_name: Callable[[str], T]) -> Callable[[str], T]:
    """Remember the results of a function that is asked again and again about the same names.

    A bound on the number of names would not do: with one name more than that, asked one after the other, nothing is
    found that was kept, and a bound far above what traces have would keep names of any length.
    """
    known: dict[str, T] = {}
    held = 0

    @wraps(of_name)
    def found(name: str) -> T:
        nonlocal held
        try:
            return known[name]
        except KeyError:
            value = of_name(name)
        held += getsizeof(name) + _ENTRY_BYTES
        if held > MOST_BYTES:
            known.clear()
            held = getsizeof(name) + _ENTRY_BYTES
        known[name] = value
        return value

    return found
