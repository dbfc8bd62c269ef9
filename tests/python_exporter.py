"""Any trace in the words of torch's exporter in Python: `as_python_exporter(document)`."""

from __future__ import annotations

import copy
import re
from typing import Any

Event = dict[str, Any]

_COPY = re.compile(r"Memcpy (\w+) \(([\w ]+) -> ([\w ]+)\)")
_FILL = re.compile(r"Memset \(([\w ]+)\)")
#: CUpti_ActivityMemoryKind, by number
_MEMORIES = ("Unknown", "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static")
_LEFT_OUT = (
    *("External id", "blocks per SM", "warps per SM", "est. achieved occupancy %", "occupancy"),
    "memory bandwidth (GB/s)",
)
_OF_COPIES, _OF_FILLS = {"gpu_memcpy", "memcpy"}, {"gpu_memset", "memset"}


def as_python_exporter(document: dict[str, Any]) -> dict[str, Any]:
    """The same recording as the other exporter writes it. Copies of recordings of CUDA alone have such names."""
    return {**document, "traceEvents": [_rewritten(event) for event in document["traceEvents"]]}


def _rewritten(event: Event) -> Event:
    category = str(event.get("cat")).lower()
    if category not in {"kernel", *_OF_COPIES, *_OF_FILLS}:
        return event
    event = copy.deepcopy(event)
    args = event.setdefault("args", {})
    for key in _LEFT_OUT:
        args.pop(key, None)
    if category in _OF_COPIES and (copied := _COPY.fullmatch(event["name"])):
        source, target = (kind.lower().replace(" ", "_") for kind in copied.groups()[1:])
        event["name"] = "Memcpy"
        args |= {"copy kind": copied[1], "src kind": source, "dst kind": target}
    elif category in _OF_FILLS and (filled := _FILL.fullmatch(event["name"])):
        event["name"] = "Memset"
        args["memory kind"] = _MEMORIES.index(filled[1])
    return event
