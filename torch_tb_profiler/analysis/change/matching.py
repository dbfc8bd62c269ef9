"""Matches names of two recordings that stand for the same work, in passes over what is still unmatched."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec

from torch_tb_profiler.analysis.change.shares import Share
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.kernel_names.plain import plain_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FILE = Path(__file__).with_name("renamed.toml")

#: how both sides of a match were found to belong together
#: name: the same name · place: the same kernel of a call of the same operator, of the same shapes where they are known
#: launch: names that differ by numbers of the configuration alone · renamed: operators that `renamed.toml` joins
#: parent: what the same outermost operator launched
How = Literal["name", "place", "launch", "renamed", "parent"]

_COMPILED_GRAPH = lazy_pattern(r"## Call CompiledFxGraph \w+ ##")
_STEP = lazy_pattern(r"^ProfilerStep#\d+$")
#: of kernels that Inductor wrote: the number of the compilation
_TRITON_NUMBER = lazy_pattern(r"_\d+$")
#: signatures of old Triton kernels look like numbers and are the name
_SIGNATURE = lazy_pattern(r"^triton__[0-9a-z]+$")
_HEX = lazy_pattern(r"0x[0-9a-fA-F]+|(?<![0-9A-Za-z])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}(?![0-9A-Za-z])")
_CONFIGURATION = lazy_pattern(
    r"(?<=[_ ])\d+x\d+(?:x\d+)*(?=_|\b)|(?<=_stage)\d+|(?<=_stages)_?\d+(?:x\d+)?|(?<=_align)\d+"
    r"|(?<=sliced)\d+x\d+|(?<=_warpgroupsize)\d+x\d+x\d+|(?<=_ldg)\d+|(?<=_tilesize)\d+x\d+x\d+"
    r"|(?<=_MT)\d+x\d+x\d+|(?<=_MI)\d+x\d+x\d+|(?<=_splitK)\d+|(?<=_kernel_)\d+x\d+"
)
_TEMPLATE = lazy_pattern(r"(?<=[<, (])(?:\([\w: ]+\))?-?\d+(?:u?l{0,2})(?=[,>) ])")


@lru_cache(maxsize=8192)
def normalised(name: str) -> str:
    """Strip a name of what only says how the work was launched or compiled; functors and types are kept.

    >>> normalised("void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int)")
    'at::native::vectorized_elementwise_kernel<*, at::native::AddFunctor<float>>'
    >>> normalised("triton_poi_fused_add_mul_3"), normalised("triton__0d1d2d3de")
    ('triton_poi_fused_add_mul', 'triton__0d1d2d3de')
    """
    if _SIGNATURE.match(name):
        return name
    if _STEP.match(name):
        return "ProfilerStep#*"
    if _COMPILED_GRAPH.search(name):
        return _COMPILED_GRAPH.sub("## Call CompiledFxGraph * ##", name)
    if name.startswith("triton_"):
        return _TRITON_NUMBER.sub("", name)
    plain = plain_name(name) or name
    return _CONFIGURATION.sub("*", _TEMPLATE.sub("*", _HEX.sub("*", plain)))


@lru_cache(maxsize=1)
def _same_operator() -> Mapping[str, str]:
    """Map each operator in `renamed.toml` to the first of its line."""
    lines = tomllib.loads(_FILE.read_text(encoding="utf-8"))["operators"]
    return {name: line["names"][0] for line in lines for name in line["names"]}


def one_name(operator: str) -> str:
    """Return the name that stands for all names of an operator.

    >>> one_name("aten::miopen_convolution"), one_name("aten::mm")
    ('aten::cudnn_convolution', 'aten::mm')
    """
    return _same_operator().get(operator, operator)


class WorkMatch(msgspec.Struct, frozen=True):
    """What is the same work on both sides; one of them is empty if the other side has nothing like it.

    how     None if a side is empty
    """

    before: tuple[Share, ...]
    after: tuple[Share, ...]
    how: How | None


Shares = Sequence[Share]


def _any(_: Share) -> bool:
    return True


Key = Callable[[Share], Hashable]


def matches(before: Iterable[Share], after: Iterable[Share]) -> list[WorkMatch]:
    """Match shares: together the matches hold each share of both sides exactly once, in no particular order."""
    left, right = list(before), list(after)
    matched: list[WorkMatch] = []

    def take(key: Key, how: How, only: Callable[[Share], bool] = _any, paired: bool = False) -> None:
        nonlocal left, right
        groups = _grouped(left, key, only), _grouped(right, key, only)
        used: set[int] = set()
        for each in groups[0].keys() & groups[1].keys():
            sides = groups[0][each], groups[1][each]
            for one, other in _by_place(*sides) if paired else [sides]:
                matched.append(WorkMatch(tuple(one), tuple(other), how))
                used.update(map(id, (*one, *other)))
        left, right = ([share for share in side if id(share) not in used] for side in (left, right))

    take(lambda s: (s.operator, s.shapes, s.kernel, s.cause), "name")
    take(lambda s: (s.operator, s.shapes, s.outermost), "place", _launched, paired=True)
    take(lambda s: (s.operator, s.kernel, s.cause), "name")
    take(lambda s: (s.kernel, s.cause), "name", _has_kernel)
    take(lambda s: (s.operator, s.outermost), "place", _launched, paired=True)
    take(lambda s: s.operator, "place", _launched, paired=True)
    take(lambda s: (s.operator, normalised(s.kernel)), "launch", _has_kernel)
    take(lambda s: normalised(s.kernel), "launch", _has_kernel)
    take(lambda s: (one_name(s.operator), s.cause if not s.kernel else ""), "renamed", _is_operator, paired=True)
    take(lambda s: s.outermost, "parent", _has_parent)
    matched += [WorkMatch((share,), (), None) for share in left]
    matched += [WorkMatch((), (share,), None) for share in right]
    return matched


def _has_kernel(share: Share) -> bool:
    return bool(share.kernel)


def _is_operator(share: Share) -> bool:
    return share.is_operator


def _launched(share: Share) -> bool:
    """Return whether its kernel has a place: not where an annotation or a thread launched it."""
    return bool(share.kernel) and share.is_operator


def _has_parent(share: Share) -> bool:
    return _launched(share) and bool(share.outermost) and share.outermost != share.operator


def _grouped(shares: Shares, key: Key, only: Callable[[Share], bool]) -> dict[Hashable, list[Share]]:
    groups: dict[Hashable, list[Share]] = defaultdict(list)
    for share in shares:
        if only(share):
            groups[key(share)].append(share)
    return groups


def _by_place(left: Shares, right: Shares) -> list[tuple[Shares, Shares]]:
    """Group kernels of equal place; all as one where a call launches another number of them."""
    of_left, of_right = _grouped(left, _place, _any), _grouped(right, _place, _any)
    if of_left.keys() != of_right.keys():
        return [(left, right)]
    return [(of_left[at], of_right[at]) for at in of_left]


def _place(share: Share) -> int:
    return share.place
