"""Threads and streams: the tracks that events name by `pid` and `tid`, and what metadata events say about them."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.trace.events import NO_ARGS, Event
from torch_tb_profiler.trace.store import Track

# a pid below this names a device, not a process, on device tracks
MAX_DEVICE_NUMBER = 4096

_LONGEST_NUMBER = 20  # digits and sign


Key = tuple[int | str, int | str]


class TrackDescription(msgspec.Struct, array_like=True):
    """Tracks of some events, numbered as others are.

    keys: those that were not among the events before, by their numbers, which follow
    of_track, of_process: what metadata says, by number and by process
    """

    keys: list[Key]
    of_track: list[tuple[int, dict[str, Any]]]
    of_process: list[tuple[int | str, dict[str, Any]]]


class TrackNumbers:
    """The tracks of a trace, numbered in the order in which they are first seen."""

    def __init__(self) -> None:
        self._keys: list[Key] = []
        self._codes: dict[Key, int] = {}
        self._packed = 0
        self._of_track: dict[int, dict[str, Any]] = {}
        self._of_process: dict[int | str, dict[str, Any]] = {}

    def code(self, pid: int | str | None, tid: int | str | None) -> int:
        return self._code((number_or_text(pid), number_or_text(tid)))

    def _code(self, key: Key) -> int:
        code = self._codes.get(key)
        if code is None:
            code = self._codes[key] = len(self._keys)
            self._keys.append(key)
        return code

    def describe(self, event: Event) -> None:
        """Take what a metadata event says."""
        args, name = event.args or NO_ARGS, event.name or ""
        value: Any = None
        if name in ("process_name", "thread_name"):
            value = _decoded_value(args.name)
        elif name == "process_labels":
            value = _decoded_value(args.labels)
        elif name in ("process_sort_index", "thread_sort_index"):
            value = args.sort_index
        if value is None or value == "":
            return
        track = self.code(event.pid, event.tid)
        if name.startswith("process_"):
            self._of_process.setdefault(self._keys[track][0], {})[name] = value
        else:
            self._of_track.setdefault(track, {})[name] = value

    def packed(self) -> TrackDescription:
        """Return what was seen since, for `put`."""
        described = TrackDescription(
            self._keys[self._packed :], list(self._of_track.items()), list(self._of_process.items())
        )
        self._packed = len(self._keys)
        self._of_track, self._of_process = {}, {}
        return described

    def put(self, described: TrackDescription, codes: list[int]) -> None:
        """Add what another has packed. codes: what its numbers are here, by its numbers; it is extended."""
        codes += map(self._code, described.keys)
        for track, said in described.of_track:
            self._of_track.setdefault(codes[track], {}).update(said)
        for process, said in described.of_process:
            self._of_process.setdefault(process, {}).update(said)

    def devices(self) -> npt.NDArray[np.int64]:
        """Shape (tracks,): the device that the pid names, -1 for none."""
        pids = [pid for pid, _ in self._keys]
        return np.array([p if isinstance(p, int) and 0 <= p < MAX_DEVICE_NUMBER else -1 for p in pids], dtype=np.int64)

    def all(self) -> list[Track]:
        return [self._track(code) for code in range(len(self._keys))]

    def _track(self, code: int) -> Track:
        pid, tid = self._keys[code]
        of_process, of_track = self._of_process.get(pid, {}), self._of_track.get(code, {})
        sort_index = of_track.get("thread_sort_index", 0)
        return Track(
            pid,
            tid,
            str(of_process.get("process_name", "")),
            str(of_process.get("process_labels", "")),
            str(of_track.get("thread_name", "")),
            int(sort_index) if isinstance(sort_index, float) and abs(sort_index) < 2**53 else 0,
        )


def number_or_text(value: int | str | None) -> int | str:
    """pid, tid and flow ids: numbers written as text are the numbers they spell; those beyond 64 bits stay text."""
    if value is None:
        return ""
    if isinstance(value, str):
        text = value.strip()
        if not (text.lstrip("-").isdigit() and text.isascii() and len(text) <= _LONGEST_NUMBER):
            return text
        value = int(text)
    return value if abs(value) < 2**63 else str(value)


def _decoded_value(raw: msgspec.Raw) -> Any:
    """Return the value, with U+FFFD for bytes that are no UTF-8; None for a number that no name is."""
    text = bytes(raw).decode(errors="replace")
    try:
        return msgspec.json.decode(text) if text else None
    except msgspec.ValidationError:
        return None
