"""The hostile inputs of B10: one clean trace, damaged in the ways that occur, and the events that must survive."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Damaged:
    """One file.

    least: events that the file holds whole; `noted`: whether something must be reported
    """

    name: str
    content: bytes
    least: int
    noted: bool


def damaged(text: str) -> Iterator[Damaged]:
    """`text`: a trace as torch writes it."""
    trace = json.loads(text)
    events = trace["traceEvents"]
    count = len(events)
    middle = text.index("\n  },\n", len(text) // 2) + 6

    def changed(name: str, new: str | bytes, less: int = 0, noted: bool = True) -> Damaged:
        return Damaged(name, new if isinstance(new, bytes) else new.encode(), count - less, noted)

    yield changed("one line", json.dumps(trace, separators=(",", ":")), noted=False)
    yield changed("json.dumps", json.dumps(trace), noted=False)
    yield changed("bare list", json.dumps(events), noted=False)
    yield changed("indented by 2", json.dumps(trace, indent=2), noted=False)
    yield changed("names with },{", text.replace('"name": "aten::', '"name": "},{aten::'), noted=False)
    yield changed("tid as text", re.sub(r'"tid": (\d+)', r'"tid": "stream \1"', text), noted=False)
    yield changed("times as text", re.sub(r'"(ts|dur)": ([\d.]+)', r'"\1": "\2"', text), noted=False)
    yield changed("one control character", _in_a_name(text, middle, "\x01"))
    yield changed("one lone backslash", _in_a_name(text, middle, "\\q"))
    yield changed("one bad byte", _in_a_name(text, middle, "\ue000").encode().replace("\ue000".encode(), b"\xff"))
    yield changed("trailing comma", "\n  ,],".join(text.rsplit("\n  ],", 1)))
    yield changed("one broken number", text[:middle] + text[middle:].replace('"ts": ', '"ts": 1x', 1), less=1)
    yield changed("NaN in every kernel", re.sub(r'("est. achieved occupancy %": )[\d.]+', r"\1NaN", text))
    yield changed("bare N/A in every kernel", re.sub(r'("est. achieved occupancy %": )[\d.]+', r"\1N/A", text))
    cut = text[: middle + 20]
    yield Damaged("cut in the middle", cut.encode(), cut.count("\n  },\n"), True)
    packed = gzip.compress(text.encode(), 6, mtime=0)
    kept = _whole_text(packed[: len(packed) // 2])
    yield Damaged("gzip cut in the middle", packed[: len(packed) // 2], kept.count(b"\n  },\n"), True)


def _in_a_name(text: str, start: int, what: str) -> str:
    at = text.index('"name": "', start) + 9
    return text[:at] + what + text[at:]


def _whole_text(packed: bytes) -> bytes:
    import zlib

    return zlib.decompressobj(31).decompress(packed)


def write_damaged(directory: Path, source: Path, done: Callable[[Damaged, Path], None]) -> None:
    """One file after the other, each removed again when it is done with."""
    directory.mkdir(parents=True, exist_ok=True)
    for item in damaged(gzip.decompress(source.read_bytes()).decode()):
        path = directory / "trace.json"
        path.write_bytes(item.content)
        done(item, path)
        path.unlink()
