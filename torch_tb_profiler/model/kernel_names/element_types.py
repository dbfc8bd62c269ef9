"""The element type that a kernel multiplies or sends, where its name says it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.kernel_names.plain import plain_name

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
    """`bf16`, `fp16`, `tf32` (stored in 32 bits, multiplied as TF32), `fp32`, `fp8`, …; None: not said."""
    plain = plain_name(name)
    for pattern, read in _RULES:
        found = pattern.search(plain)
        if found:
            return read(found)
    return None
