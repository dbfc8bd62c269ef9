"""Serve the trace file: as it is stored, or for viewers, with counters of each device added."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, islice
from typing import BinaryIO
from urllib.parse import quote

import msgspec

from torch_tb_profiler.analysis.device_use import DeviceCounters, UtilizationCounters, utilization_counters
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Limits, TraceError
from torch_tb_profiler.trace.excerpts import BLOCK_BYTES, WindowText, between, examine, window_text, with_events
from torch_tb_profiler.trace.unpack import GZIP_MAGIC
from torch_tb_profiler.web.answers.request import Route, ask_original
from torch_tb_profiler.web.http import HttpError, Parameters, Stream
from torch_tb_profiler.web.old_plugin.modules import exact
from torch_tb_profiler.workspace import Key, OpenTrace, Workspace, compressed
from torch_tb_profiler.workspace.answering.answerer import ModelOf
from torch_tb_profiler.workspace.cache.identity import answers_version

#: about 100 KB of text
EVENTS_PER_PIECE = 1000

Point = tuple[int, float]


def counter_events(counters: UtilizationCounters, zero_ns: int) -> Iterator[bytes]:
    """Yield all counter events in the order of the old plugin, many in a chunk.

    zero_ns  the timestamp of the file at the start of the trace
    """
    events = chain(
        *(_events(d, "GPU Utilization", _utilization(d), zero_ns) for d in counters.devices),
        *(_events(d, "Est. SM Efficiency", _efficiency(d, counters.begin), zero_ns) for d in counters.devices),
    )
    while piece := ", ".join(islice(events, EVENTS_PER_PIECE)):
        yield piece.encode()


def _events(device: DeviceCounters, value: str, points: Iterable[Point], zero_ns: int) -> Iterator[str]:
    name = f"GPU {device.device} {value.removeprefix('GPU ')}"
    for time, number in points:
        yield (
            f'{{"ph":"C", "name":"{name}", "pid":{device.device}, "ts":{exact(zero_ns + time)}, '
            f'"args":{{"{value}":{number!r}}}}}'
        )


def _utilization(device: DeviceCounters) -> Iterator[Point]:
    if len(device.start):
        yield from _scale(int(device.start[0]))
    yield from zip(device.start.tolist(), device.utilization.tolist(), strict=True)


def _efficiency(device: DeviceCounters, begin: int) -> Iterator[Point]:
    start, end, value = (array.tolist() for array in device.efficiency)
    if start:
        yield from _scale(int(device.start[0]) if len(device.start) else begin)
    for low, high, number in zip(start, end, value, strict=True):
        yield low, number
        yield high, 0


def _scale(begin: int) -> Iterator[Point]:
    """Yield a full and an empty point: viewers draw a counter as high as its largest value."""
    yield begin, 1
    yield begin, 0


WHOLE, SAME_GZIP, REPAIRED = b"whole", b"whole, and the file is its gzip", b"repaired"

#: the header of a document that is not the stored text, since that is not valid JSON
REPAIRED_HEADER = ("X-Trace-Repaired", "the stored file is not valid JSON; this document contains what could be read")


#: later than any trace ends
_LAST_NS = 2**61


class _Added(msgspec.Struct, frozen=True):
    """What is added to the file. zero_ns: the file's timestamp at the start of the trace."""

    counters: UtilizationCounters
    zero_ns: int

    @property
    def size(self) -> int:
        return self.counters.size


def _trace(workspace: Workspace, parameters: Parameters) -> Stream:
    trace = _named(workspace, parameters)
    added = _added_to(workspace, trace)
    state = ask_original(workspace, trace, "text", partial(_state, workspace.limits))

    def open_(packed: bool) -> Iterable[bytes]:
        stream = workspace.original(trace).stream
        if packed and state == SAME_GZIP and not added.counters.devices:
            return _stored(stream)
        text = _text(stream, added, state != REPAIRED, workspace.limits)
        return compressed(text) if packed else text

    return Stream(
        f"{trace.key}-{answers_version()}-trace", open_, headers=(REPAIRED_HEADER,) if state == REPAIRED else ()
    )


def _download(workspace: Workspace, parameters: Parameters) -> Stream:
    trace = _named(workspace, parameters)
    original = workspace.original(trace)
    original.stream.close()
    headers = (("Content-Length", str(original.size)), ("Content-Disposition", _attachment(original.name)))
    return Stream(
        f"{trace.key}-file",
        lambda _: _stored(workspace.original(trace).stream),
        "application/octet-stream",
        headers,
        packs=False,
    )


def _window(workspace: Workspace, parameters: Parameters) -> Stream:
    trace = _named(workspace, parameters)
    start, end = parameters.whole_number("start_ns", 0), parameters.whole_number("end_ns", _LAST_NS)
    if end < start:
        raise HttpError(400, "end_ns must not be before start_ns")
    wanted = workspace.ask(partial(_window_of, start, end), ModelOf(trace, is_kept=False))
    workspace.original(trace).stream.close()

    def text() -> Iterator[bytes]:
        with workspace.original(trace).stream as stream:
            yield from between(stream, wanted, workspace.limits)

    return Stream(
        f"{trace.key}-{answers_version()}-window-{start}-{end}", lambda packed: compressed(text()) if packed else text()
    )


def _window_of(start: int, end: int, model: Model) -> WindowText:
    return window_text(model.trace, start, end)


def _named(workspace: Workspace, parameters: Parameters) -> OpenTrace:
    return workspace.find(parameters.need("run"), parameters.need("worker"), parameters.get("span"))


def _added_to(workspace: Workspace, trace: OpenTrace) -> _Added:
    return workspace.remember(Key((trace,), "counters"), lambda: workspace.ask(_added, ModelOf(trace, is_kept=False)))


def _added(model: Model) -> _Added:
    return _Added(utilization_counters(model), model.trace.origin_ns - (model.trace.header.base_time_ns or 0))


def _state(limits: Limits, stream: BinaryIO) -> bytes:
    is_gzip = stream.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    stream.seek(-4, 2)
    # the length of the last gzip member only: not every client reads on after the first
    length_of_member = int.from_bytes(stream.read(4), "little")
    stream.seek(0)
    try:
        text = examine(stream, limits)
    except TraceError as error:
        raise HttpError(422, f"the file {error}") from None
    if not text.whole:
        return REPAIRED
    is_same = is_gzip and text.is_intact and length_of_member == text.length & 0xFFFFFFFF
    return SAME_GZIP if is_same else WHOLE


def _stored(stream: BinaryIO) -> Iterator[bytes]:
    with stream:
        while block := stream.read(BLOCK_BYTES):
            yield block


def _text(stream: BinaryIO, added: _Added, whole: bool, limits: Limits) -> Iterator[bytes]:
    with stream:
        yield from with_events(stream, counter_events(added.counters, added.zero_ns), whole, limits)


def _attachment(name: str) -> str:
    """Return a Content-Disposition for any name; old clients get a name in ASCII."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = "".join(c if c.isalnum() or c in "._- " else "_" for c in plain)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


ROUTES: dict[str, Route] = {
    "/trace": _trace,
    "/api/trace/download": _download,
    "/api/trace/window": _window,
}
