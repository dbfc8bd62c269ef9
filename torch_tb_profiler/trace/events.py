"""The types that msgspec decodes events into.

`Event` fits every event. Besides, each `cat` has a type of its own that has only the arguments that become columns
there: a key then costs few comparisons and an object few fields, and a chunk decodes in three quarters of the time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Literal, Protocol, Union

import msgspec

from torch_tb_profiler.trace.schema import Category, Phase
from torch_tb_profiler.trace.vocabulary import FLOW_CATEGORIES, MEMORY_EVENT_CATEGORY, category_of

NAN = math.nan
Number = float | None
RAW_MISSING = msgspec.Raw(b"")


class Args(msgspec.Struct, gc=False, frozen=True):
    """Every argument that becomes a column. Numbers are read as floats so that ints, numeric strings and null pass."""

    external_id: Number = msgspec.field(default=NAN, name="External id")
    external_id_2021: Number = msgspec.field(default=NAN, name="external id")
    sequence: Number = msgspec.field(default=NAN, name="Sequence number")
    forward_thread: Number = msgspec.field(default=NAN, name="Fwd thread id")
    input_dims: msgspec.Raw = msgspec.field(default=RAW_MISSING, name="Input Dims")
    input_dims_2021: msgspec.Raw = msgspec.field(default=RAW_MISSING, name="Input dims")
    input_type: msgspec.Raw = msgspec.field(default=RAW_MISSING, name="Input type")
    input_strides: msgspec.Raw = msgspec.field(default=RAW_MISSING, name="Input Strides")
    concrete_inputs: msgspec.Raw = msgspec.field(default=RAW_MISSING, name="Concrete Inputs")
    call_stack: str | None = msgspec.field(default="", name="Call stack")

    correlation: Number = NAN
    device: Number = NAN
    stream: float | str | None = NAN  # a pointer in the launches of ROCm
    grid: msgspec.Raw = RAW_MISSING
    block: msgspec.Raw = RAW_MISSING
    registers: Number = msgspec.field(default=NAN, name="registers per thread")
    shared_memory: Number = msgspec.field(default=NAN, name="shared memory")
    blocks_per_sm: Number = msgspec.field(default=NAN, name="blocks per SM")
    occupancy: Number = msgspec.field(default=NAN, name="est. achieved occupancy %")
    bytes: Number = NAN
    graph_id: Number = msgspec.field(default=NAN, name="graph id")
    graph_node_id: Number = msgspec.field(default=NAN, name="graph node id")

    python_id: Number = msgspec.field(default=NAN, name="Python id")
    parent_id: Number = msgspec.field(default=NAN, name="Python parent id")
    module_id: Number = msgspec.field(default=NAN, name="Python module id")

    address: Number = msgspec.field(default=NAN, name="Addr")
    memory_bytes: Number = msgspec.field(default=NAN, name="Bytes")
    total_allocated: Number = msgspec.field(default=NAN, name="Total Allocated")
    total_reserved: Number = msgspec.field(default=NAN, name="Total Reserved")
    device_type: Number = msgspec.field(default=NAN, name="Device Type")
    device_id: Number = msgspec.field(default=NAN, name="Device Id")

    collective: str | None = msgspec.field(default="", name="Collective name")
    dtype: str | None = ""
    group: str | None = msgspec.field(default="", name="Process Group Name")
    group_description: str | None = msgspec.field(default="", name="Process Group Description")
    group_ranks: msgspec.Raw = msgspec.field(default=RAW_MISSING, name="Process Group Ranks")
    group_size: Number = msgspec.field(default=NAN, name="Group size")
    in_elements: Number = msgspec.field(default=NAN, name="In msg nelems")
    out_elements: Number = msgspec.field(default=NAN, name="Out msg nelems")
    collective_sequence: Number = msgspec.field(default=NAN, name="Seq")

    # of metadata events
    name: msgspec.Raw = RAW_MISSING
    labels: msgspec.Raw = RAW_MISSING
    sort_index: Number = NAN


class Event(msgspec.Struct, gc=False, frozen=True):
    """One chrome trace event."""

    ph: str = ""
    cat: str | None = ""
    name: str | None = ""
    pid: int | str | None = None
    tid: int | str | None = None
    ts: Number = NAN
    dur: Number = NAN
    id: int | str | None = None
    args: Args | None = None


class ExactEvent(msgspec.Struct, gc=False, frozen=True):
    """An event whose times are kept as text: absolute microseconds with a fraction do not fit a double."""

    ph: str = ""
    cat: str | None = ""
    name: str | None = ""
    pid: int | str | None = None
    tid: int | str | None = None
    ts: msgspec.Raw = RAW_MISSING
    dur: Number = NAN
    id: int | str | None = None
    args: Args | None = None


class AnyEvent(Protocol):
    """What all events have. `ts` is text in the events of a file whose times do not fit a double."""

    @property
    def ph(self) -> str: ...

    @property
    def name(self) -> str | None: ...

    @property
    def pid(self) -> int | str | None: ...

    @property
    def tid(self) -> int | str | None: ...

    @property
    def ts(self) -> Number | msgspec.Raw: ...

    @property
    def dur(self) -> Number: ...

    @property
    def id(self) -> int | str | None: ...

    @property
    def args(self) -> Args | None: ...


NO_ARGS = Args()

# of one category ---------------------------------------------------------------------------------------------

_COLLECTIVE = (
    "collective",
    "dtype",
    "group",
    "group_description",
    "group_ranks",
    "group_size",
    "in_elements",
    "out_elements",
    "collective_sequence",
)
_OPERATOR = (
    "external_id",
    "external_id_2021",
    "sequence",
    "forward_thread",
    "concrete_inputs",
    "input_type",
    "input_strides",
    "input_dims",
    "input_dims_2021",
    "call_stack",
    *_COLLECTIVE,
)
_LAUNCH = ("external_id", "external_id_2021", "correlation")
_DEVICE_WORK = (
    "external_id",
    "external_id_2021",
    "device",
    "stream",
    "correlation",
    "registers",
    "shared_memory",
    "blocks_per_sm",
    "grid",
    "block",
    "occupancy",
    "bytes",
    "graph_id",
    "graph_node_id",
    *_COLLECTIVE,
)
_PYTHON_FRAME = ("parent_id", "python_id", "module_id")
_MEMORY = ("total_reserved", "total_allocated", "memory_bytes", "device_id", "device_type", "address")

#: which arguments become columns, in the order in which torch writes them; of other categories none do
_ARGUMENTS = {
    Category.OPERATOR: _OPERATOR,
    Category.USER_ANNOTATION: _OPERATOR,
    Category.RUNTIME: _LAUNCH,
    Category.DRIVER: _LAUNCH,
    Category.KERNEL: _DEVICE_WORK,
    Category.MEMCPY: _DEVICE_WORK,
    Category.MEMSET: _DEVICE_WORK,
    Category.GPU_USER_ANNOTATION: _DEVICE_WORK,
    Category.SYNC: _DEVICE_WORK,
    Category.PYTHON_FUNCTION: _PYTHON_FRAME,
}

#: what torch has written since 2022; a decoder that knows these is made once for many files
_USUAL = frozenset(
    (
        "cpu_op",
        "user_annotation",
        "python_function",
        MEMORY_EVENT_CATEGORY,
        "cuda_runtime",
        "cuda_driver",
        "kernel",
        "gpu_memcpy",
        "gpu_memset",
        "gpu_user_annotation",
        "cuda_sync",
        "overhead",
        "ac2g",
        "fwdbwd",
    )
)
#: more spellings of `cat` than these are no categories
_MOST = 64


class UsualEvents:
    """Decodes chunks whose events all have a type for their `cat`; learns the ones of a file from other chunks."""

    def __init__(self, exact: bool) -> None:
        self._exact = exact
        self._categories = _USUAL
        self._hits = self._misses = 0

    def decode(self, text: memoryview | bytes) -> list[AnyEvent] | None:
        """None when an event has no type here. Raises msgspec.DecodeError when the text is not valid."""
        # the first chunk holds metadata, which has no type; and files without `cat` are not tried for ever
        if not self._misses or self._misses > 4 + self._hits // 4:
            return None
        try:
            events: list[AnyEvent] = _decoder(self._categories, self._exact).decode(text)
        except msgspec.ValidationError:
            return None
        self._hits += 1
        return events

    def learn(self, events: Iterable[Event | ExactEvent]) -> None:
        """Take notice of the events of a chunk that was not decoded here."""
        self._misses += 1
        found = self._categories | {event.cat for event in events if event.cat}
        if len(found) <= _MOST:
            self._categories = found


@lru_cache(maxsize=8)
def _decoder(categories: frozenset[str], exact: bool) -> msgspec.json.Decoder[Any]:
    types = tuple(_event_type(cat, exact) for cat in sorted(categories))
    return msgspec.json.Decoder(list[Union[types]], strict=False)  # type: ignore[valid-type] # noqa: UP007


@lru_cache(maxsize=_MOST)
def _event_type(cat: str, exact: bool) -> type[msgspec.Struct]:
    """A type for the events of one `cat`, in the phases in which these are what their `cat` says."""
    category = category_of(Phase.COMPLETE, cat)
    phases: Any = str
    args: type[msgspec.Struct] = Args
    if category != Category.OTHER:
        phases = Literal["X"]
        args = _args_type(_ARGUMENTS.get(category, ()))
    elif cat.lower() in FLOW_CATEGORIES:
        phases = Literal["s", "t", "f"]
        args = _args_type(())
    elif cat == MEMORY_EVENT_CATEGORY:
        phases = Literal["i"]
        args = _args_type(_MEMORY)
    known = msgspec.structs.fields(ExactEvent if exact else Event)
    types = {"ph": phases, "args": args | None}
    fields = [(f.name, types.get(f.name, f.type), f.default) for f in known if f.name != "cat"]
    return msgspec.defstruct("UsualEvent", fields, tag_field="cat", tag=cat, gc=False, frozen=True)


@lru_cache(maxsize=8)
def _args_type(names: tuple[str, ...]) -> type[msgspec.Struct]:
    of = {field.name: field for field in msgspec.structs.fields(Args)}
    fields = [(n, of[n].type, msgspec.field(default=of[n].default, name=of[n].encode_name)) for n in names]
    return msgspec.defstruct("UsualArgs", fields, gc=False, frozen=True)


def category_text(event_type: type) -> str:
    """`cat` of all events of a type that `UsualEvents` made."""
    return str(event_type.__struct_config__.tag)  # type: ignore[attr-defined]
