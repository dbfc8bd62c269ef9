"""Turns simulated events into trace files, or into the dictionary a JSON reader would return."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TextIO

from .config import Config
from .devices import DEVICES
from .expected import Expected
from .machine import BASE_NS, START_NS, Event
from .training import simulate

LEGACY_CATEGORIES = {
    "cpu_op": "Operator",
    "user_annotation": "Operator",
    "cuda_runtime": "Runtime",
    "kernel": "Kernel",
    "gpu_memcpy": "Memcpy",
    "gpu_memset": "Memset",
    "ac2g": "async",
}
text_of = lru_cache(maxsize=1000)(json.dumps)


def header(config: Config, rank: int) -> dict[str, Any]:
    device = DEVICES[config.device]
    top: dict[str, Any] = {
        "schemaVersion": 1,
        "deviceProperties": [device.properties(index) for index in range(config.gpus or config.ranks)],
    }
    if config.ranks > 1:
        top["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": config.ranks}
    if config.legacy:
        return top
    versions = (
        {"hip_runtime_version": 70051831}
        if device.is_rocm
        else {"cuda_runtime_version": 13000, "cupti_version": 130000}
    )
    top |= {"trace_id": f"{config.seed:016X}{rank:016X}"} | versions
    flags = {
        "with_stack": config.stacks,
        "with_modules": config.stacks,
        "profile_memory": config.memory,
        "record_shapes": config.shapes,
    }
    top |= {flag: 1 for flag, on in flags.items() if on}
    if config.ranks > 1:
        members = list(range(config.ranks))
        group = {
            "pg_name": "0",
            "pg_desc": "default_pg",
            "backend_config": "cuda:nccl",
            "pg_size": config.ranks,
            "ranks": members,
        }
        top["distributedInfo"] |= {"pg_count": 1, "pg_config": [group], "nccl_version": "2.27.5"}
    return top | {"host_name": "node0", "displayTimeUnit": "ms", "baseTimeNanoseconds": BASE_NS}


def as_dict(event: Event, legacy: bool) -> dict[str, Any]:
    """The event as in the file, with times as Python numbers."""
    ph, cat, name, pid, tid, ts, dur, args, identity = event
    if legacy:
        return as_legacy_dict(event)
    item: dict[str, Any] = {"ph": ph}
    if identity is not None:
        item |= {"id": identity, "pid": pid, "tid": tid, "ts": ts / 1000, "cat": cat, "name": name}
        return item | ({"bp": "e"} if ph == "f" else {})
    if cat:
        item["cat"] = cat
    if ph == "i":
        item["s"] = "t" if cat else "g"
    item |= {"name": name, "pid": pid, "tid": tid, "ts": ts / 1000}
    if dur is not None:
        item["dur"] = dur / 1000
    if args is not None:
        item["args"] = args
    return item


def as_legacy_dict(event: Event) -> dict[str, Any]:
    item = as_dict(event._replace(ts=event.ts + BASE_NS), legacy=False)
    item["ts"] = (event.ts + BASE_NS) // 1000
    if "dur" in item:
        item["dur"] = int(item["dur"])
    if event.cat == "cpu_instant_event":
        kept = ("Device Type", "Device Id", "Bytes")
        return {key: value for key, value in item.items() if key != "cat"} | {
            "args": {key: item["args"][key] for key in kept}
        }
    if event.cat in LEGACY_CATEGORIES:
        item["cat"] = LEGACY_CATEGORIES[event.cat]
    if event.cat == "ac2g":
        item["name"] = "launch"
    if event.ph == "X" and event.cat in ("kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime"):
        item["args"] = (
            {("external id" if key == "External id" else key): value for key, value in event.args.items()}
            if event.args
            else {}
        )
    if event.ph == "X" and event.cat in ("cpu_op", "user_annotation", "cuda_runtime"):
        item["tid"] = str(event.tid)
    on_stream = event.cat in ("kernel", "gpu_memcpy", "gpu_memset") or (event.cat == "ac2g" and event.ph == "f")
    if on_stream or (event.ph == "M" and str((event.args or {}).get("name", "")).startswith("stream ")):
        item["tid"] = f"stream {event.tid}"
    return item


def as_text(event: Event, style: str, legacy: bool) -> str:
    item = as_dict(event, legacy)
    parts = []
    for key, value in item.items():
        if key in ("ts", "dur") and not legacy:
            nanoseconds = event.ts if key == "ts" else event.dur or 0
            text = f"{nanoseconds // 1000}.{nanoseconds % 1000:03d}"
        else:
            text = json.dumps(value) if isinstance(value, dict) else text_of(value)
        parts.append((key, text))
    if style == "lines":
        return "{" + ", ".join(f'"{key}": {text}' for key, text in parts) + "}"
    body = ",\n".join(f'    "{key}": {text}' for key, text in parts if key != "args")
    if event.args is not None and "args" in item:
        body += '\n    ,\n    "args": {\n      ' + parts[-1][1][1:-1] + "\n    }"
    return "  {\n" + body + "\n  }"


def file_name(config: Config, rank: int) -> str:
    stamp = BASE_NS + START_NS + rank * 1_234_567
    worker = f"{'rank' if config.ranks > 1 else 'worker'}{rank}"
    return f"{worker}.{stamp // 1_000_000 if config.legacy else stamp}.pt.trace.json"


class TraceFile:
    """One rank's file, written piece by piece."""

    def __init__(self, output: TextIO, config: Config, rank: int, style: str) -> None:
        self.output, self.config, self.style, self.rank = output, config, style, rank
        top = json.dumps(header(config, rank), indent=2 if style == "torch213" else None)
        self.output.write(top.rstrip().removesuffix("}").rstrip() + ',\n"traceEvents": [\n')
        self.empty = True

    def add(self, events: Iterable[Event]) -> None:
        text = ",\n".join(as_text(event, self.style, self.config.legacy) for event in events)
        self.output.write(text if self.empty else ",\n" + text)
        self.empty = False

    def finish(self) -> None:
        self.output.write(f'\n  ],"traceName": "{file_name(self.config, self.rank)}" }}')


