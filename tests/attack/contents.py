"""Trace files in which single values are replaced by hostile ones; all other events must be read unharmed."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from tests.attack.values import JSON, numbers_in
from tests.tracegen import Config, generate
from torch_tb_profiler.trace import Trace, read_trace

BASES: tuple[Config, ...] = (
    Config(steps=2, layers=1),
    Config(steps=2, layers=1, ranks=2),
    Config(steps=2, layers=1, device="mi300x"),
    Config(steps=2, layers=1, legacy=True),
)

#: top-level keys of a file that a reader looks at
HEADER = (
    "schemaVersion",
    "deviceProperties",
    "distributedInfo",
    "host_name",
    "baseTimeNanoseconds",
    "displayTimeUnit",
    "trace_id",
    "with_stack",
    "record_shapes",
    "traceName",
    "cuda_runtime_version",
)
_MARK = "\ue000"


@dataclass(frozen=True)
class Hostile:
    """text      of the file
    untouched    numbers of events that are as they were, in the file as it was
    events       all events as they were
    changes      what was replaced: (event number or -1, key, JSON text)
    """

    text: bytes
    untouched: list[int]
    events: list[dict[str, Any]]
    changes: list[tuple[int, str, str]]


def hostile(seed: int, changes: int = 40) -> Hostile:
    """The file of a seed: always the same."""
    dice = random.Random(seed)
    base = BASES[seed % len(BASES)]
    document = json.loads(json.dumps(generate(base)[0]))
    events: list[dict[str, Any]] = document["traceEvents"]
    original = json.loads(json.dumps(events))
    kinds: dict[tuple[str, str], list[int]] = {}
    for number, event in enumerate(events):
        kinds.setdefault((str(event.get("ph")), str(event.get("cat"))), []).append(number)
    values: list[str] = []
    done: list[tuple[int, str, str]] = []

    def replaced(text: str) -> str:
        values.append(text)
        return f"{_MARK}{len(values) - 1}{_MARK}"

    for _ in range(changes):
        number = dice.choice(kinds[dice.choice(sorted(kinds))])
        event, text = events[number], dice.choice(JSON)
        places = [(event, key) for key in event]
        if isinstance(event.get("args"), dict):
            places += [(event["args"], key) for key in event["args"]] * 2
        place, key = dice.choice(places)
        place[key] = replaced(text)
        done.append((number, key, text))
    inside = list(numbers_in([document[key] for key in HEADER if isinstance(document.get(key), dict | list)]))
    for place, key in dice.sample(inside, min(2, len(inside))) if dice.random() < 0.5 else ():
        text = dice.choice(JSON)
        place[key] = replaced(text)
        done.append((-1, key, text))
    for key in dice.sample(HEADER, 2) if dice.random() < 0.5 else ():
        text = dice.choice(JSON)
        document[key] = replaced(text)
        done.append((-1, key, text))
    plain = json.dumps(document, indent=dice.choice((None, 1)), ensure_ascii=False)
    for number, text in enumerate(values):
        plain = plain.replace(f'"{_MARK}{number}{_MARK}"', text)
    touched = {number for number, _, _ in done}
    untouched = [number for number in range(len(original)) if number not in touched]
    return Hostile(plain.encode("utf-8"), untouched, original, done)


def harmed(of: Hostile) -> list[str]:
    """What became of events that nobody touched, if anything: all must be read, with their times to the nanosecond."""
    return lost(read_trace(BytesIO(of.text)), [of.events[number] for number in of.untouched])


def lost(trace: Trace, events: list[dict[str, Any]]) -> list[str]:
    """Of these events, as a trace file has them, those that the trace has not, or not so."""
    names = [trace.strings[code] for code in trace.events.name.tolist()]
    origin = int(trace.origin_ns) - (trace.header.base_time_ns or 0)
    starts = (start + origin for start in trace.events.start.tolist())
    have = Counter(zip(names, starts, trace.events.duration.tolist(), strict=True))
    found = []
    for event in events:
        if event["ph"] == "M":
            continue
        want = event["name"], round(event["ts"] * 1000), round(event["dur"] * 1000) if "dur" in event else -1
        if not have[want]:
            found.append(f"{want}")
        have[want] -= 1
    return found
