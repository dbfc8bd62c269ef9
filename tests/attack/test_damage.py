"""Damaged trace files: each event is as it was, or the file says that something is wrong with it."""

from __future__ import annotations

import gzip
import json
import random
from io import BytesIO

import numpy as np
import pytest
import zstandard

from tests.attack.contents import lost
from tests.attack.damage import DAMAGES, damaged
from tests.attack.ends import packed_ends
from tests.tracegen import Config, generate
from torch_tb_profiler.trace import Trace, TraceError, read_trace
from torch_tb_profiler.trace.excerpts import between, examine, picked, with_events

DOCUMENT = json.loads(json.dumps(generate(Config(steps=1, layers=1))[0]))
PACKED = {
    "lines": json.dumps(DOCUMENT, indent=1).encode(),
    "one line": json.dumps(DOCUMENT).encode(),
    "gzip": gzip.compress(json.dumps(DOCUMENT, indent=1).encode(), 6, mtime=0),
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress(json.dumps(DOCUMENT).encode()),
}
ENDS = packed_ends(PACKED["lines"])
#: damage that may change a value into another valid one, which no reader can know when there is no checksum
UNKNOWABLE = frozenset({"flip", "lost", "doubled", "noise"})


def complaint(packing: str, kind: str, seed: int) -> str | None:
    """What is wrong with what is said of a file damaged in this way; None when nothing is."""
    dice = random.Random(f"{packing} {kind} {seed}")
    content = PACKED[packing]
    changed = damaged(kind, dice, content)
    if changed == content:
        return None
    try:
        trace = read_trace(BytesIO(changed))
    except TraceError as error:
        return None if str(error) else "refused without a reason"
    if (unlike := sent_otherwise(trace, changed)) is not None:
        return f"{packing}, {kind}, seed {seed}: {unlike}"
    missing = lost(trace, DOCUMENT["traceEvents"])
    if not missing or len(trace.notes):
        return None
    plain = packing in ("lines", "one line")
    if plain and kind in UNKNOWABLE and len(missing) <= 80:
        # near the place something may be read otherwise than it was; the rest may not
        return None
    return f"{packing}, {kind}, seed {seed}: {len(missing)} events are gone, and nothing is said"


def sent_otherwise(trace: Trace, content: bytes) -> str | None:
    """Whether viewers are sent other events of a file than were read of it, and how many."""
    whole = examine(BytesIO(content)).whole
    every = np.ones(len(trace.events), np.bool_)
    sent = {
        "the file": with_events(BytesIO(content), (), whole),
        "its window": between(BytesIO(content), picked(trace, every)),
    }
    for what, pieces in sent.items():
        try:
            document = json.loads(b"".join(pieces))
        except (OSError, ValueError) as error:
            return f"{what} cannot be sent: {error}"
        events = document if isinstance(document, list) else document["traceEvents"]
        if len(events) != len(trace.events):
            return f"{len(trace.events)} events were read, {what} is sent with {len(events)}"
    return None


@pytest.mark.parametrize("packing", PACKED)
@pytest.mark.parametrize("kind", DAMAGES)
def test_told_or_unharmed(packing: str, kind: str) -> None:
    assert [found for seed in range(5) if (found := complaint(packing, kind, seed))] == []


@pytest.mark.parametrize("end", ENDS)
def test_whatever_stands_at_the_end(end: str) -> None:
    trace = read_trace(BytesIO(ENDS[end]))
    assert lost(trace, DOCUMENT["traceEvents"]) == []
    assert sent_otherwise(trace, ENDS[end]) is None


@pytest.mark.parametrize("byte", [0, 1, 11, 12, 31])
def test_a_wrong_byte_in_a_number_is_told(byte: int) -> None:
    """Between values it looks like a blank, but there is none that JSON has."""
    text = b'{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":23,"dur":1}]}'
    trace = read_trace(BytesIO(text.replace(b"23", bytes([byte]) + b"3")))
    (note,) = trace.notes
    assert (note.kind, note.count, note.first_offset) == ("control_characters", 1, text.index(b"23"))