def sized(config: Config) -> Config:
    """The configuration with ``steps`` chosen to come near to ``events``."""
    if not config.events:
        return config
    probe = replace(config, events=0, steps=2)
    first, second, last = (len(batch[0]) for batch in simulate(probe, keep=False))
    return replace(config, events=0, steps=max(1, 1 + round((config.events - first - last) / second)))


def rounds(config: Config, keep: bool, truths: list[Expected]) -> Iterator[list[list[Event]]]:
    truths.extend((yield from simulate(config, keep)))


def write_run(config: Config, folder: Path, style: str = "torch213", compress: bool = True) -> list[Expected]:
    """Write one file per rank, holding one step of each in memory. Returns the sums of the truth."""
    config = sized(config)
    folder.mkdir(parents=True, exist_ok=True)
    truths: list[Expected] = []
    with ExitStack() as stack:
        files = []
        for rank in range(config.ranks):
            path = folder / (file_name(config, rank) + (".gz" if compress else ""))
            binary: Any = stack.enter_context(path.open("wb"))
            if compress:
                binary = stack.enter_context(gzip.GzipFile("", "wb", 6, binary, mtime=0))
            output = stack.enter_context(io.TextIOWrapper(binary, encoding="utf-8", write_through=False))
            files.append(TraceFile(output, config, rank, style))
        for batches in rounds(config, False, truths):
            for file, events in zip(files, batches, strict=True):
                file.add(events)
        for file in files:
            file.finish()
    return truths


def generate_ranks(config: Config) -> list[tuple[dict[str, Any], Expected]]:
    """The traces of all ranks as dictionaries, each with its full truth."""
    config = sized(config)
    truths: list[Expected] = []
    collected: list[list[dict[str, Any]]] = [[] for _ in range(config.ranks)]
    for batches in rounds(config, True, truths):
        for events, batch in zip(collected, batches, strict=True):
            events.extend(as_dict(event, config.legacy) for event in batch)
    traces = [
        header(config, rank) | {"traceEvents": events, "traceName": file_name(config, rank)}
        for rank, events in enumerate(collected)
    ]
    return list(zip(traces, truths, strict=True))


def generate(config: Config | None = None, rank: int = 0) -> tuple[dict[str, Any], Expected]:
    """One rank's trace as a dictionary, with its full truth."""
    return generate_ranks(config or Config())[rank]
