"""The floors: the least that reading a trace can cost.

    python floor.py L FILE...   isal streaming gunzip, and simdjson over event-aligned chunks of 256 KB; nothing is kept
    python floor.py J FILE...   json.loads of the whole text with the collector off; gunzip is not counted

L needs pysimdjson and isal, J the standard library.
"""

from __future__ import annotations

import gc
import gzip
import json
import sys
from pathlib import Path

from own import cpu, peak, say

CHUNK = 256 * 1024
EVENT_END = b"\n  },"  # as torch and tests.tracegen write it: keys of an event are indented further


def limit(paths: list[str]) -> dict[str, object]:
    import simdjson
    from isal import igzip

    parser = simdjson.Parser()
    began, text, events = cpu(), 0, 0
    for path in paths:
        with igzip.open(path) as stream:
            rest = b""
            inside = False
            while block := stream.read(CHUNK):
                text += len(block)
                rest += block
                if not inside:
                    at = rest.find(b'"traceEvents": [')
                    if at < 0:
                        continue
                    rest, inside = rest[at + 16 :], True
                end = rest.rfind(EVENT_END)
                if end < 0:
                    continue
                events += len(parser.parse(b"[" + rest[: end + 4] + b"]"))
                rest = rest[end + 5 :]
            events += len(parser.parse(b"[" + rest[: rest.rfind(b"]")] + b"]"))
    return {"cpu": cpu() - began, "text": text, "events": events}


def loads(paths: list[str]) -> dict[str, object]:
    gc.disable()
    seconds, text, events = 0.0, 0, 0
    for path in paths:
        content = gzip.decompress(Path(path).read_bytes())
        began = cpu()
        events += len(json.loads(content)["traceEvents"])
        seconds += cpu() - began
        text += len(content)
    return {"cpu": seconds, "text": text, "events": events}


if __name__ == "__main__":
    say(**{"L": limit, "J": loads}[sys.argv[1]](sys.argv[2:]), peak=peak())
