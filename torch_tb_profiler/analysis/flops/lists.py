"""Operators on lists of tensors: optimizers and what they are made of.

The profiler writes a list of more than 30 tensors as an empty one. How many elements all parameters have is then known
from the backward pass (`derived`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from torch_tb_profiler.analysis.flops.arguments import Arguments
from torch_tb_profiler.analysis.flops.matrices import Reader
from torch_tb_profiler.analysis.flops.work import Work, moves

_FOREACH = """abs acos add addcdiv addcmul asin atan ceil clamp_max clamp_min cos cosh div erf erfc exp expm1 floor frac
lerp lgamma log log10 log1p log2 maximum minimum mul neg pow reciprocal round rsqrt sigmoid sign sin sinh sqrt sub tan
tanh trunc"""
#: which lists of an optimizer are written: all but the gradients, which stand second
_FUSED = ("adam", "adamw", "sgd", "adagrad")
_GRADIENTS = 1


def _lists(given: Arguments) -> list[int]:
    return [at for at, kind in enumerate(given.types) if kind in ("TensorList", "GenericList")]


def _of_lists(written: Callable[[list[int]], list[int]]) -> Reader:
    def read(given: Arguments) -> Work:
        places = _lists(given)
        if not places:
            raise ValueError("no lists")
        # later lists may be empty if they are not used; the first is not
        sizes = {at: sum(t.bytes for t in given.listed(at)) for at in places if at == places[0] or given.dims[at]}
        return moves(sum(sizes.values()) + sum(sizes.get(at, 0) for at in written(places)), given.sure_of_lists)

    return read


def of_parameters(operator: str, given: Arguments, parameters: int) -> Work:
    """Of a call whose lists were too long to be recorded, by the number of all parameters. Raises ValueError."""
    places = _lists(given)
    known = any(given.dims[at] for at in places)
    if not places or known or operator not in LISTS:
        raise ValueError("lists are known")
    lists = {"aten::_fused_sgd_": 2, "aten::_fused_adagrad_": 3}.get(operator, 4 if "_fused" in operator else None)
    read = len(places) if lists is None else lists
    written = 0 if operator.endswith(("_norm", "_zero_")) else 1 if lists is None else read - 1
    return moves(4 * parameters * (read + written))


def _copied(given: Arguments) -> Work:
    to, of = given.listed(0), given.listed(1)
    return moves(sum(t.bytes for t in (*to, *of)))


def _zeroed(given: Arguments) -> Work:
    return moves(sum(t.whole_bytes for t in given.listed(0)), given.sure_of_lists)


LISTS: Mapping[str, Reader] = MappingProxyType(
    {
        **{f"aten::_foreach_{name}": _of_lists(lambda places: places[:1]) for name in _FOREACH.split()},
        **{f"aten::_foreach_{name}_": _of_lists(lambda places: places[:1]) for name in _FOREACH.split()},
        "aten::_foreach_norm": _of_lists(lambda _: []),
        "aten::_foreach_copy_": _copied,
        "aten::_foreach_zero_": _zeroed,
        "aten::_amp_foreach_non_finite_check_and_unscale_": _of_lists(lambda places: places[:1]),
        **{
            f"aten::_fused_{name}_": _of_lists(lambda places: [at for at in places if at != _GRADIENTS])
            for name in _FUSED
        },
    }
)
