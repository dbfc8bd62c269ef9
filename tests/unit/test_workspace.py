"""The workspace: what is found is read, what changes is read again, and trouble stays where it is."""

from __future__ import annotations

import gzip
import json
import shutil
import time
from pathlib import Path

import pytest

from tests.events import launch
from tests.served import client_of, get
from tests.tiny import wait_until, write_trace
from tests.workspaces import Opener, count_of, settled, states, traces
from torch_tb_profiler.cli.work.traces import chosen_run
from torch_tb_profiler.discovery import Root
from torch_tb_profiler.model import StepChoice
from torch_tb_profiler.model.selection import StepRange
from torch_tb_profiler.workspace import (
    Key,
    Loading,
    UnknownTrace,
    Unreadable,
    pack,
)
from torch_tb_profiler.workspace.answering.answerer import ModelOf, TimelineOf
from torch_tb_profiler.workspace.local_workspace import find_traces
from torch_tb_profiler.workspace.reading.pool import Pool

CAPTURE = ["hipStreamBeginCapture", "hipLaunchKernel", "hipStreamEndCapture"]


def test_reads_what_is_there_and_fails_only_what_is_damaged(logs: Path, opened: Opener) -> None:
    write_trace(logs / "good" / "w.1.pt.trace.json")
    write_trace(logs / "good" / "w.2.pt.trace.json.gz", gpu=False)
    (logs / "good" / "foreign.pt.trace.json").write_text('{"a": 1}')
    (logs / "good" / "empty.pt.trace.json.gz").touch()
    (logs / "bad").mkdir()
    (logs / "bad" / "w.pt.trace.json").write_bytes(b"\x00\xff nothing")
    (logs / "bad" / "other_trace.json").touch()
    workspace = opened()
    assert settled(workspace) == {
        "good/w.1.pt.trace.json": "ready",
        "good/w.2.pt.trace.json.gz": "ready",
        "good/foreign.pt.trace.json": "failed",
        "good/empty.pt.trace.json.gz": "failed",
        "bad/w.pt.trace.json": "failed",
    }
    found = traces(workspace)
    assert found["good/w.1.pt.trace.json"].views == ("overview", "operators", "kernels", "stacks")
    assert found["good/w.2.pt.trace.json.gz"].views == ("overview", "operators", "stacks")
    assert found["good/w.1.pt.trace.json"].events == 8
    assert found["good/w.1.pt.trace.json"].bytes_done == found["good/w.1.pt.trace.json"].size
    assert str(found["good/foreign.pt.trace.json"].reason) == "is not a PyTorch trace: it has no traceEvents"
    assert {run.name: run.state for run in workspace.status().runs} == {"bad": "failed", "good": "ready"}
    assert [s.file for s in workspace.run("bad").skipped] == ["other_trace.json"]
    assert count_of(workspace, "good", "w", "1") == 8
    with pytest.raises(Unreadable, match=r"foreign\.pt\.trace\.json is not a PyTorch trace"):
        workspace.find("good", "foreign")


def test_captures_are_below_the_run_that_replays_them_and_can_be_asked(logs: Path, opened: Opener) -> None:
    write_trace(logs / "run" / "w.pt.trace.json")
    calls = [launch(at, at + 1) | {"name": name} for at, name in enumerate(CAPTURE)]
    for folder, events in (("capture_traces", calls), ("graph_capture_profile", calls[1:])):
        path = write_trace(logs / "run" / folder / "graphs.7.pt.trace.json.gz")
        trace = json.loads(gzip.decompress(path.read_bytes()))
        path.write_bytes(gzip.compress(json.dumps(trace | {"traceEvents": trace["traceEvents"] + events}).encode()))
    workspace = opened()
    assert set(settled(workspace).values()) == {"ready"}
    # a folder of that name without a capture is a run like any other
    assert {run.name: run.parent for run in workspace.status().runs} == {
        "run": None,
        "run/capture_traces": "run",
        "run/graph_capture_profile": None,
    }
    assert get(client_of(workspace), "/runs")["runs"] == ["run", "run/graph_capture_profile"]
    assert workspace.find("run/capture_traces", "graphs").run == "run/capture_traces"
    path = str(logs / "run" / "capture_traces")
    assert [run.name for run in find_traces(path).runs] == ["capture_traces"]
    assert chosen_run(str(logs), "run/capture_traces").parent == "run"


