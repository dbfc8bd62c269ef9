"""The names of communication: host ranges, kernel families, collectives, element types. No other module knows any."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

#: record_function ranges around a collective, written by torch.distributed as `library:collective`
HOST_RANGE = re.compile(r"(?P<library>nccl|gloo|mpi|ucc|xccl|hccl):(?P<collective>.*)")

#: the operator in which torch.distributed records the arguments of a collective
PARAMETERS_OPERATOR = "record_param_comms"


@dataclass(frozen=True)
class Family:
    """Kernels of one communication library, by name."""

    library: str
    pattern: re.Pattern[str]


def _family(library: str, pattern: str) -> Family:
    return Family(library, re.compile(pattern, re.IGNORECASE))


#: the first that matches counts
FAMILIES = (
    _family("rccl", r"rccl"),  # kernels of RCCL mostly have the names of NCCL's
    _family("deep_ep", r"deep_ep"),
    _family("mscclpp", r"mscclpp|mscclKernel"),
    _family("nvshmem", r"nvshmem"),
    _family("nccl", r"nccl(?:Dev|Symk?)*Kernel|^nccl|_nccl"),
    _family("oneccl", r"oneccl|(?<![a-z])ccl_"),
    _family("hccl", r"hccl|^hcom_"),
    _family(
        "custom",
        r"cross_device_reduce|all_?reduce_(?:one|two)_?shot|(?:one|two)_?shot_all_?reduce|multimem_all_(?:reduce|gather)",
    ),
)

UNKNOWN_KIND = "other"

#: kind of a collective, by what its name without signs contains; the first that matches counts
_KINDS = (
    ("reduce_scatter", r"reducescatter"),
    ("all_reduce", r"allreduce|crossdevicereduce"),
    ("all_gather", r"allgather"),
    ("all_to_all", r"alltoall|deepep.*(?:dispatch|combine)"),
    ("send_recv", r"sendrecv|pointtopoint"),
    ("broadcast", r"broadcast"),
    ("barrier", r"barrier"),
    ("gather", r"gather"),
    ("scatter", r"scatter"),
    ("send", r"send"),
    ("recv", r"recv"),
    ("reduce", r"reduce"),
)
_KIND_PATTERNS = tuple((kind, re.compile(pattern)) for kind, pattern in _KINDS)

KINDS = (*(kind for kind, _ in _KINDS), UNKNOWN_KIND)

#: between two ranks: the operation of one rank is not that of another
POINT_TO_POINT = frozenset({"send_recv", "send", "recv"})

#: names that torch records with a collective's arguments and that move nothing
NOT_COLLECTIVES = frozenset({"wait", "init", "end"})

#: bytes of an element, by the names of torch (`BFloat16`) and of C++ (`c10::BFloat16`, `long int`) in lower case
ELEMENT_BYTES = {
    "double": 8,
    "float": 4,
    "half": 2,
    "bfloat16": 2,
    "float8_e4m3fn": 1,
    "float8_e4m3fnuz": 1,
    "float8_e5m2": 1,
    "float8_e5m2fnuz": 1,
    "float8_e8m0fnu": 1,
    "float4_e2m1fn_x2": 1,
    "complexhalf": 4,
    "complexfloat": 8,
    "complexdouble": 16,
    "complex<half>": 4,
    "complex<float>": 8,
    "complex<double>": 16,
    "bool": 1,
    "byte": 1,
    "char": 1,
    "unsigned char": 1,
    "signed char": 1,
    "short": 2,
    "short int": 2,
    "int": 4,
    "long": 8,
    "long int": 8,
    "long long": 8,
    "long long int": 8,
    "uint8": 1,
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "unsigned short": 2,
    "short unsigned int": 2,
    "unsigned int": 4,
    "unsigned long": 8,
    "long unsigned int": 8,
    "qint8": 1,
    "quint8": 1,
    "qint32": 4,
    "quint4x2": 1,
    "quint2x4": 1,
    "bits1x8": 1,
    "bits2x4": 1,
    "bits4x2": 1,
    "bits8": 1,
    "bits16": 2,
}


@lru_cache(maxsize=4096)
def kind_of(name: str) -> str:
    """The kind of a collective from what torch calls it, from its host range or from its kernel."""
    letters = re.sub(r"[^a-z]", "", name.lower())
    return next((kind for kind, pattern in _KIND_PATTERNS if pattern.search(letters)), UNKNOWN_KIND)


@lru_cache(maxsize=4096)
def library_of_kernel(name: str) -> str | None:
    return next((family.library for family in FAMILIES if family.pattern.search(name)), None)


def element_bytes(dtype: str) -> int | None:
    return ELEMENT_BYTES.get(dtype.strip().lower().replace("c10::", ""))
