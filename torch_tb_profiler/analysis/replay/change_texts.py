"""Changes as text, as addresses and the query of a request have them: `data:0,operator.aten%3A%3Aitem:0.5,sync`.

    changes = [ change *( "," change ) ]
    change  = kind [ "." name ] [ ":" factor ]

`,` and `%` in names are written `%2C` and `%25`; any other character may be, too. A kind that scales something has a
factor, a number from 0 to 100; one that takes something away has none. KINDS lists the kinds, a line each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Count
from torch_tb_profiler.analysis.replay.changes import (
    Change,
    LabelName,
    ScaleHost,
    collectives,
    copies,
    graphed,
    kernels,
    pinned,
    scale,
    without,
)
from torch_tb_profiler.analysis.replay.effects import calls_of_module
from torch_tb_profiler.analysis.replay.host_time import HOST_CATEGORIES
from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category

#: longest text, most changes
LONGEST, MOST = 4_000, 24
LARGEST_FACTOR = 100.0
_FACTOR = lazy_pattern(r"(?:0|[1-9]\d{0,2})(?:\.\d{1,6})?", re.ASCII)
_BAD_ESCAPE = lazy_pattern(r"%(?![0-9A-Fa-f]{2})")
_ESCAPE = lazy_pattern(rb"%([0-9A-Fa-f]{2})")

Naming = Literal["none", "optional", "required"]


class ChangeKind(msgspec.Struct, frozen=True):
    """One kind of change.

    key       its word
    naming    whether it is about one name: of an operator, an annotation, a module, a function, a kernel or a copy
    scales    whether it has a factor
    make      the changes, given factor and name
    """

    key: str
    naming: Naming
    scales: bool
    make: Callable[[float, str | None], tuple[Change, ...]]


def _label(key: str, label: LabelName | None) -> ChangeKind:
    return ChangeKind(key, "none", True, lambda factor, _: (ScaleHost(factor, label),))


KINDS: tuple[ChangeKind, ...] = (
    _label("data", "data"),
    _label("host", None),
    _label("python", "python"),
    _label("operators", "operator"),
    _label("launch", "launch"),
    _label("allocator", "allocator"),
    _label("api", "api"),
    ChangeKind("operator", "required", True, lambda factor, name: (scale(None, factor, operator=name),)),
    ChangeKind("module", "required", True, lambda factor, name: (scale(None, factor, module=name),)),
    ChangeKind("function", "required", True, lambda factor, name: (scale(None, factor, frame=name),)),
    ChangeKind("kernels", "optional", True, lambda factor, name: (kernels(factor, name),)),
    ChangeKind("copies", "optional", True, lambda factor, name: (copies(factor, name),)),
    ChangeKind("collectives", "none", True, lambda factor, _: (collectives(factor), ScaleHost(factor, "collective"))),
    ChangeKind("sync", "optional", False, lambda _, name: (without("sync", name),)),
    ChangeKind("copy_waits", "optional", False, lambda _, name: (without("copies", name),)),
    ChangeKind("queue", "none", False, lambda _, __: (without("queue"),)),
    ChangeKind("pinned", "none", False, lambda _, __: (pinned(),)),
    ChangeKind("graph", "none", False, lambda _, __: (graphed(),)),
)
#: what has the names of some kinds; those of others are of ranges and calls of the host
_CATEGORIES: dict[str, tuple[Category, ...]] = {
    "function": (Category.PYTHON_FUNCTION,),
    "kernels": (Category.KERNEL,),
    "copies": (Category.MEMCPY, Category.MEMSET),
}
_BY_KEY = {kind.key: kind for kind in KINDS}


class RequestedChange(msgspec.Struct, frozen=True):
    """One of the changes.

    text     as the parameter `changes` has it, in its normal form
    kind     what is changed
    name     the operator, annotation, module, function, kernel or copy that it is about; null for everything
    factor   the factor of durations (0: they take no time; 1: 100 %); null if something is removed
    found    how many events have the name; null without one. A change whose name nothing has is left out.
    refused  id of the reason in meta.refused; null if the change is made
    """

    text: str
    kind: str
    name: str | None
    factor: float | None
    found: Count | None = None
    refused: str | None = None

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes that the replay makes."""
        return _BY_KEY[self.kind].make(self.factor or 0.0, self.name)


