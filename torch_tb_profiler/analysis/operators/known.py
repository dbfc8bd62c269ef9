"""What operators of a trace did, kept so that questions about one of them are answered without the trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import TraceMeta
from torch_tb_profiler.analysis.operators.table import (
    CallGroups,
    LaunchGroups,
    OperatorDetails,
    operator_details,
)
from torch_tb_profiler.analysis.question import Part, Subject
from torch_tb_profiler.analysis.shared.launchers import Unattributed, unattributed
from torch_tb_profiler.analysis.stacks.call_stacks import Stacks
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.trace import Strings

T = TypeVar("T")


@dataclass(frozen=True)
class KnownOperators:
    """details: see there; about: the trace; unattributed: device work that no operator launched; size: bytes, about."""

    details: OperatorDetails
    about: TraceMeta
    unattributed: Sequence[Unattributed]
    size: int


class _Kept(msgspec.Struct):
    """`OperatorDetails` as it is stored. Columns: type and bytes of each; `totals`: its plain numbers."""

    about: TraceMeta
    unattributed: Sequence[Unattributed]
    strings: list[str]
    stacks: dict[str, tuple[str, bytes]]
    groups: dict[str, tuple[str, bytes]]
    launched: dict[str, tuple[str, bytes]]
    totals: dict[str, bool | int]


_TOTALS = ("has_device_work", "device_ns", "host_ns", "unattributed_device_ns")


def _kept(subject: Subject) -> bytes:
    details = operator_details(subject.model)
    groups, launched = _columns(details.groups), _columns(details.launched)
    stacks, groups["stack"] = details.stacks.only(details.groups.stack)
    columns = {"stacks": _columns(stacks), "groups": groups, "launched": launched}
    coded = [(columns[table], key) for table, keys in _CODES.items() for key in keys]
    # the empty text is always the first
    used = distinct(np.concatenate([np.zeros(1, np.int64), *(table[key].astype(np.int64) for table, key in coded)]))
    for table, key in coded:
        table[key] = np.searchsorted(used, table[key]).astype(np.int32)
    return msgspec.msgpack.encode(
        _Kept(
            about=TraceMeta(**subject.about("operators")),
            unattributed=unattributed(subject.model),
            strings=[details.strings[code] for code in used.tolist()],
            totals={key: getattr(details, key) for key in _TOTALS},
            **{
                name: {key: (values.dtype.str, values.tobytes()) for key, values in table.items()}
                for name, table in columns.items()
            },
        )
    )


#: the columns that hold codes of strings
_CODES = {"stacks": ("frame",), "groups": ("name", "shape"), "launched": ("operator", "shape", "kernel")}


def _read(stored: bytes) -> KnownOperators:
    kept = msgspec.msgpack.decode(stored, type=_Kept)

    def table(kind: type[T], columns: dict[str, tuple[str, bytes]]) -> T:
        return kind(**{key: np.frombuffer(values, dtype) for key, (dtype, values) in columns.items()})

    totals: dict[str, Any] = kept.totals
    details = OperatorDetails(
        Strings(kept.strings),
        table(Stacks, kept.stacks),
        table(CallGroups, kept.groups),
        table(LaunchGroups, kept.launched),
        **totals,
    )
    return KnownOperators(details, kept.about, kept.unattributed, 2 * len(stored))


def _columns(table: Any) -> dict[str, Any]:
    return {field.name: getattr(table, field.name) for field in fields(table)}


KNOWN_OPERATORS = Part(name="known operators", make=_kept, read=_read)
