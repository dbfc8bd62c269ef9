"""Which process launched each piece of device work, in a file that was merged from several traces.

Ids are unique within one process. A merged file has several processes, and the pid of device work is not the pid of
its process.
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import begins_run, distinct, distinct_places, one_of
from torch_tb_profiler.arrays.grouping import first_at, greatest_at, group, least_at
from torch_tb_profiler.arrays.lookup import find, take_known
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.trace import Category, EventPhase, Trace
from torch_tb_profiler.trace.schema import DEVICE_WORK
from torch_tb_profiler.trace.tracks import MAX_DEVICE_NUMBER

_DIGITS = lazy_pattern(r"\d+")
#: API calls that start only kernels
_STARTS_KERNELS = lazy_pattern(r"(?:cuda|hip|cu)\w{0,40}Launch\w{0,40}Kernel")
_HOST = (Category.OPERATOR, Category.USER_ANNOTATION, Category.PYTHON_FUNCTION)

#: most activities of one lane that are compared with each process
_SAMPLE = 4096
#: with more processes, only names and places in the file are compared
_MOST_COMPARED = 256
#: lead of the best process over the next, share of a lane's activities; and its least share of the activities that any
#: process may have launched
_MARGIN, _ALMOST_ALL = 0.01, 0.95


class Processes(msgspec.Struct, frozen=True):
    """Numbers of processes, from 0; -1 for none, and where unknown.

    of_launch   shape (launches,)
    of_work     shape (device work,)
    count       how many there are
    collide     whether an id is used by several of them
    """

    of_launch: Int64
    of_work: Int64
    count: int
    collide: bool


def processes_of(trace: Trace, id_of_launch: Int64, id_of_work: Int64) -> Processes | None:
    """Tell the processes of a merged file apart; None for a file of one process.

    id_of_launch, id_of_work   ids that join launches and device work; 0 or less for none
    """
    events, launches, work = trace.events, trace.launches, trace.device_work
    pid_of_track = _pids(trace)
    launched_by = pid_of_track[events.track[launches.row]]
    calling = distinct(launched_by)
    if len(calling) < 2:
        return None
    is_work = one_of(events.category[work.row], DEVICE_WORK)
    ran_on = pid_of_track[events.track[work.row]]
    pids = int(pid_of_track.max()) + 1
    is_host, is_device = np.zeros((2, pids), np.bool_)
    is_host[pid_of_track[distinct(events.track[one_of(events.category, _HOST)])]] = True
    is_device[distinct(ran_on[is_work])] = True
    # an accelerator may record calls of its own (MTIA): these are no process
    pid = calling[is_host[calling] | ~is_device[calling]]
    if len(pid) < 2:
        return None
    number = np.full(pids, -1, np.int64)
    number[pid] = np.arange(len(pid))
    of_launch = number[launched_by]
    of_work = _by_name(trace, pid_of_track, pid)[ran_on]
    open_ = np.flatnonzero(is_work & (of_work < 0))
    if len(open_):
        of_work[open_] = _by_place(trace, number[pid_of_track], len(pid), of_launch, open_)
    open_ = np.flatnonzero(is_work & (of_work < 0))
    if len(open_):
        of_work[open_] = _by_memory(trace, number[pid_of_track], work.device[open_])
    ids = _Ids(trace, id_of_launch, of_launch, len(pid))
    lane = group([ran_on, work.device]).inverse
    open_ = np.flatnonzero(is_work & (of_work < 0) & (id_of_work > 0))
    if len(open_) and len(pid) <= _MOST_COMPARED:
        of_work[open_] = _by_ids(ids, lane[open_], open_, id_of_work)
    open_ = open_[of_work[open_] < 0]
    of_work[open_] = ids.only_process(id_of_work[open_])
    return Processes(of_launch, np.where(is_work, of_work, -1), len(pid), ids.collide)


def _pids(trace: Trace) -> Int64:
    """Return a number for the pid of each track, shape (tracks,)."""
    known: dict[int | str, int] = {}
    return np.array([known.setdefault(track.pid, len(known)) for track in trace.tracks], np.int64)


def _by_name(trace: Trace, pid_of_track: Int64, pid: Int64) -> Int64:
    """Match pids by the text that mergers add ("[TP00] 1234"): return the process with the same text, shape (pids,).

    A pid that cannot be the number of a device belongs to its own process.
    """
    names = dict(zip(pid_of_track.tolist(), (track.pid for track in trace.tracks), strict=True))
    process_of_name = np.full(len(names), -1, np.int64)
    for number, code in enumerate(pid.tolist()):
        name = names[code]
        if isinstance(name, str) or name >= MAX_DEVICE_NUMBER:
            process_of_name[code] = number
    texts = {code: name for code, name in names.items() if isinstance(name, str)}
    for ends in (-1, 0):
        keys = {code: _without_number(text, ends) for code, text in texts.items()}
        owners: dict[str, set[int]] = {}
        for number, code in enumerate(pid.tolist()):
            if key := keys.get(code):
                owners.setdefault(key, set()).add(number)
        for code, key in keys.items():
            if key and process_of_name[code] < 0 and len(owners.get(key, ())) == 1:
                (process_of_name[code],) = owners[key]
    return process_of_name


def _without_number(text: str, which: int) -> str:
    """Drop the last (-1) or first (0) number of a text; return "" if there is no number, or nothing else."""
    numbers = list(_DIGITS.finditer(text))
    if not numbers:
        return ""
    return (text[: numbers[which].start()] + "\0" + text[numbers[which].end() :]).strip("\0")


def _by_place(trace: Trace, of_track: Int64, count: int, of_launch: Int64, chosen: Int64) -> Int64:
    """Return the process whose events precede each activity in the file, shape (chosen,).

    -1 unless the events of every process are contiguous in the file.

    of_track   shape (tracks,): process of each track
    """
    events = trace.events
    nothing = np.full(len(chosen), -1, np.int64)
    process = of_track[events.track]
    rows = np.flatnonzero((process >= 0) & (events.phase != EventPhase.METADATA))
    first, last = least_at(process[rows], rows, count), greatest_at(process[rows], rows, count)
    order = np.argsort(first)
    if (last[order][:-1] > first[order][1:]).any():
        return nothing
    place = np.searchsorted(first[order], trace.device_work.row[chosen], side="right") - 1
    nearest_process = order[np.maximum(place, 0)]
    # this fails for files with all host events before all device events
    every = len(distinct(nearest_process)) == len(distinct(of_launch[of_launch >= 0]))
    return nearest_process if every else nothing


def _by_memory(trace: Trace, process_of_track: Int64, device: Int32) -> Int64:
    """Return the only process that allocated memory of each device, shape (device,); -1 for none."""
    memory = trace.memory
    process = process_of_track[trace.events.track[memory.row]]
    used = np.flatnonzero((memory.device >= 0) & (memory.device_type > 0) & (process >= 0))
    known, place = distinct_places(memory.device[used])
    least, most = (take(place, process[used], len(known)) for take in (least_at, greatest_at))
    return take_known(np.where(least == most, least, -1), find(known, device))


class _Ids:
    """Who launched something with an id, and when first."""

    def __init__(self, trace: Trace, id_of_launch: Int64, of_launch: Int64, count: int) -> None:
        self._trace, self.count = trace, count
        usable = np.flatnonzero((id_of_launch > 0) & (of_launch >= 0))
        self._known, place = distinct_places(id_of_launch[usable])
        key = place * count + of_launch[usable]
        start = trace.events.start[trace.launches.row[usable]]
        order = np.lexsort((start, key))
        leads = order[begins_run(key[order])]
        self._key, self._launch = key[leads], usable[leads]
        self._free = np.ones(len(self._key), np.bool_)
        several = np.bincount(self._key // count, minlength=len(self._known))
        self.collide = bool((several > 1).any())
        call = trace.events.name[trace.launches.row]
        self._starts_kernels = trace.strings.where(_STARTS_KERNELS.match, call)[call]
        self._only = np.where(several == 1, first_at(self._key // count, self._key % count, len(self._known)), -1)

    def only_process(self, ids: Int64) -> Int64:
        """Return the only process that has each id; -1 for none."""
        return take_known(self._only, find(self._known, ids))

    def take(self, ids: Int64, process: int) -> None:
        """Assign ids to a process, so that they fit no other."""
        at = self._at(ids, process)
        self._free[at[at >= 0]] = False

    def _at(self, ids: Int64, process: int) -> Int64:
        place = find(self._known, ids)
        return np.where(place >= 0, find(self._key, place * self.count + process), -1)

    def fits(self, ids: Int64, process: int, work: Int64) -> Bool:
        """Mark activities that a process may have launched: it has an earlier call with the id, for such work."""
        events = self._trace.events
        at = self._at(ids, process)
        launch = take_known(self._launch, at)
        row = self._trace.device_work.row[work]
        began = take_known(events.start[self._trace.launches.row], launch) <= events.start[row]
        starts_kernels = take_known(self._starts_kernels, launch, missing=0)
        kernel = take_known(self._trace.launches.kernel, launch, missing=0)
        is_kernel = events.category[row] == Category.KERNEL
        named = (kernel == 0) | ~is_kernel | (kernel == events.name[row])
        fitting: Bool = take_known(self._free, at, missing=0) & began & named & (is_kernel | ~starts_kernels)
        return fitting


def _by_ids(ids: _Ids, lane: Int64, work: Int64, id_of_work: Int64) -> Int64:
    """Return, by lane (pid and device), the process that may have launched almost all of its activities, shape (work,).

    Ids of a decided lane are not available to others, so deciding clear lanes may decide further ones.
    """
    process_of_piece = np.full(len(work), -1, np.int64)
    order = np.argsort(lane, kind="stable")
    open_ = np.split(order, np.flatnonzero(begins_run(lane[order]))[1:])
    before = len(open_) + 1
    while len(open_) < before:
        before, left = len(open_), []
        for mine in open_:
            sample = mine[np.linspace(0, len(mine) - 1, min(len(mine), _SAMPLE)).astype(np.int64)]
            of_sample = id_of_work[work[sample]], work[sample]
            fits = np.array([ids.fits(of_sample[0], each, of_sample[1]) for each in range(ids.count)])
            fitting = fits.sum(axis=1)
            next_, best = np.sort(fitting)[-2:].tolist()
            if best - next_ > _MARGIN * len(sample) and best >= _ALMOST_ALL * np.count_nonzero(fits.any(axis=0)):
                process_of_piece[mine] = int(np.argmax(fitting))
                ids.take(id_of_work[work[mine]], int(np.argmax(fitting)))
            else:
                left.append(mine)
        open_ = left
    return process_of_piece
