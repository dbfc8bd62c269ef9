"""What is damaged or missing in a memory snapshot is told wherever it is shown, also when it was read before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.served import client_of, everything_read, get
from tests.snapshots import dumped, random_run
from torch_tb_profiler import api
from torch_tb_profiler.cli import main

pytestmark = pytest.mark.slow

Snapshot = dict[str, Any]


def without_sizes(found: Snapshot) -> None:
    for each in found["segments"]:
        each["total_size"] = 2**63


def no_segment(found: Snapshot) -> None:
    found["segments"] += [None, [], "segment"]


def no_block(found: Snapshot) -> None:
    found["segments"][0]["blocks"] += [None, 7]


def damaged_record(found: Snapshot) -> None:
    found["device_traces"][0] += [{"action": "alloc"}, None]


def another_action(found: Snapshot) -> None:
    found["device_traces"][0][0]["action"] = "think"


DAMAGES: dict[Callable[[Snapshot], None], tuple[str, int]] = {
    without_sizes: ("snapshot_segments", 5),
    no_segment: ("snapshot_segments", 3),
    no_block: ("snapshot_blocks", 2),
    damaged_record: ("snapshot_dropped", 2),
    another_action: ("snapshot_action_think", 1),
}


def damaged(damage: Callable[[Snapshot], None]) -> bytes:
    found = random_run(1, steps=1, expandable=False).snapshot()
    damage(found)
    return dumped(found)


def test_damage_is_told_by_the_server(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for damage in DAMAGES:
        (logs / f"{damage.__name__}.pickle").write_bytes(damaged(damage))
    whole = dumped(random_run(1, steps=1).snapshot())
    (logs / "cut.pickle").write_bytes(whole[:-200])
    (logs / "whole.pickle").write_bytes(whole)
    expected = {damage.__name__: [told] for damage, told in DAMAGES.items()} | {"cut": [("truncated", 1)], "whole": []}
    for _ in range(2):  # read now, and before
        with everything_read(logs, tmp_path / "cache", 1) as workspace:
            client = client_of(workspace)
            for worker, told in expected.items():
                health = get(client, f"/api/health?run=logs&worker={worker}")["notes"]
                shown = get(client, f"/api/snapshot?run=logs&worker={worker}")["meta"]["notes"]
                assert [(note["kind"], note["count"]) for note in health] == told, worker
                assert [note["kind"] for note in shown] == [kind for kind, _ in told], worker


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_told_by_the_command_and_in_python(
    damage: Callable[[Snapshot], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "w.pickle"
    path.write_bytes(damaged(damage))
    (note,) = api.open(path).memory_snapshot.notes
    assert (note.kind, note.count) == DAMAGES[damage]
    capsys.readouterr()
    assert main(["memory", str(path)]) == 0
    told = capsys.readouterr().err
    assert (f"{note.severity}: {note.text}" in told) == (note.severity != "info")


def test_a_snapshot_without_anything_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As it is written where no memory was allocated yet and no history was recorded."""
    logs = tmp_path / "logs"
    logs.mkdir()
    empty = dumped({"segments": [], "device_traces": [[]]})
    (logs / "empty.pickle").write_bytes(empty)
    (logs / "cut.pickle").write_bytes(empty[:-6])
    said = {"empty": "the snapshot is empty: ", "cut": "the snapshot is cut off, or damaged, before its first record"}
    with everything_read(logs, tmp_path / "cache", 1) as workspace:
        client = client_of(workspace)
        for worker, text in said.items():
            assert get(client, f"/api/snapshot?run=logs&worker={worker}")["devices"] == []
            assert get(client, f"/api/snapshot/alive?run=logs&worker={worker}", 404)["error"].startswith(text)
    for worker, text in said.items():
        assert main(["memory", str(logs), "--worker", worker]) == 2
        assert f"torch-tb-profiler: {text}" in capsys.readouterr().err


def test_an_empty_snapshot_leaves_those_of_the_other_ranks_comparable(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    empty = dumped({"segments": [], "device_traces": [[]]})
    for rank in (0, 1):
        (logs / f"rank{rank}.pickle").write_bytes(dumped(random_run(rank, steps=1).snapshot()))
    (logs / "rank2.pickle").write_bytes(empty)
    (tmp_path / "none" / "alone").mkdir(parents=True)
    (tmp_path / "none" / "alone" / "rank0.pickle").write_bytes(empty)
    with everything_read(logs, tmp_path / "cache", 1) as workspace:
        found = get(client_of(workspace), "/api/snapshot/ranks?of=run&run=logs")
        assert len(found["rows"]["worker"]) == 2
        told = {note["kind"]: note["text"] for note in found["meta"]["notes"]}
        assert told["empty_snapshots"] == "Snapshots that are empty are not in this table: rank2.pickle."
    with everything_read(tmp_path / "none", tmp_path / "cache", 1) as workspace:
        said = get(client_of(workspace), "/api/snapshot/ranks?of=run&run=alone", 404)["error"]
        assert said.startswith("the snapshot is empty: ")
