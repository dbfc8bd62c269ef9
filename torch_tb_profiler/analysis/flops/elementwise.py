"""Elementwise operators, optimizers on lists of tensors among them: how many arguments they have, and what they move.

An argument behind the last one of an operator is where the result is written (`out=`). The profiler records a list of
more than 30 tensors as an empty one; the backward pass then tells how many elements all parameters have (`derived`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from types import MappingProxyType

from torch_tb_profiler.analysis.flops.matrices import Reader
from torch_tb_profiler.analysis.flops.work import (
    ELEMENT_BYTES,
    OperatorArguments,
    OperatorWork,
    broadcast,
    is_integer,
    moves,
    result_kind,
)

_BY_ARGUMENTS = {
    1: """abs absolute acos acosh angle arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh bitwise_not
    ceil conj_physical cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 floor frac hardsigmoid hardswish
    i0 lgamma log log10 log1p log2 log_sigmoid mish neg negative positive rad2deg real reciprocal relu relu6 round rsqrt
    selu sgn sigmoid sign silu sin sinc sinh special_erfcx special_i0e special_i1 special_i1e special_ndtr sqrt square
    tan tanh trunc fix""",
    2: """atan2 arctan2 bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift clamp_max clamp_min
    copysign celu fmax fmin fmod floor_divide gcd gelu hypot heaviside lcm ldexp leaky_relu logaddexp
    logaddexp2 logit max_elementwise maximum minimum mul multiply nextafter polar pow prelu _prelu_kernel remainder
    sigmoid_backward silu_backward mish_backward special_xlog1py special_zeta tanh_backward tril triu xlogy
    hardsigmoid_backward hardswish_backward __and__ __or__ __xor__ __lshift__ __rshift__ __iand__ __ior__ __ixor__
    nan_to_num_backward complex float_power""",
    3: """add sub subtract rsub div divide true_divide hardtanh softplus threshold threshold_backward gelu_backward
    clamp clip masked_fill where lerp hardshrink_backward softshrink_backward log_sigmoid_backward
    logit_backward native_dropout_backward _masked_scale hardtanh_backward_grad""",
    4: """addcmul addcdiv elu nan_to_num softplus_backward leaky_relu_backward hardtanh_backward""",
    6: """elu_backward rrelu_with_noise""",
}
#: their result has one byte for each element
_TRUTH = """eq ne gt ge lt le logical_and logical_or logical_xor isclose greater greater_equal less less_equal
not_equal"""
_TRUTH_OF_ONE = "isnan isinf isfinite isneginf isposinf logical_not signbit"
#: of integers they make floats
_TO_FLOAT = frozenset(
    """div divide true_divide exp exp2 expm1 log log10 log1p log2 sqrt rsqrt sin cos tan tanh sigmoid reciprocal erf
    erfc erfinv acos asin atan sinh cosh asinh acosh atanh lgamma digamma logit xlogy atan2""".split()
)
_WRITES = """fill_ zero_ normal_ uniform_ random_ exponential_ log_normal_ geometric_ cauchy_ bernoulli_ eye ones_like
zeros_like randperm"""


def _result(arity: int, in_place: bool, out_size: int | None, to_float: bool) -> Reader:
    def read(given: OperatorArguments) -> OperatorWork:
        inputs = list(given.tensors(0, arity))
        if not inputs:
            raise ValueError("no tensor")
        moved = sum(each.bytes for each in inputs)
        written = next(given.tensors(arity), None)
        if in_place:
            return moves(moved + inputs[0].whole_bytes)
        if written is not None and written.dims:
            return moves(moved + written.whole_bytes)
        kind = result_kind(inputs)
        size = out_size or (4 if to_float and is_integer(kind) else ELEMENT_BYTES[kind])
        return moves(moved + size * prod(broadcast([each.dims for each in inputs])))

    return read


def _where(given: OperatorArguments) -> OperatorWork:
    """Read all tensors; the condition does not decide the type of the result."""
    inputs = list(given.tensors(0, 3))
    if len(inputs) != 3:
        raise ValueError("no condition and two values")
    kind = result_kind(inputs[1:])
    return moves(
        sum(each.bytes for each in inputs) + ELEMENT_BYTES[kind] * prod(broadcast([each.dims for each in inputs]))
    )


def _write(given: OperatorArguments) -> OperatorWork:
    return moves(given.tensor(0).whole_bytes)


def _dropout(given: OperatorArguments) -> OperatorWork:
    """Count a mask of one byte for each element, too."""
    x = given.tensor(0)
    return moves(x.bytes + x.whole_bytes + x.elements)


def _dropout_backward(given: OperatorArguments) -> OperatorWork:
    dy, mask = given.tensor(0), given.tensor(1)
    return moves(dy.bytes + mask.bytes + dy.whole_bytes)


def _halved(given: OperatorArguments) -> OperatorWork:
    """Read for glu both halves of the input, write one."""
    x = given.tensor(0)
    return moves(x.bytes + x.whole_bytes // 2)


def _halved_backward(given: OperatorArguments) -> OperatorWork:
    dy, x = given.tensor(0), given.tensor(1)
    if x.elements != 2 * dy.elements:
        raise ValueError("no gradient")
    return moves(dy.bytes + x.bytes + x.whole_bytes)


def _generated(given: OperatorArguments) -> OperatorWork:
    """Write the last tensor, as arange and its like do."""
    found = [given.tensor(at) for at in range(len(given)) if given.is_tensor(at)]
    if not found or not found[-1].elements:
        raise ValueError("the size of the result is not among the arguments")
    return moves(found[-1].whole_bytes)


def _all() -> dict[str, Reader]:
    readers: dict[str, Reader] = {}
    for arity, names in _BY_ARGUMENTS.items():
        for name in names.split():
            readers[f"aten::{name}"] = _result(arity, False, None, name in _TO_FLOAT)
            readers[f"aten::{name}_"] = _result(arity, True, None, False)
    for arity, names in ((2, _TRUTH), (1, _TRUTH_OF_ONE)):
        for name in names.split():
            readers[f"aten::{name}"] = _result(arity, False, 1, False)
            readers[f"aten::{name}_"] = _result(arity, True, None, False)
    readers |= dict.fromkeys((f"aten::{name}" for name in _WRITES.split()), _write)
    readers |= dict.fromkeys(("aten::arange", "aten::linspace"), _generated)
    readers["aten::where"] = _where
    readers["aten::glu"], readers["aten::glu_backward"] = _halved, _halved_backward
    readers |= dict.fromkeys(("aten::native_dropout", "aten::_fused_dropout"), _dropout)
    readers["aten::native_dropout_backward"] = readers["aten::_masked_scale"] = _dropout_backward
    return readers


ELEMENTWISE: Mapping[str, Reader] = MappingProxyType(_all())


_FOREACH = """abs acos add addcdiv addcmul asin atan ceil clamp_max clamp_min cos cosh div erf erfc exp expm1 floor frac
lerp lgamma log log10 log1p log2 maximum minimum mul neg pow reciprocal round rsqrt sigmoid sign sin sinh sqrt sub tan
tanh trunc"""
#: which lists of an optimizer are written: all but the gradients, which stand second
_FUSED = ("adam", "adamw", "sgd", "adagrad")
_GRADIENTS = 1


def _lists(given: OperatorArguments) -> list[int]:
    return [at for at, kind in enumerate(given.types) if kind in ("TensorList", "GenericList")]


def _of_lists(written: Callable[[list[int]], list[int]]) -> Reader:
    def read(given: OperatorArguments) -> OperatorWork:
        places = _lists(given)
        if not places:
            raise ValueError("no lists")
        # later lists may be empty if they are not used; the first is not
        sizes = {at: sum(t.bytes for t in given.listed(at)) for at in places if at == places[0] or given.dims[at]}
        return moves(sum(sizes.values()) + sum(sizes.get(at, 0) for at in written(places)), given.sure_of_lists)

    return read


def of_parameters(operator: str, given: OperatorArguments, parameters: int) -> OperatorWork:
    """Count a call whose lists were too long to be recorded by the number of all parameters. Raises ValueError."""
    places = _lists(given)
    known = any(given.dims[at] for at in places)
    if not places or known or operator not in LISTS:
        raise ValueError("lists are known")
    lists = {"aten::_fused_sgd_": 2, "aten::_fused_adagrad_": 3}.get(operator, 4 if "_fused" in operator else None)
    read = len(places) if lists is None else lists
    written = 0 if operator.endswith(("_norm", "_zero_")) else 1 if lists is None else read - 1
    return moves(4 * parameters * (read + written))


def _copied(given: OperatorArguments) -> OperatorWork:
    to, of = given.listed(0), given.listed(1)
    return moves(sum(t.bytes for t in (*to, *of)))


def _zeroed(given: OperatorArguments) -> OperatorWork:
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
