"""What operators of a trace did, kept so that questions about one of them are answered without the trace."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

import msgspec
import numpy as np

from torch_tb_profiler.analysis import definitions
from torch_tb_profiler.analysis.launchers import unattributed
from torch_tb_profiler.analysis.operators.table import (
    CallGroups,
    LaunchedKernels,
    LaunchGroups,
    OperatorDetails,
    OperatorTable,
    operator_details,
)
from torch_tb_profiler.analysis.stacks.call_stacks import Stacks
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Strings
from torch_tb_profiler.trace.column_file import NamedTables, decode_tables, encode_tables
from torch_tb_profiler.web.ask import Asked
from torch_tb_profiler.web.http import Parameters
from torch_tb_profiler.web.table_query import TableAnswer
from torch_tb_profiler.web.tables import Json, meta_of, table_answer
from torch_tb_profiler.workspace import OpenTrace, Workspace

T = TypeVar("T")

_DEVICE_COLUMNS = ("device_self_ns", "device_total_ns", "kernels")


@dataclass(frozen=True)
class KnownOperators:
    """details: see there; meta: what tables of operators of this trace say about themselves; size: bytes, about."""

    details: OperatorDetails
    meta: Json
    size: int

    def table(self, found: OperatorTable) -> TableAnswer:
        return operator_table(self.meta, found)

    def kernels(self, found: LaunchedKernels) -> TableAnswer:
        keys = ("name", "calls", "total_ns", "mean_ns", "max_ns", "min_ns")
        of_operator = {"group_by": "name", "device_ns": int(found.total_ns.sum()), "host_ns": None}
        meta = {key: value for key, value in self.meta.items() if key != "unattributed"} | of_operator
        return table_answer(meta, found, keys, definitions.KERNELS, {"total_ns": meta["device_ns"]})


def operators_meta(model: Model, trace: OpenTrace) -> Json:
    return meta_of(model, trace, "operators") | {"unattributed": [asdict(u) for u in unattributed(model)]}


def operator_table(meta: Json, found: OperatorTable) -> TableAnswer:
    """`meta`: of `operators_meta`."""
    has_work = found.has_device_work
    meta = meta | {
        "group_by": found.group_by,
        "device_ns": found.device_ns if has_work else None,
        "host_ns": found.host_ns,
        "unattributed_device_ns": found.unattributed_device_ns if has_work else None,
    }
    keys = [
        key
        for key in definitions.OPERATORS
        if getattr(found, key, None) is not None
        and key != "unattributed_device_ns"
        and (has_work or key not in _DEVICE_COLUMNS)
    ]
    totals = {"device_self_ns": meta["device_ns"], "host_self_ns": meta["host_ns"]}
    averages = ("device_self_ns", "device_total_ns", "host_self_ns", "host_total_ns")
    return table_answer(meta, found, keys, definitions.OPERATORS, totals, averages)


def known_operators(workspace: Workspace, parameters: Parameters) -> KnownOperators:
    """Of the trace that the request names, and of the steps it asks for."""
    return Asked.of(workspace, parameters, "known operators").read(workspace, _kept, _read)


_TOTALS = ("has_device_work", "device_ns", "host_ns", "unattributed_device_ns")


def _kept(model: Model, trace: OpenTrace) -> bytes:
    details = operator_details(model)
    groups, launched = _columns(details.groups), _columns(details.launched)
    stacks, groups["stack"] = details.stacks.only(details.groups.stack)
    columns = {"stacks": _columns(stacks), "groups": groups, "launched": launched}
    coded = [(columns[table], key) for table, keys in _CODES.items() for key in keys]
    # the empty text is always the first
    used = distinct(np.concatenate([np.zeros(1, np.int64), *(table[key].astype(np.int64) for table, key in coded)]))
    for table, key in coded:
        table[key] = np.searchsorted(used, table[key]).astype(np.int32)
    header = {
        "meta": msgspec.to_builtins(operators_meta(model, trace)),
        "totals": {key: getattr(details, key) for key in _TOTALS},
    }
    return encode_tables(NamedTables(header, [details.strings[code] for code in used.tolist()], columns))


#: the columns that hold codes of strings
_CODES = {"stacks": ("frame",), "groups": ("name", "shape"), "launched": ("operator", "shape", "kernel")}


def _read(stored: bytes) -> KnownOperators:
    kept = decode_tables(stored)
    tables = kept.tables
    details = OperatorDetails(
        Strings(kept.strings),
        Stacks(**tables["stacks"]),
        CallGroups(**tables["groups"]),
        LaunchGroups(**tables["launched"]),
        **kept.header["totals"],
    )
    size = sum(values.nbytes for table in tables.values() for values in table.values()) + sum(map(len, kept.strings))
    return KnownOperators(details, kept.header["meta"], 2 * size)


def _columns(table: Any) -> dict[str, Any]:
    return {field.name: getattr(table, field.name) for field in fields(table)}
