"""Reduce a kernel's name to the part that says what it is, and read its element type.

The plain name is without parameters, return type, mangling and long type names.
"""

from __future__ import annotations

import re
from collections.abc import Callable
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
    for bracket in _BRACKET.finditer(name):
        sign = bracket.group()
        if sign == "(" and not opened:
            if bracket.start() > begin and name[bracket.start() - 1] != " ":
                end = bracket.start()
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
            begin = bracket.end()
    return name[begin:end].strip()


def _unmangled(name: str, place: int) -> str:
    outer, place = _identifiers(name, place)
    inner: list[str] = []
    while found := _MANGLED.search(name, place):
        length = found["length"]
        if length is None:
            inner += [_MANGLED_TYPES[found.group()]] if found.group() in _MANGLED_TYPES else []
            place = found.end()
            continue
        place = found.end() + int(length)
        inner.append(name[found.end() : place])
    text = "::".join(part for part in outer if not part.startswith("_GLOBAL__N"))
    return f"{text}<{' '.join(inner)}>" if inner else text


def _identifiers(name: str, at: int) -> tuple[list[str], int]:
    """Read identifiers that directly follow each other, each with its length before it; return them and their end."""
    parts = []
    while found := _IDENTIFIER.match(name, at):
        at = found.end() + int(found[1])
        parts.append(name[found.end() : at])
    return parts, at


#: words of the libraries, in lower case → ours
_WORDS = {
    **{word: word for word in ("bf16", "fp16", "tf32", "fp32", "fp64", "fp8", "fp4", "mxfp4", "mxfp8", "int8", "int4")},
    "bfloat16": "bf16",
    "f16": "fp16",
    "half": "fp16",
    "f32": "fp32",
    "float": "fp32",
    "f64": "fp64",
    "double": "fp64",
    "e4m3": "fp8",
    "e5m2": "fp8",
    "f8e4m3": "fp8",
    "f8e5m2": "fp8",
    "e2m1": "fp4",
    "mxe2m1": "mxfp4",
    "f4": "fp4",
    "mxe4m3": "mxfp8",
    "i8": "int8",
    "i4": "int4",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u32": "uint32",
    "u64": "uint64",
    "int8_t": "int8",
    "uint8_t": "uint8",
    "f8": "fp8",
    "b8": "fp8",
}
_NVJET = {"t": "bf16", "h": "fp16", "s": "fp32", "q": "fp8"}
_TENSILE = {"B": "bf16", "H": "fp16", "S": "fp32", "D": "fp64", "C": "complex64", "Z": "complex128"}
_LETTERS = {"s": "fp32", "h": "fp16", "d": "fp64", "c": "complex64", "z": "complex128", "i": "int8"}


def _word(found: re.Match[str]) -> str | None:
    return _WORDS.get(found[1].lower())


def _instruction(found: re.Match[str]) -> str | None:
    """`bf16_s16816gemm`, `s1688gemm` (TF32), `s16816gemm` (16 bits), `sgemm`."""
    word, letter, shape = found.groups()
    if word:
        return _WORDS.get(word)
    if letter == "s" and shape:
        return "tf32" if shape == "1688" else "fp16"
    return _LETTERS.get(letter)


def _tensile(found: re.Match[str]) -> str | None:
    return _WORDS.get(found[1][:2].lower()) or _TENSILE.get(found[1][0])


#: the first that is found decides
_RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str | None]], ...] = tuple(
    (lazy_pattern(pattern), read)
    for pattern, read in (
        (r"nvjet_(?:sm\d+_)?([a-z])", lambda found: _NVJET.get(found[1])),
        (r"xmma_[a-z_]{0,100}?_(bf16|f16|tf32|f32|f64|e4m3|e5m2|i8)(?=bf16|f16|tf32|f32|f64|e4m3|e5m2|i8|_)", _word),
        (
            r"(?:tensorop|simt)_(?:(bf16|f16|tf32|e4m3|e5m2)_)?([shdciz])(\d*)(?:gemm|fprop|dgrad|wgrad)",
            _instruction,
        ),
        (
            r"(?:maxwell|pascal|volta|turing|ampere|hopper)_(?:(fp16|bf16|tf32|int8)_)?([shdciz])(\d*)(?:gemm|cudnn)",
            _instruction,
        ),
        (r"()(s)()cudnn", _instruction),
        (r"Cijk_A[a-z0-9]{1,40}_B[a-z0-9]{1,40}_([A-Z][^\W_]{0,40})_", _tensile),
        (r"igemm_\w{1,40}?_gtc[^\W_]{0,40}_[a-z]{1,40}_(fp32|fp16|bf16|int8)", _word),
        (r"^(?:bmm|gemm)_\w+?_((?:Mx)?(?:E2m1|E4m3|E5m2)|Bfloat16|Fp16|Fp32)", _word),
        (r"^fmhaSm\w*?Qkv(E4m3|E2m1|Bfloat16|Fp16)", _word),
        (r"_matmul_ogs_[NT]+_([a-z0-9]+?)x", _word),
        (r"fmha_cutlass[FB]_(f16|bf16|f32)_", _word),
        (r"flash_(?:fwd|bwd)\w{0,100}<.{0,1000}\b(bf16|fp16|fp8)\b", _word),
        (
            r"(?:fmoe|pa)_(bf16|fp16|fp8|int8)|fmha_\w{0,100}hd\d{1,9}_(bf16|fp16|fp8)",
            lambda found: found[1] or found[2],
        ),
        (r"(?<![a-z0-9])(bf16|f4|i8|fp8)gemm_", _word),
        (
            r"^nccl\w*?_(?:Sum|Prod|Min|Max|MinMax|Avg|PreMulSum|SumPostDiv|copy)_(\w+?)(?:_RING|_TREE|_NVLS|_COLLNET|$)",
            _word,
        ),
        (r"^nccl\w*_(bf16|f8e4m3|f8e5m2|f16|f32|f64|[iu](?:8|32|64))(?=_|$)", _word),
    )
)


@lru_cache(maxsize=4096)
def element_type(name: str) -> str | None:
    """Return `bf16`, `fp16`, `tf32` (stored in 32 bits, multiplied as TF32), `fp32`, `fp8`, …; None if unknown."""
    plain = plain_name(name)
    for pattern, read in _RULES:
        found = pattern.search(plain)
        if found:
            return read(found)
    return None
