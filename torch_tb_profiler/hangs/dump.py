"""One rank's flight-recorder dump.

Written by `torch.distributed` (TORCH_FR_DUMP_TEMP_FILE, TORCH_NCCL_DEBUG_INFO_TEMP_FILE): a pickle of plain values, or
JSON with the same keys. Minor versions of format 2 add fields; a dump may hold unfinished calls only, and no frames.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.reason import ErrorWithReason
from torch_tb_profiler.snapshot.unpickle_stream import NotPlain, PlainUnpickler
from torch_tb_profiler.words.sentences import because

#: finished calls of a group that are kept: enough to compare a call that some ranks have finished
KEPT_FINISHED = 16
#: ranks of a group: more than any job has
_MOST_RANKS = 1_000_000
#: characters of a text that are kept
_LONGEST_TEXT = 200
#: operators whose ranks may pass tensors of different sizes
_UNEVEN = lazy_pattern(r"all_?to_?all|gather|scatter|_v\b|coalesced", re.IGNORECASE)
_EVEN = lazy_pattern(r"_?all_?gather_base|_?reduce_scatter_base|all_?gather_into_tensor$", re.IGNORECASE)
#: of a line in torch, or in a package that calls it: not where the program called
_LIBRARY = lazy_pattern(r"(?:^|/)(?:site-packages|dist-packages|torch)/")


class DumpError(ErrorWithReason):
    """A file cannot be read as a dump; the reason goes on after the name of the file."""


class DumpedGroup(msgspec.Struct, frozen=True, array_like=True):
    """A process group as a rank names it.

    ranks     its members, in the order of their ranks within the group
    enqueued  number of the last collective that the rank queued; None: unknown
    finished  number of the last one that the rank saw finished; None: unknown
    """

    name: str
    description: str
    ranks: tuple[int, ...]
    enqueued: int | None = None
    finished: int | None = None


class DumpedCall(msgspec.Struct, frozen=True, array_like=True):
    """A collective or one side of a transfer.

    record     place in the order of the rank's calls
    group      name of the process group
    number     of the collective in its group, equal on all its ranks
    operator   without the backend: "all_reduce", "send 0->3"
    elements   of inputs and of outputs together; -1 where ranks may differ
    dtypes     of inputs and outputs
    line       "train.py:88", where the program called; "" if no stack was recorded
    """

    record: int
    group: str
    number: int
    operator: str
    elements: tuple[int, int]
    dtypes: str
    is_transfer: bool
    is_finished: bool
    line: str


class Dump(msgspec.Struct, frozen=True):
    """What a diagnosis needs of one rank.

    calls          all unfinished ones, and of each group the last finished ones, in the order of the rank
    last_numbers   by group the greatest number of a recorded collective
    last_finished  by group the greatest number of a recorded collective that has finished
    transfers      groups with recorded sends and receives
    last_line      of the last call of all
    """

    version: str
    groups: list[DumpedGroup]
    calls: list[DumpedCall]
    last_numbers: dict[str, int]
    last_finished: dict[str, int]
    transfers: list[str]
    last_line: str


def read_dump(content: bytes) -> Dump:
    """Read a dump from the bytes of its file. Raises DumpError; MemoryError passes."""
    root = _root(content)
    if not isinstance(root, dict) or not {"version", "entries"} <= set(root):
        raise DumpError(because("no_dump"))
    version = _text(root["version"])
    if version.split(".")[0] != "2":
        raise DumpError(because("dump_version", {"version": version}))
    listed = root["entries"] if isinstance(root["entries"], list) else [None]
    entries = [entry for entry in listed if isinstance(entry, dict)]
    if listed and not entries:
        raise DumpError(because("no_dump"))
    groups = _groups(root, entries)
    marks = _without_parts(sorted(map(_mark, entries), key=lambda mark: mark.record))
    collectives = [mark for mark in marks if not mark.is_transfer]
    return Dump(
        version,
        groups,
        [_call(mark) for mark in _kept(marks)],
        _greatest(collectives),
        _greatest([mark for mark in collectives if mark.is_finished]),
        sorted({mark.group for mark in marks if mark.is_transfer}),
        _line(marks[-1].entry.get("frames")) if marks else "",
    )


def _root(content: bytes) -> Any:
    if content[:1] == b"\x80":
        try:
            # buffered, as the unpickler reads single bytes of files that cannot be peeked into
            return PlainUnpickler(io.BufferedReader(io.BytesIO(content))).load()
        except NotPlain as error:
            raise DumpError(because("no_dump", {"names": str(error)})) from None
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - a damaged pickle raises whatever its values make of it
            raise DumpError(because("dump_damaged", {"error": str(error)[:_LONGEST_TEXT]})) from None
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if content.lstrip()[:1] != b"{":
            raise DumpError(because("no_dump")) from None
        raise DumpError(because("dump_damaged", {"error": str(error)[:_LONGEST_TEXT]})) from None


def _groups(root: Mapping[str, Any], entries: Iterable[Mapping[str, Any]]) -> list[DumpedGroup]:
    """Read the groups of a dump, with how far the rank came where the dump says it.

    `pg_status` has ids where `pg_config` has names. Both are in one order; the entries, which have both, must agree, or
    the status is not used: there are writers that put all groups under one id.
    """
    config = root.get("pg_config")
    config = config if isinstance(config, dict) else {}
    status = root.get("pg_status")
    status = status if isinstance(status, dict) else {}
    status = {_text(key): value for key, value in status.items()}
    known = {_text(entry.get("pg_id")): _name_of(entry)[0] for entry in entries}
    names = dict(zip(status, map(_text, config), strict=False)) if len(status) == len(config) else {}
    if any(names.get(number, name) != name for number, name in known.items() if number in status):
        names = {}
    reached = {name: status[number] for number, name in names.items() if isinstance(status[number], dict)}
    groups = []
    for key, value in config.items():
        about = value if isinstance(value, dict) else {}
        counts = reached.get(_text(key), {})
        groups.append(
            DumpedGroup(
                _text(key),
                _text(about.get("desc")),
                _ranks(about.get("ranks")),
                _number(counts.get("last_enqueued_collective"), None),
                _number(counts.get("last_completed_collective"), None),
            )
        )
    return groups


class _Mark(NamedTuple):
    """What decides whether an entry is kept; the rest of it is read of those alone."""

    record: int
    group: str
    number: int
    operator: str
    is_transfer: bool
    is_finished: bool
    entry: Mapping[str, Any]


def _mark(entry: Mapping[str, Any]) -> _Mark:
    profiling_name = _text(entry.get("profiling_name"))
    operator = profiling_name.partition(":")[2] or profiling_name
    return _Mark(
        _number(entry.get("record_id"), -1),
        _name_of(entry)[0],
        _number(entry.get("collective_seq_id"), -1),
        operator,
        bool(entry.get("is_p2p")) or operator.startswith(("send ", "recv ")),
        # a call that timed out is retired, too: only the state says that it has finished
        entry.get("state") == "completed",
        entry,
    )


def _call(mark: _Mark) -> DumpedCall:
    entry = mark.entry
    uneven = _UNEVEN.search(mark.operator) and not _EVEN.search(mark.operator)
    return DumpedCall(
        mark.record,
        mark.group,
        mark.number,
        mark.operator,
        (-1, -1) if uneven else (_elements(entry.get("input_sizes")), _elements(entry.get("output_sizes"))),
        " → ".join(_dtypes(entry.get(key)) for key in ("input_dtypes", "output_dtypes")),
        mark.is_transfer,
        mark.is_finished,
        _line(entry.get("frames")),
    )


def _without_parts(calls: list[_Mark]) -> list[_Mark]:
    """Leave out the parts of coalesced calls that have finished, as only the whole is ever seen to finish."""
    ended = {(call.group, call.number) for call in calls if call.operator == "coalesced" and call.is_finished}
    if not ended:
        return calls
    return [call for call in calls if call.operator == "coalesced" or (call.group, call.number) not in ended]


def _kept(calls: Sequence[_Mark]) -> list[_Mark]:
    finished: dict[str, int] = {}
    kept = []
    for call in reversed(calls):
        if call.is_finished:
            finished[call.group] = finished.get(call.group, 0) + 1
        if not call.is_finished or finished[call.group] <= KEPT_FINISHED:
            kept.append(call)
    return kept[::-1]


def _greatest(calls: Iterable[_Mark]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for call in calls:
        numbers[call.group] = max(call.number, numbers.get(call.group, -1))
    return numbers


def _name_of(entry: Mapping[str, Any]) -> tuple[str, str]:
    """Name and description of the group of an entry."""
    pair = entry.get("process_group")
    if isinstance(pair, list | tuple) and len(pair) == 2:
        return _text(pair[0]), _text(pair[1])
    return "", ""


def _ranks(value: Any) -> tuple[int, ...]:
    """Ranks from "[0, 1, 4]" or a list."""
    numbers = re.findall(r"[0-9]{1,9}", value) if isinstance(value, str) else value
    if not isinstance(numbers, list):
        return ()
    known = (
        int(number) if isinstance(number, str) and number.isdecimal() else number for number in numbers[:_MOST_RANKS]
    )
    return tuple(rank for rank in (_number(each, None) for each in known) if rank is not None)


def _elements(sizes: Any) -> int:
    """Count the elements of tensors of these sizes; -1 where the sizes are unknown."""
    try:
        return int(_number(sum(math.prod(size) for size in sizes), -1))
    except (OverflowError, TypeError, ValueError):
        return -1


def _dtypes(names: Any) -> str:
    return ", ".join(map(_text, names)) if isinstance(names, list | tuple) else ""


def _line(frames: Any) -> str:
    """Find the innermost line outside of torch; else the innermost of all."""
    if not isinstance(frames, list):
        return ""
    lines = [
        (_text(frame.get("filename")), _number(frame.get("line"), 0)) for frame in frames if isinstance(frame, dict)
    ]
    own = [line for line in lines if not _LIBRARY.search(line[0].replace("\\", "/"))]
    return next((f"{name}:{line}" for name, line in own or lines), "")


def _text(value: Any) -> str:
    if isinstance(value, str):
        text = value[:_LONGEST_TEXT]
        # a pickle may hold halves of characters, which no message can
        return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
    number = _number(value, None)
    return "" if number is None else str(number)


def _number(value: Any, default: Any) -> Any:
    """Return an integer of 64 bits as it is; the default for all else, and for -1, which stands for unknown."""
    is_number = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63
    return value if is_number else default
