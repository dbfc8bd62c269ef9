"""Names of kernels for people: what a kernel does, with the functor, the tile and the element type."""

from __future__ import annotations

import re
from functools import lru_cache

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.kernel_names.plain import element_type, is_mangled, plain_name

#: templates that only carry what they are given
_WRAPPERS = frozenset(
    "Kernel Kernel2 device_kernel kentry enable_sm80_to_sm89 enable_sm90 enable_sm90_or_later "
    "BinaryFunctor BUnaryFunctor AUnaryFunctor gpu_kernel_impl gpu_kernel_impl_nocast ReduceOp func_wrapper_t "
    "gpu_index_kernel".split()
)
#: namespaces that say nothing beside the name
_SILENT = frozenset({"at", "c10", "std", "at_cuda_detail"})
#: arguments of a template that do not tell what it does
_BORING = lazy_pattern(
    r"\d+u?l?l?$|-\d|true$|false$|\(|.*\*$|.*&$|decltype|(?:\w+::)*(?:Array|array|\w*OffsetCalculator|\w+Cast|\w*Metadata"
    r"|NullType|TensorInfo|cublas\w+|\w*Policy\w*|OpaqueType|\w*Accessor\w*|tuple|\w*Iterator|InputValue|\w*Params\w*)\b"
)
#: an element type with nothing known but its size
_OPAQUE = "OpaqueType"
#: integers as wide as an index
_INDEX_TYPE = lazy_pattern(r"(?:unsigned |const )*(?:int|long(?: long)?|u?int(?:32|64)_t)$")
_TYPE = lazy_pattern(
    r"(?:(?:un)?signed |const )*(?:bf16|fp16|fp8|fp4|float2?|double|bool|char|short|int|long(?: long)?"
    r"|(?:c10|thrust|std)::complex<\w+>|u?int(?:8|16|32|64)_t)(?: const)?$"
)
#: a name of C++ with a namespace or with arguments of a template
_QUALIFIED = lazy_pattern(r"\w+(?:::|<)[^=]*$")
_LAMBDA = lazy_pattern(r"\{lambda\(([\w: ]+)[,)]")
_TRAITS = lazy_pattern(r"kernel_traits\w{0,100}<(\d+)")
_TILE = lazy_pattern(r"tuple<(?:cute::)?C<(\d{1,9})>, (?:cute::)?C<(\d{1,9})>, (?:cute::)?C<(\d{1,9})>")
_MAINLOOP = lazy_pattern(r"(?<!Collective)Mainloop(\w+)")
_TENSILE = lazy_pattern(r"Cijk_A(il|li)k_B(lj|jl)k_")
_TENSILE_PARTS = lazy_pattern(r"_(MT\d+x\d+x\d+|MI\d+x\d+x\d+|PostGSU\d*)(?=_|$)")
#: names that go on with how the loops are laid out
_TAIL = lazy_pattern(r"(?<=\d)_(?:stage\d+_warp\w*|warpgroupsize\w*|wt\d+x\w*|s\d+_et\d+x\w*)$")
_LOWEST = lazy_pattern(r"[<(,]")


@lru_cache(maxsize=4096)
def short_name(name: str) -> str:
    """`void at::native::vectorized_elementwise_kernel<4, …CUDAFunctor_add<float>, …>(…)` →
    `vectorized_elementwise_kernel<CUDAFunctor_add<float>>`; a name that is short already is kept.
    """
    plain = plain_name(name)
    if not plain:
        return name
    tensile = _TENSILE.match(plain)
    if tensile:
        return _of_tensile(plain, tensile)
    if is_mangled(name):
        return _of_identifiers(plain)
    return _of_template(plain) if _QUALIFIED.match(plain) else _TAIL.sub("", plain)


def _of_tensile(plain: str, found: re.Match[str]) -> str:
    """`Tensile TN bf16 MT256x192x64 MI16x16x1`: which operands are transposed, type, tile, matrix instruction."""
    order = ("T" if found[1] == "li" else "N") + ("N" if found[2] == "lj" else "T")
    return " ".join(["Tensile", order, element_type(plain) or "", *_TENSILE_PARTS.findall(plain)]).replace("  ", " ")