def test_traces_of_other_names_are_read_and_say_where_they_ran(logs: Path, opened: Opener) -> None:
    for rank in (0, 1):
        path = write_trace(logs / "run" / f"179516471{rank}.5-TP-{rank}.trace.json")
        header = {"distributedInfo": {"rank": rank, "world_size": 2}, "host_name": "node7"}
        path.write_text(json.dumps({**header, **json.loads(path.read_text())}))
    write_trace(logs / "run" / "rank4.pt.trace.json")
    write_trace(logs / "run" / "w.pt.trace.json")
    (logs / "run" / "config.json").write_text("{}")
    workspace = opened()
    assert set(settled(workspace).values()) == {"ready"}
    assert {t.worker: (t.span, t.rank, t.world_size, t.host_name) for t in workspace.run("run").traces} == {
        "rank0": ("1", 0, 2, "node7"),
        "rank1": ("1", 1, 2, "node7"),
        "rank4": ("default", 4, None, None),
        "w": ("default", None, None, None),
    }
    assert [s.file for s in workspace.run("run").skipped] == ["config.json"]
    assert count_of(workspace, "run", "rank1") == 8


def test_a_file_becomes_a_trace_when_it_is_one(logs: Path, opened: Opener) -> None:
    (logs / "trace.json").write_text("{")
    workspace = opened()
    settled(workspace)
    assert [s.file for s in workspace.status().skipped] == ["trace.json"]
    write_trace(logs / "trace.json")
    wait_until(lambda: states(workspace) == {"logs/trace.json": "ready"}, "it is read")
    assert workspace.status().skipped == ()


def test_names_that_are_not_there(logs: Path, opened: Opener) -> None:
    write_trace(logs / "run" / "w.1.pt.trace.json")
    write_trace(logs / "run" / "w.2.pt.trace.json")
    workspace = opened()
    settled(workspace)
    for names in (("no", "w", "1"), ("run", "no", "1"), ("run", "w", "3"), ("run", "w", None)):
        with pytest.raises(UnknownTrace):
            workspace.find(*names)
    with pytest.raises(UnknownTrace):
        workspace.run("no")


def test_a_new_file_in_a_known_run_and_a_new_run_appear(logs: Path, opened: Opener) -> None:
    write_trace(logs / "run" / "w.20.pt.trace.json", steps=1)
    workspace = opened()
    settled(workspace)
    assert count_of(workspace, "run", "w", "1") == 4
    write_trace(logs / "run" / "w.3.pt.trace.json", steps=3)
    write_trace(logs / "new" / "w.pt.trace.json")
    wait_until(lambda: list(states(workspace).values()) == ["ready"] * 3, "the new files are read")
    # The earlier number takes the first place, and the answers go with the files.
    assert count_of(workspace, "run", "w", "1") == 12
    assert count_of(workspace, "run", "w", "2") == 4


def test_a_changed_file_is_read_again(logs: Path, opened: Opener) -> None:
    path = write_trace(logs / "run" / "w.pt.trace.json", steps=1)
    workspace = opened()
    settled(workspace)
    assert count_of(workspace, "run", "w") == 4
    write_trace(path, steps=5)
    wait_until(lambda: traces(workspace)["run/w.pt.trace.json"].events == 20, "the change is seen")
    settled(workspace)
    assert count_of(workspace, "run", "w") == 20


def test_a_file_that_grows_is_read_again_once_complete(logs: Path, opened: Opener) -> None:
    whole = write_trace(logs.parent / "w.pt.trace.json.gz", steps=50).read_bytes()
    path = logs / "run" / "w.pt.trace.json.gz"
    path.parent.mkdir()
    path.write_bytes(whole[:8])
    workspace = opened()
    assert settled(workspace) == {"run/w.pt.trace.json.gz": "failed"}
    path.write_bytes(whole)
    wait_until(lambda: states(workspace) == {"run/w.pt.trace.json.gz": "ready"}, "the whole file is read")
    assert count_of(workspace, "run", "w") == 200


def test_removed_files_and_runs_disappear_and_may_come_back(logs: Path, opened: Opener) -> None:
    write_trace(logs / "a" / "w.pt.trace.json")
    write_trace(logs / "b" / "w.1.pt.trace.json")
    second = write_trace(logs / "b" / "w.2.pt.trace.json")
    workspace = opened()
    settled(workspace)
    shutil.rmtree(logs / "a")
    second.unlink()
    wait_until(lambda: set(states(workspace)) == {"b/w.1.pt.trace.json"}, "they disappear")
    with pytest.raises(UnknownTrace):
        workspace.find("a", "w")
    write_trace(logs / "a" / "w.pt.trace.json")
    wait_until(lambda: states(workspace).get("a/w.pt.trace.json") == "ready", "it comes back")


def test_what_is_in_memory_of_a_trace_goes_with_its_file(logs: Path, opened: Opener) -> None:
    path = write_trace(logs / "run" / "w.pt.trace.json")
    write_trace(logs / "run" / "other.pt.trace.json")
    workspace = opened()
    settled(workspace)
    for name in ("w", "other"):
        trace = workspace.find("run", name)
        count_of(workspace, "run", name)
        workspace.remember(Key((trace,), "in memory"), lambda: pack(b"value"))
        workspace.ask(lambda timeline: len(timeline.slices.items), TimelineOf(trace))
        workspace.rank_summary(trace)
    held = (
        workspace._here.models,
        workspace._here.timelines,
        workspace._here.timelines._summaries,
        workspace._on_disk,
        workspace._in_memory,
    )
    assert [len(memory) for memory in held] == [2] * 5  # type: ignore[arg-type]
    path.unlink()
    wait_until(lambda: list(states(workspace)) == ["run/other.pt.trace.json"], "it disappears")
    wait_until(lambda: [len(memory) for memory in held] == [1] * 5, "memory is freed")  # type: ignore[arg-type]


