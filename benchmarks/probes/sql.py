"""SQL over a trace in a fresh interpreter: what tables and queries cost, beside numpy: sql.py FILE

Counted from when steps, call tree, launches and owners are known, as other questions have them by then.
"""

from __future__ import annotations

import sys

import numpy as np
from engine import prepared
from own import cpu, peak, say

from torch_tb_profiler.tables.sql.database import Database, TraceSource

GROUPED = "select name, count(*), sum(duration_ns) from events group by name order by 3 desc limit 20"
WINDOW = (
    "select max(start_ns - before) from "
    "(select start_ns, lag(start_ns) over (partition by track order by start_ns) before from events)"
)


def main(path: str) -> None:
    model = prepared(path)
    _ = model.owners
    before = peak()

    began = cpu()
    database = Database([TraceSource("run", "worker", "1", lambda question: question(model))])
    opened = cpu() - began

    began = cpu()
    for table in ("events", "kernels", "operators", "launches"):
        database.make("main", table)
    tables = cpu() - began

    def least(statement: str) -> float:
        found = []
        for _ in range(5):
            began = cpu()
            assert len(database.rows(statement))
            found.append(cpu() - began)
        return min(found)

    events = model.trace.events
    plain = []
    for _ in range(5):
        began = cpu()
        np.bincount(events.name, np.maximum(events.duration, 0))
        plain.append(cpu() - began)
    say(
        events=len(events),
        opened=opened,
        tables=tables,
        grouped=least(GROUPED),
        window=least(WINDOW),
        numpy=min(plain),
        more=peak() - before,
    )


if __name__ == "__main__":
    main(sys.argv[1])