def _of_identifiers(plain: str) -> str:
    """Shorten a mangled name, whose identifiers alone are known: the first that names a class counts."""
    head, _, rest = plain.partition("<")
    words = rest.rstrip(">").split()
    inner = next((word for word in words if word[:1].isupper()), "")
    kind = next((word for word in words if word in ("bf16", "fp16")), "")
    outer, last = _qualified(head)
    if inner and last in _WRAPPERS:
        last, inner = inner, ""
    return _with(f"{outer}{last}", [part for part in (inner, kind) if part])


def _of_template(plain: str) -> str:
    head, arguments = _split(plain)
    outer, last = _qualified(head)
    if last in _WRAPPERS:
        inner = next((argument for argument in arguments if not _is_boring(argument)), "")
        if inner:
            return _of_template(inner)
    traits = _TRAITS.search(plain)
    if traits:
        return _with(outer + last, [f"d{traits[1]}", *_types(re.findall(r"\b(?:bf16|fp16|fp8)\b", plain))])
    mainloop = _MAINLOOP.search(plain)
    tiles = [tuple(map(int, tile)) for tile in _TILE.findall(plain)]
    if mainloop or tiles:
        tile = max(tiles, default=None, key=sum)
        parts = [mainloop[1] if mainloop else "", "x".join(map(str, tile)) if tile else ""]
        return _with(outer + last, [*filter(None, parts), *_types(re.findall(r"\b(?:bf16|fp16|fp8|fp4)\b", plain))])
    functors = [functor for argument in arguments if not _is_boring(argument) and (functor := _functor(argument, 0))]
    return _with(outer + last, functors[:1] or _element_types(arguments))


def _functor(text: str, depth: int) -> str:
    """Name what an argument does: `BinaryFunctor<float, float, float, MulFunctor<float>>` → `MulFunctor<float>`."""
    head, arguments = _split(text)
    name = "" if head.endswith("::") else _qualified(head)[1]  # cut off
    of_lambda = _LAMBDA.findall(text)
    types = [] if _OPAQUE in text else _types(arguments) or _types(of_lambda[-1:])
    if name in _WRAPPERS and depth < 8:
        inner = next((each for each in arguments if not _is_boring(each)), "")
        found = _functor(inner, depth + 1) if inner else ""
        if found:
            return found if "<" in found else _with(found, types)
    return _with(name, types) if name else ""


def _is_boring(argument: str) -> bool:
    return _BORING.match(argument) is not None or _TYPE.match(argument) is not None


def _types(arguments: list[str]) -> list[str]:
    """Return the first type among arguments: at most one."""
    return [argument.replace(" const", "") for argument in arguments if _TYPE.match(argument)][:1]


def _element_types(arguments: list[str]) -> list[str]:
    """Return the element type among the arguments of a kernel's own template: at most one.

    Kernels have a further type for their indices. So an integer of 32 or 64 bits is the element type only if another
    such type follows, and no element is opaque (`OpaqueType<2u>` stands for all types of two bytes).
    """
    elements = _types([argument for argument in arguments if not _INDEX_TYPE.match(argument)])
    indices = [argument for argument in arguments if _INDEX_TYPE.match(argument)]
    if elements or len(indices) < 2 or any(_OPAQUE in argument for argument in arguments):
        return elements
    return _types(indices)


def _with(name: str, arguments: list[str]) -> str:
    return f"{name}<{', '.join(arguments)}>" if arguments else name


def _qualified(head: str) -> tuple[str, str]:
    """Split a name into its outermost namespace, `""` where it says nothing, and the name itself."""
    parts = [part for part in head.split("::") if part]
    if len(parts) < 2:
        return "", head
    return ("" if parts[0] in _SILENT else f"{parts[0]}::"), parts[-1]


def _split(text: str) -> tuple[str, list[str]]:
    """`a::b<c, d<e, f>>::g` → `a::b` and its arguments `c`, `d<e, f>`; a name that was cut off has those it has."""
    first = _LOWEST.search(text)
    if first is None or first.group() != "<":
        return (text[: first.start()] if first else text).strip(), []
    arguments, depth, begin = [], 0, first.end()
    for parts in re.finditer(r"->|[<>(),{}]", text):
        sign = parts.group()
        if sign in "<({":
            depth += 1
        elif sign in ">)}":
            depth -= 1
            if depth == 0:
                arguments.append(text[begin : parts.start()].strip())
                break
        elif sign == "," and depth == 1:
            arguments.append(text[begin : parts.start()].strip())
            begin = parts.end()
    else:
        arguments.append(text[begin:].strip())
    return text[: first.start()].strip(), arguments