class BadChanges(ValueError):
    """A text that is not a list of changes. The message is for a person."""


def parse_changes(text: str) -> tuple[RequestedChange, ...]:
    """Parse changes, in the order of the text; none for "". Raises BadChanges.

    >>> [(each.kind, each.name, each.factor) for each in parse_changes("kernels:0.8,operator.aten::mm:0,sync")]
    [('kernels', None, 0.8), ('operator', 'aten::mm', 0.0), ('sync', None, None)]
    """
    if len(text) > LONGEST:
        raise BadChanges(f"changes may have {LONGEST:,} characters at most, not {len(text):,}")
    if text == "":
        return ()
    parts = text.split(",")
    if len(parts) > MOST:
        raise BadChanges(f"at most {MOST} changes can be made at once, not {len(parts)}")
    found = tuple(map(_parse, parts))
    about = [(each.kind, each.name) for each in found]
    for each, what in zip(found, about, strict=True):
        if about.count(what) > 1:
            raise BadChanges(f"changes: {_subject(each.kind, each.name)} is changed more than once")
    return found


def format_change(kind: str, factor: float | None = None, name: str | None = None) -> str:
    """Return one change as text.

    >>> format_change("kernels", 0.5, "void f<1, 2>")
    'kernels.void f<1%2C 2>:0.5'
    """
    end = "" if factor is None else f":{factor:.6f}".rstrip("0").rstrip(".")
    return _subject(kind, name) + end


def changes_of(requested: Sequence[RequestedChange]) -> tuple[Change, ...]:
    """Return the changes that the replay makes for all of them."""
    return tuple(change for each in requested for change in each.changes)


def _subject(kind: str, name: str | None) -> str:
    return kind if name is None else f"{kind}.{name.replace('%', '%25').replace(',', '%2C')}"


def _parse(part: str) -> RequestedChange:
    key = re.split(r"[.:]", part, maxsplit=1)[0]
    kind = _BY_KEY.get(key)
    if kind is None:
        raise BadChanges(f"changes: {key!r} is not a kind of change; kinds are {', '.join(_BY_KEY)}")
    rest, factor = part[len(key) :], None
    if kind.scales:
        rest, colon, number = rest.rpartition(":")
        if not colon or not _FACTOR.fullmatch(number) or float(number) > LARGEST_FACTOR:
            example = f"{_subject(key, 'NAME' if kind.naming == 'required' else None)}:0.5"
            raise BadChanges(
                f"changes: {part!r} needs a factor from 0 to {LARGEST_FACTOR:.0f} at its end, as in {example}"
            )
        factor = float(number)
    name = _name(part, kind, rest)
    return RequestedChange(format_change(key, factor, name), key, name, factor)


def _name(part: str, kind: ChangeKind, rest: str) -> str | None:
    if rest == "":
        if kind.naming == "required":
            raise BadChanges(f"changes: {part!r} needs a name, as in {kind.key}.NAME:0.5")
        return None
    if not rest.startswith(".") or len(rest) == 1 or kind.naming == "none":
        raise BadChanges(f"changes: {part!r} has {rest!r} where {_expected(kind)}")
    if _BAD_ESCAPE.search(rest):
        raise BadChanges(f"changes: {part!r} has a % that is not followed by two hexadecimal digits")
    try:
        plain = rest[1:].encode("utf-8", "surrogatepass")
        return _ESCAPE.sub(lambda found: bytes.fromhex(found[1].decode()), plain).decode("utf-8")
    except UnicodeDecodeError:
        raise BadChanges(f"changes: the name in {part!r} is not UTF-8") from None


def _expected(kind: ChangeKind) -> str:
    if kind.naming == "none":
        return "nothing but a factor is expected" if kind.scales else "nothing is expected"
    return "a point and a name are expected"


def named_events(model: Model, kind: str, name: str | None) -> int | None:
    """Count the events that have the name of a change; None if the change has no name."""
    if name is None:
        return None
    if kind == "module":
        return len(calls_of_module(model.trace, name))
    events, code = model.trace.events, model.trace.strings.code(name)
    if code < 0:
        return 0
    categories = _CATEGORIES.get(kind, HOST_CATEGORIES)
    return int(np.count_nonzero((events.name == code) & one_of(events.category, categories)))
