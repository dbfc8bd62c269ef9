"""A question that has no answer is refused in the same words every time, however long they are."""

from __future__ import annotations

from pathlib import Path

from tests.served import client_of, everything_read, get
from tests.tiny import write_trace_with_memory
from torch_tb_profiler.workspace.cache.answer_store import PACKED_FROM

LONG = "x" * (PACKED_FROM + 500)
OF_TRACE = "run=run&worker=w&span=1"


#: by question
REFUSALS = {
    f"/api/operators?{OF_TRACE}&from_step={LONG}&to_step={LONG}": f"there is no step {LONG!r}",
    f"/api/memory/alive?{OF_TRACE}&device={LONG}": f"no memory of {LONG!r} was recorded",
    f"/api/memory/events?{OF_TRACE}&device={LONG}": f"no memory of {LONG!r} was recorded",
    f"/api/memory/events?{OF_TRACE}&device={LONG}&limit=3": f"no memory of {LONG!r} was recorded",
}


def test_a_long_refusal(tmp_path: Path) -> None:
    write_trace_with_memory(tmp_path / "logs" / "run" / "w.1.pt.trace.json")
    for _ in range(2):  # the second server finds what the first has kept
        with everything_read(tmp_path / "logs", tmp_path / "cache", questions="") as workspace:
            for question, message in (*REFUSALS.items(), *REFUSALS.items()):
                assert get(client_of(workspace), question, 404)["error"] == message
