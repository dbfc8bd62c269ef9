"""Questions about operators; what one of them did is kept, so that it is answered without the trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeVar

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Definition, Fraction, Ns, TraceMeta
from torch_tb_profiler.analysis.device_use import device_use, mean_known
from torch_tb_profiler.analysis.operators.calls import unlinked_share
from torch_tb_profiler.analysis.operators.table import (
    CallGroups,
    LaunchGroups,
    OperatorDetails,
    OperatorTable,
    operator_details,
    operators,
)
from torch_tb_profiler.analysis.question import Node, Question, Subject
from torch_tb_profiler.analysis.result import columns_field
from torch_tb_profiler.analysis.shared.owners import Unattributed, unattributed
from torch_tb_profiler.analysis.stacks.recorded import OperatorStacks
from torch_tb_profiler.analysis.tabular import Table, TableMeta
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
        OperatorStacks(**tables["stacks"]),
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


Backward = Literal["as_run", "with_forward"]

_DEVICE_COLUMNS = ("device_self_ns", "device_total_ns", "kernels")


class OperatorsGrouped(msgspec.Struct, frozen=True):
    """How operators are grouped."""

    group_by: Annotated[Literal["name", "name_shape", "name_stack"], Meta(description="What makes a row.")] = "name"
    backward: Annotated[
        Backward,
        Meta(description="as_run, or with_forward: a row `… (backward)` for all that the autograd nodes of it ran."),
    ] = "as_run"


class OneOperator(msgspec.Struct, frozen=True):
    """Which operator."""

    name: Annotated[str, Meta(description="An operator.")]
    input_shape: Annotated[str | None, Meta(description="Only its calls with these shapes.")] = None


class OperatorsMeta(TableMeta, frozen=True, kw_only=True):
    """Beside a table of operators.

    group_by                what makes a row: name, name_shape or name_stack
    device_ns               Σ of device work, null if none was recorded
    host_ns                 Σ of host time of operators
    unattributed_device_ns  Σ of device work that no operator launched, null if none was recorded
    unattributed            the same by why
    unattributed_columns    what the columns of `unattributed` are
    unlinked_backward       part of the time of autograd nodes whose forward is unknown, 0…1: of their device time,
                            otherwise of their host time; null without any, and in answers about one operator
    device_busy             share of step time in which devices were busy, 0…1; null without devices, and in answers
                            about one operator
    """

    group_by: str
    device_ns: Ns | None
    host_ns: Ns
    unattributed_device_ns: Ns | None
    unattributed: Sequence[Unattributed]
    unlinked_backward: Fraction | None
    device_busy: Fraction | None
    unattributed_columns: Sequence[Definition] = columns_field("unattributed", Unattributed)


class LaunchedMeta(TableMeta, frozen=True, kw_only=True):
    """Beside a table of kernels that one operator launched.

    group_by   what makes a row: always name
    device_ns  Σ of their durations
    host_ns    always null: kernels have no time on the host
    """

    group_by: str
    device_ns: Ns
    host_ns: None = None


def _operators(subject: Subject, params: OperatorsGrouped) -> Table[OperatorsMeta]:
    model = subject.model
    busy = mean_known([use.busy for use in device_use(model)])
    found = operators(model, params.group_by, params.backward == "with_forward")
    about = TraceMeta(**subject.about("operators"))
    return _table(about, unattributed(model), found, busy, unlinked_share(model))


def _stacks(known: OfKnown, params: OneOperator) -> Table[OperatorsMeta]:
    return _table(known.about, known.unattributed, known.details.stacks_of(params.name, params.input_shape))


def _table(
    about: TraceMeta,
    work: Sequence[Unattributed],
    table: OperatorTable,
    busy: float | None = None,
    unlinked: float | None = None,
) -> Table[OperatorsMeta]:
    has_work = table.has_device_work
    meta = OperatorsMeta(
        **msgspec.structs.asdict(about),
        group_by=table.group_by,
        device_ns=table.device_ns if has_work else None,
        host_ns=table.host_ns,
        unattributed_device_ns=table.unattributed_device_ns if has_work else None,
        unattributed=work,
        unlinked_backward=unlinked,
        device_busy=busy,
    )
    totals = {"device_self_ns": meta.device_ns, "host_self_ns": meta.host_ns}
    return table.table(meta, without=() if has_work else _DEVICE_COLUMNS, totals=totals)


def _launched(known: OfKnown, params: OneOperator) -> Table[LaunchedMeta]:
    found = known.details.kernels_of(params.name, params.input_shape)
    meta = LaunchedMeta(**msgspec.structs.asdict(known.about), group_by="name", device_ns=int(found.total_ns.sum()))
    return found.table(meta)


OPERATORS = Question(
    name="operators",
    summary="Operators",
    compute=_operators,
    precompute=(OperatorsGrouped("name"), OperatorsGrouped("name_shape"), OperatorsGrouped("name_stack")),
    report=({"group_by": "name"}, {"group_by": "name_shape"}, {"group_by": "name_stack"}),
)

OPERATOR_STACKS = Question(
    name="operators/stacks",
    summary="One operator by call stack",
    compute=_stacks,
)

OPERATOR_KERNELS = Question(
    name="operators/kernels",
    summary="Kernels that one operator launched",
    compute=_launched,
)
