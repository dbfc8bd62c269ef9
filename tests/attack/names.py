"""Names that nobody would give: texts that are markup, code, formulas, keys of objects, or hardly to be seen.

`write_names(logs)` writes runs in which everything that has a name has each of them: operators, kernels, frames,
modules, annotations, threads, processes, devices, process groups, counters, values of the header, folders and files.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tests import events
from tests.events import Event
from tests.linked import trace_of as linked_trace
from tests.snapshots import Allocator, MiB, dumped, stack

#: what stands in place of a name 100 kB long
LONG = "long_" + "x" * 100_000

NAMES: tuple[str, ...] = (
    # keys of every object, and of ours
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "valueOf",
    "__defineGetter__",
    "then",
    "length",
    "name",
    "total_ns",
    "_rest",
    "kernel",
    "all",
    "other",
    # markup and code
    '<img src=stolen onerror="alert(1)">',
    "</script><script>alert(2)</script>",
    "<!--<script>",
    "javascript:alert(3)",
    "\"'`",
    "${alert(4)}{{7*7}}#{1}",
    "%s %d %n %(x)s {0} {name}",
    "&lt;b&gt;&amp;&#x41;",
    "$& $1 $' $` \\1",
    # addresses
    "a#b&c=d?e/f%g+h",
    "%00%2e%2F%",
    "k=v&sel=op:x#v=kernels",
    "a~b,c:d;e|f",
    # what a spreadsheet runs
    "=cmd|'/c calc'!A1",
    "+1-2",
    "@SUM(A1)",
    "\uff1d1",
    # another direction
    "abc\u202e321cba",
    "\u2066isolated",
    "\u05e9\u05dc\u05d5\u05dd 12 \u05e2\u05d5\u05dc\u05dd",
    "\u0645\u0631\u062d\u0628\u0627",
    "\u200fRLM",
    # not to be seen
    "zero\u200bwidth",
    "zerowidth",
    "\u200b",
    " ",
    "",
    "trailing ",
    "trailing",
    "\ufeffbom",
    "soft\u00adhyphen",
    "nbsp\u00a0here",
    "nbsp here",
    "\U000e0041tag",
    # control characters
    "nul\x00here",
    "line\nbreak",
    "tab\there",
    "carriage\rreturn",
    "line\u2028separator\u2029",
    "\x1b[31mred\x1b[0m\x1b]0;title\x07",
    "\x9b31mc1",
    "bell\x07\x08back\x7fdel",
    # not quite characters
    "lone\ud800high",
    "\udfffow",
    "replaced\ufffd",
    "\uffff\ufffe",
    # alike
    "Name",
    "NAME",
    "\uff4eame",
    "caf\u00e9",
    "cafe\u0301",
    "z" + "\u0300\u0316\u0334" * 40 + "algo",
    "\U0001f469\u200d\U0001f4bb\U0001f1e9\U0001f1ea",
    "\u77e9\u9635\u4e58\u6cd5",
    "\u0130\u0131\u00df",
    # values
    "null",
    "undefined",
    "NaN",
    "Infinity",
    "-0",
    "0",
    "1e999",
    "true",
    "12,345.6",
    LONG,
)


def trace_of_names(names: tuple[str, ...] = NAMES, rank: int | None = None, steps: int = 2) -> dict[str, Any]:
    """In each step, an operator, a kernel, a frame, a module, an annotation … of each name."""
    found: list[Event] = []
    at, correlation = 0.0, 0
    for step in range(steps):
        start = at
        for number, name in enumerate(names):
            correlation += 1
            tid = 1 + number % 3
            found += [
                events.annotation(name, at, 80, tid),
                events.frame(f"{name}.py({number + 1}): {name}", at + 1, 78, tid),
                events.frame(f"nn.Module: {name}_0", at + 2, 76, tid),
                events.op(
                    name,
                    at + 3,
                    70,
                    tid,
                    **{"Input Dims": [[2, 2], name], "Input type": [name], "External id": correlation},
                ),
                events.memory(at + 5, 512, number + 1, 512, 1024, tid=tid),
                events.launch(at + 10, correlation, tid=tid),
                events.kernel(
                    at + 20, 40 + number, correlation, name, **{"stream": 7 + number % 3, "External id": correlation}
                ),
                {"ph": "C", "name": name, "pid": 1, "tid": 1, "ts": at + 12, "args": {name: number, "b": 1}},
                {"ph": "i", "s": "t", "cat": name, "name": name, "pid": 1, "tid": tid, "ts": at + 13, "args": {}},
                {**events.event(name, name, at + 14, 2, tid), "args": {name: {name: name}}},
                events.memory(at + 60, -512, number + 1, 0, 1024, tid=tid),
            ]
            if number % 4 == 0:
                correlation += 1
                found += [
                    events.launch(at + 15, correlation, tid=tid),
                    events.all_reduce(
                        at + 150,
                        30,
                        correlation,
                        **{"Process Group Name": name, "Process Group Description": name, "stream": 20},
                    ),
                ]
            if number % 7 == 0:
                correlation += 1
                found += [
                    events.launch(at + 26, correlation, tid=tid),
                    {**events.copy(at + 190, 5, correlation, bytes=64), "name": f"Memcpy {name}"},
                ]
            at += 250
        found.append(events.annotation(f"ProfilerStep#{step + 1}", start, at - start))
        found += [
            {
                **events.annotation(f"ProfilerStep#{step + 1}", start, at - start, 7),
                "cat": "gpu_user_annotation",
                "pid": 0,
            }
        ]
        at += 50
    for tid in (1, 2, 3):
        name = names[(tid * 11) % len(names)]
        found.append({"ph": "M", "name": "thread_name", "pid": 1, "tid": tid, "ts": 0, "args": {"name": name}})
    found.append(
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "ts": 0, "args": {"name": names[31 % len(names)]}}
    )
    found += [
        {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 0, "args": {"name": names[14 % len(names)]}},
        {"ph": "M", "name": "process_labels", "pid": 1, "tid": 0, "ts": 0, "args": {"labels": "CPU"}},
        {"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "ts": 0, "args": {"name": names[31 % len(names)]}},
        {"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "ts": 0, "args": {"labels": "GPU 0"}},
    ]
    hostile = names[14 % len(names)]
    header: dict[str, Any] = {
        "schemaVersion": 1,
        "deviceProperties": [
            {
                "id": 0,
                "name": f"NVIDIA H100 {names[31 % len(names)]}",
                "totalGlobalMem": 2**36,
                "computeMajor": 9,
                "computeMinor": 0,
            }
        ],
        "host_name": hostile,
        "traceName": hostile,
        "cuda_runtime_version": hostile,
        "with_stack": 1,
        "record_shapes": 1,
        "profile_memory": 1,
        **{name: name for name in names if len(name) < 1000},
    }
    if rank is not None:
        header["distributedInfo"] = {
            "backend": hostile,
            "rank": rank,
            "world_size": 2,
            "pg_config": [
                {"pg_name": name, "pg_desc": name, "backend_config": name, "pg_size": 2, "ranks": [0, 1]}
                for name in names[::4]
            ],
        }
    return {**header, "traceEvents": found}


def file_names(names: tuple[str, ...] = NAMES) -> list[bytes]:
    """Those that a folder may have, and some that are no UTF-8."""
    found = [name.encode("utf-8", "surrogatepass") for name in names]
    found += [b"latin\xe9", b"\xff\xfe", b"..hidden", b"-rf", b"~"]
    return [name for name in dict.fromkeys(found) if 0 < len(name) < 200 and not set(name) & {0, 47} and name != b"."]


def write_names(logs: Path) -> None:
    """Write runs `names` of two ranks, `other` and `snapshot` of one, and a small one for each name of a folder."""
    for rank in (0, 1):
        _write(logs / "names" / f"rank{rank}.pt.trace.json", trace_of_names(rank=rank))
    _write(logs / "other" / "rank0.pt.trace.json", trace_of_names(NAMES[::2], steps=3))
    allocator = snapshot_of_names()
    _write(logs / "snapshot" / "rank0.pt.trace.json", linked_trace(allocator))
    (logs / "snapshot" / "rank0.pickle").write_bytes(dumped(allocator.snapshot()))
    small = json.dumps(trace_of_names(NAMES[:3])).encode()
    for name in file_names():
        folder = logs / os.fsdecode(name)
        folder.mkdir(exist_ok=True)
        (folder / f"{os.fsdecode(name)}.pt.trace.json").write_bytes(small)


def snapshot_of_names(names: tuple[str, ...] = NAMES) -> Allocator:
    allocator = Allocator(capacity=768 * MiB)
    held = []
    for name in names:
        address = allocator.malloc(2 * MiB, stack(name, "forward", "main"), meta=name)
        assert address is not None
        held.append(address)
        allocator.note(name)
    for address in held[::2]:
        allocator.free(address, stack("main"))
    return allocator


def _write(path: Path, document: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
