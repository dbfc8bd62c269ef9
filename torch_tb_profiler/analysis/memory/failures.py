"""Failed allocations, from totals alone: `[OutOfMemory]` of a trace, and the text of the exception.

Totals do not show which blocks were free; a memory snapshot does (`analysis.snapshot.oom`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Bytes, Ns, Row, TraceMeta
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.memory.records import CPU
from torch_tb_profiler.analysis.question import NoParameters, Question, Refused, Subject
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace.schema import OutOfMemory
from torch_tb_profiler.words.sentences import because, memory_text

FailureReason = Literal["pieces", "limit", "outside", "full", "host", "unknown"]
"""What decides: enough was free inside what PyTorch had reserved, but in pieces, or of other streams or pools; a
limit below the device's memory; memory that is not PyTorch's; nothing was free; memory of the host; the numbers do not
say."""

#: least share of the device that is held outside PyTorch's allocator, for the reason `outside`
OUTSIDE_SHARE = 0.1


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """One failed allocation. Bytes; null means unknown.

    reason         what decides
    requested      what was asked for: of a text the segment that it would have allocated from the device
    allocated      in use by tensors
    unallocated    reserved by PyTorch, and not in use
    device_free    that the device had free
    device_total   that the device has
    of_process     device memory held by the process, for PyTorch's allocator and everything else
    of_others      that other processes held
    limit          that the process was allowed (`set_per_process_memory_fraction`)
    private_pools  of `allocated`, in pools of CUDA graphs
    device         number of the device; null of the host
    time_ns        since the start of the trace; null of a text
    row            number of the event; null of a text
    """

    reason: FailureReason
    requested: Bytes | None
    allocated: Bytes | None = None
    unallocated: Bytes | None = None
    device_free: Bytes | None = None
    device_total: Bytes | None = None
    of_process: Bytes | None = None
    of_others: Bytes | None = None
    limit: Bytes | None = None
    private_pools: Bytes | None = None
    device: int | None = None
    time_ns: Ns | None = None
    row: Row | None = None

    @property
    def text(self) -> str:
        """What decides, and what to do."""
        reserved = (self.allocated or 0) + (self.unallocated or 0)
        outside = (self.device_total or 0) - (self.device_free or 0) - reserved
        return memory_text("failure", self, outside=outside)


def reason_of(
    requested: int | None,
    allocated: int | None,
    unallocated: int | None,
    device_free: int | None,
    device_total: int | None,
    limit: int | None,
) -> FailureReason:
    """Decide why an allocation failed; a reason needs the numbers that it is about. The order matters."""
    if requested is None:
        return "unknown"
    if unallocated is not None and unallocated >= requested:
        return "pieces"
    reserved = None if allocated is None or unallocated is None else allocated + unallocated
    if limit is not None and reserved is not None and reserved + requested > limit:
        return "limit"
    if (
        device_free is None
        and device_total is not None
        and reserved is not None
        and requested > device_total - reserved
    ):
        return "full"  # the request would not fit even on an otherwise empty device
    if device_free is None or device_total is None or reserved is None:
        return "unknown" if device_free is None or device_free < requested else "limit"
    if device_free >= requested:
        return "limit"
    outside = device_total - device_free - reserved
    return "outside" if outside >= max(requested - device_free, OUTSIDE_SHARE * device_total) else "full"


@cached
def failures(model: Model) -> tuple[Failure, ...]:
    """Return the failures of a trace, by time; device_total is from the device properties of the trace."""
    trace = model.trace
    table = trace.table(OutOfMemory)
    if model.selected is not None:
        table = table.take(model.selected[table.row])
    times = trace.events.start[table.row]
    failed = []
    for i in np.argsort(times, kind="stable").tolist():
        of_host = int(table.device_type[i]) == CPU
        allocated, reserved = int(table.total_allocated[i]), int(table.total_reserved[i])
        number = int(table.device[i])
        total = None if of_host else (trace.header.device(number) or {}).get("totalGlobalMem")
        total = total if isinstance(total, int) and total > 0 else None
        requested = int(table.bytes[i])
        known = allocated >= 0 and reserved >= allocated and not of_host
        unallocated = reserved - allocated if known else None
        reason = (
            "host" if of_host else reason_of(requested, allocated if known else None, unallocated, None, total, None)
        )
        failed.append(
            Failure(
                reason=reason,
                requested=requested or None,
                allocated=allocated if allocated >= 0 else None,
                unallocated=unallocated,
                device_total=total,
                device=None if of_host else number,
                time_ns=int(times[i]),
                row=int(table.row[i]),
            )
        )
    return tuple(failed)


#: MPS, too, writes KB for 1,024 bytes
_UNITS = {"bytes": 1, "B": 1} | {f"{k}{b}": 1 << 10 * (n + 1) for n, k in enumerate("KMGT") for b in ("iB", "B")}
_SIZE = r"(?<![0-9])([0-9]+(?:\.[0-9]+)?) ?(bytes|[KMGT]i?B|B)"
_RUN_OUT = lazy_pattern(
    r"out of memory|exceed allowed memory|can't allocate memory|not enough memory|OutOfMemoryError", re.IGNORECASE
)
_REQUESTED = lazy_pattern(rf"(?:tried to allocate|\bRequested *:) {_SIZE}", re.IGNORECASE)
_MPS = lazy_pattern(r"\bMPS backend out of memory")
_HOST = lazy_pattern(r"DefaultCPUAllocator|CPU allocator", re.IGNORECASE)
_DEVICE = lazy_pattern(r"\b(?:GPU|XPU|NPU|device) ?:?([0-9]{1,4})\b", re.IGNORECASE)
#: texts since torch 2.1, before 2.1, of backend:cudaMallocAsync, and of MPS, in this order
_FIELDS: dict[str, tuple[re.Pattern[str], ...]] = {
    "device_total": (
        lazy_pattern(rf"total capacity of {_SIZE}"),
        lazy_pattern(rf"{_SIZE} total capacity"),
        lazy_pattern(rf"Device limit *: {_SIZE}"),
    ),
    "device_free": (
        lazy_pattern(rf"of which {_SIZE} is free"),
        lazy_pattern(rf"already allocated; (?:{_SIZE} current active; )?{_SIZE} free"),
        lazy_pattern(rf"Free \(according to CUDA\) *: {_SIZE}"),
    ),
    "allocated": (
        lazy_pattern(rf"{_SIZE} is allocated by PyTorch"),
        lazy_pattern(rf"{_SIZE} already allocated"),
        lazy_pattern(rf"Currently allocated *: {_SIZE}"),
        lazy_pattern(rf"MPS allocated: {_SIZE}"),
    ),
    "unallocated": (lazy_pattern(rf"{_SIZE} is reserved by PyTorch but unallocated"),),
    "reserved": (lazy_pattern(rf"{_SIZE} reserved in total by PyTorch"),),
    "of_process": (lazy_pattern(rf"this process has {_SIZE} memory in use"),),
    "limit": (
        lazy_pattern(rf"{_SIZE} allowed"),
        lazy_pattern(rf"user-supplied memory fraction\) *: {_SIZE}"),
        lazy_pattern(rf"max allowed: {_SIZE}"),
    ),
    "private_pools": (lazy_pattern(rf"{_SIZE} allocated in private pools"),),
}
#: cudaMallocAsync writes limits from here on when there is none
_NO_LIMIT = 1 << 60
_OTHER_PROCESS = lazy_pattern(rf"[Pp]rocess [0-9]+ has {_SIZE} memory in use")


def failure_of_text(text: str) -> Failure | None:
    """Read the text of an OutOfMemoryError of any version of PyTorch; None if it is no such text.

    Sizes in it are rounded to two decimals.
    """
    text = " ".join(text.split())
    request = _REQUESTED.search(text)
    if request is None or not _RUN_OUT.search(text):
        return None
    requested = _bytes(request[1], request[2])
    if _HOST.search(text):
        return Failure(reason="host", requested=requested)
    values = {key: _first(patterns, text) for key, patterns in _FIELDS.items()}
    reserved, allocated = values.pop("reserved"), values["allocated"]
    if values["unallocated"] is None and reserved is not None and allocated is not None:
        values["unallocated"] = max(reserved - allocated, 0)
    others = [_bytes(found[1], found[2]) for found in _OTHER_PROCESS.finditer(text)]
    device = _DEVICE.search(text)
    if values["limit"] is not None and values["limit"] >= _NO_LIMIT:
        values["limit"] = None
    numbers = (values[key] for key in ("unallocated", "device_free", "device_total", "limit"))
    # a text of MPS is about its limit alone
    reason = "limit" if _MPS.search(text) else reason_of(requested, allocated, *numbers)
    return Failure(
        reason=reason,
        requested=requested,
        of_others=sum(others) if others else None,
        device=int(device[1]) if device else None,
        **values,
    )


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> int | None:
    for pattern in patterns:
        if found := pattern.search(text):
            *_, number, unit = found.groups()
            return _bytes(number, unit)
    return None


def _bytes(number: str, unit: str) -> int:
    return round(float(number) * next(size for name, size in _UNITS.items() if name.lower() == unit.lower()))


#: characters of an exception that are read; a traceback follows
MOST_TEXT = 4000


class ErrorText(msgspec.Struct, frozen=True):
    """What PyTorch said."""

    text: Annotated[str, Meta(description="Text of an OutOfMemoryError.", max_length=MOST_TEXT)]


class MemoryFailuresAnswer(Answer, frozen=True, kw_only=True):
    """Allocations that failed, and why.

    meta       which trace
    failures   by time
    sentences  the same in words
    """

    meta: TraceMeta
    failures: Sequence[Failure]
    sentences: Sequence[str]


def _failures(subject: Subject, _: NoParameters) -> MemoryFailuresAnswer:
    return _answer(subject, failures(subject.model))


def _of_text(subject: Subject, params: ErrorText) -> MemoryFailuresAnswer:
    found = failure_of_text(params.text)
    if found is None:
        raise Refused(because("no_oom_text"))
    return _answer(subject, (found,))


def _answer(subject: Subject, found: Sequence[Failure]) -> MemoryFailuresAnswer:
    meta = TraceMeta(**subject.about("memory"))
    return MemoryFailuresAnswer(meta=meta, failures=found, sentences=[failure.text for failure in found])


MEMORY_FAILURES = Question(
    name="memory/failures",
    summary="Allocations that failed, and why",
    tag="memory",
    compute=_failures,
    of_steps=False,
    bundle="memory",
    precompute=(NoParameters(),),
    report=({},),
)

MEMORY_ERROR_TEXT = Question(
    name="memory/error_text",
    summary="What the text of an OutOfMemoryError says",
    tag="memory",
    about="any",
    compute=_of_text,
    of_steps=False,
)
