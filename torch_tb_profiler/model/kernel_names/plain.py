"""The part of a kernel's name that says what it is: without parameters, return type, mangling and long type names."""

from __future__ import annotations

from functools import lru_cache

from torch_tb_profiler.lazy_pattern import lazy_pattern

#: characters of a name that are looked at, so that patterns stay fast whatever a file contains
MOST = 3000

#: element types as C++ spells them, a longer spelling before one that it begins with → one word
_TYPES = (
    *((spelled, "bf16") for spelled in ("c10::BFloat16", "__nv_bfloat16", "__hip_bfloat16", "cutlass::bfloat16_t")),
    *((spelled, "bf16") for spelled in ("hip_bfloat16", "nv_bfloat16", "ck_tile::bf16_t")),
    *((spelled, "fp16") for spelled in ("c10::Half", "__half", "cutlass::half_t", "ck_tile::fp16_t")),
    *((f"c10::Float8_{kind}", "fp8") for kind in ("e4m3fnuz", "e5m2fnuz", "e4m3fn", "e5m2")),
    *(
        (spelled, "fp8")
        for spelled in ("__nv_fp8_e4m3", "__nv_fp8_e5m2", "cutlass::float_e4m3_t", "cutlass::float_e5m2_t")
    ),
    *((spelled, "fp4") for spelled in ("c10::Float4_e2m1fn_x2", "__nv_fp4_e2m1", "cutlass::float_e2m1_t")),
)

#: what ROCm appends to the name of a kernel's descriptor
_END = lazy_pattern(r"(?: \[clone \.kd\]|\.kd)$")
_BRACKET = lazy_pattern(r"->|[<>() ]")

#: of mangled names (Itanium C++ ABI): literals, substitutions, 16-bit types, or the length of an identifier
_MANGLED = lazy_pattern(r"L[a-z]n?\d{1,40}E|S[0-9A-Z]{0,12}_|T\d{0,12}_|DF16b|DF16_|(?P<length>[1-9]\d{0,3})")
_MANGLED_START = lazy_pattern(r"_ZN?[KVrL]*(?=\d)")
_IDENTIFIER = lazy_pattern(r"L?([1-9]\d{0,3})")
_MANGLED_TYPES = {"DF16b": "bf16", "DF16_": "fp16"}


@lru_cache(maxsize=4096)
def plain_name(name: str) -> str:
    """`void at::native::k<4, c10::Half>(int)` → `at::native::k<4, fp16>`; at most `MOST` characters are looked at.

    Of a mangled name: its qualified name, and in `<…>` the identifiers that follow, in their order.
    """
    name = _END.sub("", name[:MOST].strip())
    start = _MANGLED_START.match(name)
    if start:
        return _unmangled(name, start.end())
    name = _without_parameters(name.replace("(anonymous namespace)::", ""))
    for spelled, word in _TYPES:
        name = name.replace(spelled, word)
    return name


def is_mangled(name: str) -> bool:
    return _MANGLED_START.match(name) is not None


def _without_parameters(name: str) -> str:
    """Cut the parameters, from the first parenthesis outside of template arguments, and the type that is returned.

    Inside parentheses `<` and `>` compare: `std::enable_if<((8) > (0)), void>::type ns::k<8>(int)` is `ns::k<8>`.
    """
    begin = 0
    has_type = name.startswith(("void ", "std::", "typename "))
    end = len(name)
    opened: list[str] = []
    for found in _BRACKET.finditer(name):
        sign = found.group()
        if sign == "(" and not opened:
            if found.start() > begin and name[found.start() - 1] != " ":
                end = found.start()
                break
            opened.append(sign)
        elif sign in ("<", "("):
            opened.append(sign)
        elif sign == ">":
            if opened and opened[-1] == "<":
                opened.pop()
        elif sign == ")":
            while opened and opened.pop() != "(":
                pass
        elif sign == " " and not opened and has_type:
            begin = found.end()
    return name[begin:end].strip()


def _unmangled(name: str, at: int) -> str:
    outer, at = _identifiers(name, at)
    inner: list[str] = []
    while found := _MANGLED.search(name, at):
        length = found["length"]
        if length is None:
            inner += [_MANGLED_TYPES[found.group()]] if found.group() in _MANGLED_TYPES else []
            at = found.end()
            continue
        at = found.end() + int(length)
        inner.append(name[found.end() : at])
    text = "::".join(part for part in outer if not part.startswith("_GLOBAL__N"))
    return f"{text}<{' '.join(inner)}>" if inner else text


def _identifiers(name: str, at: int) -> tuple[list[str], int]:
    """Identifiers that directly follow each other, each with its length before it; and where they end."""
    parts = []
    while found := _IDENTIFIER.match(name, at):
        at = found.end() + int(found[1])
        parts.append(name[found.end() : at])
    return parts, at
