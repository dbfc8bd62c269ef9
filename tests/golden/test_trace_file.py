"""What /trace serves against the recorded digests of what the old plugin served."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.golden.peer import GOLDENS, LOGDIRS, model_of, trace_file
from torch_tb_profiler.analysis.device_use import utilization_counters
from torch_tb_profiler.trace.excerpts import examine, with_events
from torch_tb_profiler.web.trace_file import counter_events

pytestmark = pytest.mark.skipif(
    not GOLDENS.is_dir(), reason=f"the recorded answers of the old plugin are not at {GOLDENS}"
)

EFFICIENCY = "Est. SM Efficiency"


def served(path: Path) -> Any:
    model = model_of(path)
    added = counter_events(utilization_counters(model), model.trace.origin_ns - (model.trace.header.base_time_ns or 0))
    with path.open("rb") as stream:
        whole = examine(stream).whole
        stream.seek(0)
        return json.loads(b"".join(with_events(stream, added, whole)))


def digest(document: Any) -> dict[str, Any]:
    """As `record.py` beside the repository writes it, without the counters' names of phases."""
    events = document["traceEvents"]
    counted = [e for e in events if e.get("ph") == "C"]
    others = [e for e in events if e.get("ph") != "C"]
    totals: dict[str, Any] = {}
    for event in counted:
        entry = totals.setdefault(event["name"], {"points": 0, "sums": {}})
        entry["points"] += 1
        for name, value in event["args"].items():
            entry["sums"][name] = round(entry["sums"].get(name, 0) + value, 6)
    hashes = sorted(hashlib.sha256(json.dumps(e, sort_keys=True).encode()).digest() for e in others)
    return {
        "counters": totals,
        "by_category": dict(Counter(str(e.get("cat")) for e in others)),
        "metadata_keys": sorted(k for k in document if k != "traceEvents"),
        "sha256_without_counters": hashlib.sha256(b"".join(hashes)).hexdigest(),
    }


@pytest.mark.parametrize("recording", LOGDIRS)
def test_the_files_are_those_of_the_old_plugin(recording: str) -> None:
    folder = GOLDENS / recording
    entries = [e for e in json.loads((folder / "index.json").read_text())["entries"] if e["route"] == "/trace"]
    assert entries
    residues = 0
    for entry in entries:
        path = trace_file(recording, entry["params"])
        assert path is not None
        theirs = json.loads((folder / entry["file"]).read_text())["body"]
        ours = digest(served(path))
        for name, totals in theirs["counters"].items():
            # `counter-residues` of docs/differences.md: segments of nothing, which add nothing to the sum
            more = totals["points"] - ours["counters"][name]["points"] if name.endswith(EFFICIENCY) else 0
            assert more >= 0
            assert more % 2 == 0
            residues += more // 2
            totals["points"] -= more
        assert ours == {key: theirs[key] for key in ours}, entry["params"]
    assert (residues > 0) is (recording != "torch213")


def test_the_difference_is_documented(repository: Path) -> None:
    assert "`counter-residues`" in (repository / "docs" / "differences.md").read_text()
