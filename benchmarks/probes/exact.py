"""Every column of traces against json.loads, by the checks of the tests: exact.py ROOT FILE..."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

from own import say


def main() -> None:
    root, *paths = sys.argv[1:]
    sys.path.insert(0, root)
    from tests.unit.test_reader import check_arguments, check_events
    from torch_tb_profiler.trace import read_trace

    wrong, events = [], 0
    for path in map(Path, paths):
        content = path.read_bytes()
        raw = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)["traceEvents"]
        with path.open("rb") as stream:
            trace = read_trace(stream)
        try:
            check_events(trace, raw)
            check_arguments(trace, raw)
        except AssertionError as error:
            wrong.append(f"{path.name}: {error!s:.200}")
        events += len(raw)
    say(files=len(paths), events=events, wrong=wrong)


if __name__ == "__main__":
    main()