def test_nothing_stays_of_a_timeline_that_could_not_be_opened(logs: Path, tmp_path: Path, opened: Opener) -> None:
    write_trace(logs / "run" / "w.pt.trace.json")
    workspace = opened()
    settled(workspace)
    trace = workspace.find("run", "w")
    (tmp_path / "cache" / f"{trace.key}.columns").unlink()
    with pytest.raises(Loading):
        workspace.ask(lambda timeline: len(timeline.slices.items), TimelineOf(trace))
    assert workspace._here.timelines._timelines._making == {}


def test_models_of_some_steps_count_as_much_as_the_whole(logs: Path, opened: Opener) -> None:
    write_trace(logs / "run" / "w.pt.trace.json", steps=4)
    workspace = opened()
    settled(workspace)
    trace = workspace.find("run", "w")

    def steps_of(choice: StepChoice | None, steps: StepRange | None) -> tuple[str, ...]:
        return workspace.ask(lambda model: model.steps.names, ModelOf(trace, choice, steps))

    assert steps_of(None, None) == ("0", "1", "2", "3")
    assert workspace._here.models.events == 16
    assert steps_of(None, StepRange("1", "2")) == ("1", "2")
    assert steps_of(StepChoice(rule="whole_trace"), None) == ("0",)
    assert steps_of(None, StepRange("1", "2")) == ("1", "2")
    assert workspace._here.models.events == 3 * 16
    workspace._here.models.drop(trace.key)
    assert workspace._here.models.events == 0


def test_a_missing_log_directory_is_named_and_shown_once_it_exists(logs: Path, opened: Opener) -> None:
    logs.rmdir()
    workspace = opened()
    wait_until(lambda: not workspace.status().scanning, "the first listing")
    assert "logs cannot be listed: No such file or directory" in str(workspace.status().error)
    write_trace(logs / "run" / "w.pt.trace.json")
    wait_until(lambda: states(workspace) == {"run/w.pt.trace.json": "ready"}, "it is shown")
    assert workspace.status().error is None


def test_interval_zero_lists_once(logs: Path, opened: Opener) -> None:
    write_trace(logs / "run" / "w.pt.trace.json")
    workspace = opened(0)
    settled(workspace)
    assert not workspace._runs._scanner._thread.is_alive()


def test_overlapping_roots_share_their_traces(logs: Path, opened: Opener) -> None:
    write_trace(logs / "run" / "w.pt.trace.json")
    workspace = opened(0.05, Root(str(logs), "a"), Root(str(logs / "run"), "b"))
    assert settled(workspace) == {"a/run/w.pt.trace.json": "ready", "b/w.pt.trace.json": "ready"}
    before = workspace.find("b", "w")
    time.sleep(0.2)  # some listings later
    assert workspace.find("b", "w") == before


def test_one_missing_root_of_several_does_not_hide_the_others(logs: Path, opened: Opener) -> None:
    write_trace(logs / "run" / "w.pt.trace.json")
    workspace = opened(0.05, Root(str(logs / "nowhere"), "a"), Root(str(logs), "b"))
    assert settled(workspace) == {"b/run/w.pt.trace.json": "ready"}
    assert [skipped.file for skipped in workspace.status().skipped] == ["a"]


def test_a_second_start_takes_the_traces_from_the_cache(
    logs: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_trace(logs / "run" / "w.pt.trace.json")
    first = opened()
    settled(first)
    first.close()
    monkeypatch.setattr(Pool, "submit", lambda self, job: pytest.fail("it is read again"))
    second = opened()
    assert settled(second) == {"run/w.pt.trace.json": "ready"}
    assert traces(second)["run/w.pt.trace.json"].events == 8
    assert count_of(second, "run", "w") == 8
    assert path.exists()


# the pool --------------------------------------------------------------------------------------------------


def test_a_truncated_gzip_gives_what_it_holds(logs: Path, opened: Opener) -> None:
    whole = gzip.decompress(write_trace(logs.parent / "w.pt.trace.json.gz", steps=200).read_bytes())
    path = logs / "run" / "w.pt.trace.json.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(whole)[:-2000])
    workspace = opened()
    assert settled(workspace) == {"run/w.pt.trace.json.gz": "ready"}
    assert traces(workspace)["run/w.pt.trace.json.gz"].notes > 0
