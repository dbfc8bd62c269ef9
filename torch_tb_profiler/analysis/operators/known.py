"""What operators of a trace did, kept so that questions about one of them are answered without the trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import TraceMeta
from torch_tb_profiler.analysis.operators.table import (
    CallGroups,
    LaunchGroups,
    OperatorDetails,
    operator_details,
)
from torch_tb_profiler.analysis.question import Node, Subject
from torch_tb_profiler.analysis.shared.owners import Unattributed, unattributed
from torch_tb_profiler.analysis.stacks.call_stacks import Stacks
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.codec import convert
from torch_tb_profiler.trace import StringTable
from torch_tb_profiler.trace.column_file import NamedTables, decode_tables, encode_tables

T = TypeVar("T")


class KnownOperators(msgspec.Struct, frozen=True):
    """details: see there; about: the trace; unattributed: device work that no operator launched; size: bytes, about."""

    details: OperatorDetails
    about: TraceMeta
    unattributed: Sequence[Unattributed]
    size: int


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
    header = {
        "about": msgspec.to_builtins(TraceMeta(**subject.about("operators"))),
        "unattributed": msgspec.to_builtins(unattributed(subject.model)),
        "totals": {key: getattr(details, key) for key in _TOTALS},
    }
    return encode_tables(NamedTables(header, [details.strings[code] for code in used.tolist()], columns))


#: the columns that hold codes of strings
_CODES = {"stacks": ("frame",), "groups": ("name", "shape"), "launched": ("operator", "shape", "kernel")}


def _read(stored: bytes) -> KnownOperators:
    kept = decode_tables(stored)
    tables = kept.tables
    details = OperatorDetails(
        StringTable(kept.strings),
        Stacks(**tables["stacks"]),
        CallGroups(**tables["groups"]),
        LaunchGroups(**tables["launched"]),
        **kept.header["totals"],
    )
    size = sum(values.nbytes for table in tables.values() for values in table.values()) + sum(map(len, kept.strings))
    about = convert(kept.header["about"], TraceMeta)
    without = convert(kept.header["unattributed"], tuple[Unattributed, ...])
    return KnownOperators(details, about, without, 2 * size)


def _columns(table: Any) -> dict[str, Any]:
    return {name: getattr(table, name) for name in table.__struct_fields__}


KNOWN_OPERATORS = Node(name="known operators", make=_kept, keep="answers", decode=_read)
OfKnown = Annotated[KnownOperators, KNOWN_OPERATORS]
