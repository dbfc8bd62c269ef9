"""A log directory as people have them: traces of all engines between everything else they keep there."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, BinaryIO

import pytest
import zstandard

from tests.growth import beside
from tests.tiny import events
from torch_tb_profiler.discovery import Content, Root
from torch_tb_profiler.storage import Entry, StorageError
from torch_tb_profiler.storage.local import LocalStorage
from torch_tb_profiler.words.sentences import because
from torch_tb_profiler.workspace.listing.scanner import Scanner, list_files, list_runs, runs_of
from torch_tb_profiler.workspace.listing.sniff import Sniffer

NO_TRACE_EVENTS = "is JSON, but not a trace: it has no traceEvents"
NO_EVENTS = "is JSON, but not a trace: it has no events"
NO_SNAPSHOT = "is a pickle, but not a memory snapshot"
CHAKRA = "is a Chakra execution trace (ExecutionTraceObserver): it belongs to a trace, but is not a trace itself"


def trace(rank: int | None = None) -> dict[str, Any]:
    info = {} if rank is None else {"distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 4}}
    return {"schemaVersion": 1, **info, "traceEvents": events(1)}


ASCEND = "node_12_20240131123059123_ascend_pt"
SGLANG = "sglang/1795164719.9092"
CHAKRA_FILE = {"schema": "1.1.1-chakra.0.0.4", "pid": 1, "time": "2026", "start_ts": 1, "nodes": []}

#: file → what is in it, and its run, worker and span, or why it is skipped, or None when it is not mentioned
ZOO: dict[str, tuple[Any, tuple[str, str, str] | str | None]] = {
    # torch.profiler.tensorboard_trace_handler, with and without a worker's name
    "torch/vm_26073.1795164672255701191.pt.trace.json": (trace(), ("torch", "vm_26073", "1")),
    "torch/rank1.1795164672255701191.pt.trace.json.gz": (trace(1), ("torch", "rank1", "1")),
    "torch/rank1.1795164672255701192.pt.trace.json.gz": (trace(1), ("torch", "rank1", "2")),
    "torch/rank2.1795164672255701191.pt.trace.json.zst": (trace(2), ("torch", "rank2", "1")),
    "torch/broken.pt.trace.json": (b"\xff", ("torch", "broken", "default")),
    "torch/rank1.1795164672255701193.pt.trace.json.gz.part": (
        b"",
        "does not have the extension of a trace: .json, .json.gz or .json.zst is expected",
    ),
    # export_chrome_trace
    "trace.json": (trace(), ("zoo", "trace", "default")),
    "by_hand/deep/er/trace.json": (trace(), ("by_hand/deep/er", "trace", "default")),
    "by_hand/Trace.JSON": (trace(), ("by_hand", "Trace", "default")),
    "by_hand/list_form.json": (events(1), ("by_hand", "list_form", "default")),
    "torchtitan/iteration_10/rank0_trace.json": (trace(0), ("torchtitan/iteration_10", "rank0", "default")),
    "torchtitan/iteration_10/rank1_trace.json": (trace(1), ("torchtitan/iteration_10", "rank1", "default")),
    "epochs/epoch_2.json": (trace(0), ("epochs", "rank0", "1")),
    "epochs/epoch_10.json": (trace(0), ("epochs", "rank0", "2")),
    # SGLang
    f"{SGLANG}-TP-0-DP-0.trace.json.gz": (trace(), ("sglang", "TP-0-DP-0", "1")),
    f"{SGLANG}-TP-1-DP-0.trace.json.gz": (trace(), ("sglang", "TP-1-DP-0", "1")),
    f"{SGLANG}-TP-0-memory.pickle": (b"\x80\x04", NO_SNAPSHOT),
    "sglang/server_args.json": ({"tp_size": 2}, NO_TRACE_EVENTS),
    # vLLM, HTA, Megatron, verl, accelerate
    "vllm/dp0_pp0_tp1_dcp0_ep1_rank1.1795164719909293321.pt.trace.json.gz": (
        trace(1),
        ("vllm", "dp0_pp0_tp1_dcp0_ep1_rank1", "1"),
    ),
    "vllm/stage_0_diffusion_1795164719_rank0.json.gz": (trace(), ("vllm", "rank0", "1")),
    "megatron/rank-0.json.gz": (trace(), ("megatron", "rank0", "default")),
    "megatron/rank-10.json.zst": (trace(), ("megatron", "rank10", "default")),
    "verl/prof_start_0_end_1_rank_3.json": (trace(), ("verl", "rank3", "default")),
    "accelerate/profile_0.json": (trace(), ("accelerate", "profile_0", "default")),
    # Lightning, Hugging Face: traces beside logs and checkpoints
    "lightning_logs/version_0/fit-profile-0.1795164719909.pt.trace.json": (
        trace(),
        ("lightning_logs/version_0", "fit-profile-0", "1"),
    ),
    "lightning_logs/version_0/hparams.yaml": (b"lr: 1", None),
    "lightning_logs/version_0/events.out.tfevents.1795164719.vm.1.0": (b"\x18\0\0", None),
    "lightning_logs/version_0/checkpoints/epoch=0-step=1.ckpt": (b"PK\3\4", None),
    "hf/trainer_state.json": ({"global_step": 1, "log_history": []}, NO_TRACE_EVENTS),
    "hf/tokenizer.json": ({"model": {"vocab": {"a": 1}}}, NO_TRACE_EVENTS),
    "hf/added_tokens.json": ([{"id": 1}], NO_EVENTS),
    "hf/model.safetensors": (b"\x08", None),
    "hf/optimizer.pt": (b"PK\3\4", None),
    "hf/train.json.bz2": (b"BZh", "has a compression that is not supported; .json, .json.gz and .json.zst are"),
    # Ascend
    f"{ASCEND}/ASCEND_PROFILER_OUTPUT/trace_view.json": (
        events(1),
        (f"{ASCEND}/ASCEND_PROFILER_OUTPUT", "trace_view", "default"),
    ),
    f"{ASCEND}/ASCEND_PROFILER_OUTPUT/communication.json": ({"step": {}}, NO_TRACE_EVENTS),
    f"{ASCEND}/ASCEND_PROFILER_OUTPUT/kernel_details.csv": (b"a,b", None),
    f"{ASCEND}/profiler_info_0.json": ({"rank_id": 0}, NO_TRACE_EVENTS),
    # what torch writes beside traces
    "extras/et.json": (CHAKRA_FILE, CHAKRA),
    "extras/et.json.gz": (CHAKRA_FILE, CHAKRA),
    "extras/et.pb": (b"\x0a", None),
    "extras/memory.html": (b"<html>", "is a page without a memory snapshot in it"),
    "extras/timeline.json": ([[1, 2], [[3, 4]]], str(because("numbers"))),
    "extras/timeline.raw.json.gz": ([[-1, 1, 512, 7]], str(because("numbers"))),
    "extras/snapshot.pickle": (b"\x80\x04", NO_SNAPSHOT),
    "extras/snapshot.json": (
        {"segments": [], "device_traces": []},
        "is a memory snapshot (torch.cuda.memory): it is not a trace",
    ),
    "extras/out_results.json": (
        {"rocprofiler-sdk-tool": []},
        "is an output of rocprofv3: it is not a trace of torch.profiler",
    ),
    "extras/empty.json": (b"", "is empty"),
    "extras/empty.json.gz": ([], NO_EVENTS),
    "extras/binary.json": (b"\0\1\2", "is not JSON"),
    "extras/cut.json.gz": (b"\x1f\x8b\x08", "cannot be read: the gzip data is cut off"),
}


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    root = tmp_path / "zoo"
    for name, (content, _) in ZOO.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content if isinstance(content, bytes) else json.dumps(content, indent=1).encode()
        if not isinstance(content, bytes) and path.suffix == ".gz":
            data = gzip.compress(data)
        elif not isinstance(content, bytes) and path.suffix == ".zst":
            data = zstandard.compress(data)
        path.write_bytes(data)
    return root


def test_every_trace_of_the_zoo_is_found_and_every_skipped_file_has_its_reason(zoo: Path) -> None:
    found = list_runs([Root(str(zoo))])
    shown: dict[str, tuple[str, str, str] | str | None] = dict.fromkeys(ZOO)
    for run in found.runs:
        folder = "" if run.name == "zoo" else f"{run.name}/"
        shown.update({t.entry.path: (run.name, t.worker, t.span) for t in run.traces})
        shown.update({folder + s.file: str(s.reason) for s in run.skipped})
    shown.update({s.file: str(s.reason) for s in found.skipped})
    assert shown == {name: expected for name, (_, expected) in ZOO.items()}


class Opened:
    """Counts what is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.files: list[str] = []
        whole = LocalStorage.open

        def opening(storage: LocalStorage, entry: Entry, ahead: bool = True) -> BinaryIO:
            self.files.append(Path(entry.url).name)
            return whole(storage, entry, ahead)

        monkeypatch.setattr(LocalStorage, "open", opening)

    def take(self) -> list[str]:
        taken, self.files = sorted(self.files), []
        return taken


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    return Opened(monkeypatch)


def step(root: Path, heads: Sniffer, most: int = 1000) -> dict[str, str | None]:
    """List and look once; file → reason, None for a trace."""
    listing = list_files([Root(str(root))])
    waiting = heads.waiting(listing.entries())
    done = heads.look(waiting, most)
    found = runs_of(listing, heads, done == len(waiting))
    assert found.complete == (len(waiting) <= most)
    traces: dict[str, str | None] = {t.entry.path: None for run in found.runs for t in run.traces}
    return (
        traces
        | {s.file: str(s.reason) for run in found.runs for s in run.skipped}
        | {s.file: str(s.reason) for s in found.skipped}
    )


def write(path: Path, document: Any) -> None:
    path.write_text(json.dumps(document))


def test_a_file_is_looked_at_again_only_when_it_changes(tmp_path: Path, opened: Opened) -> None:
    write(tmp_path / "a.json", {})
    write(tmp_path / "trace.json", {"traceEvents": []})
    (tmp_path / "w.pt.trace.json").touch()
    heads = Sniffer()
    first = step(tmp_path, heads)
    assert first == {"w.pt.trace.json": None, "trace.json": None, "a.json": NO_TRACE_EVENTS}
    assert opened.take() == ["a.json", "trace.json"]
    assert step(tmp_path, heads) == first
    assert opened.take() == []
    write(tmp_path / "a.json", {"traceEvents": []})
    assert step(tmp_path, heads)["a.json"] is None
    assert opened.take() == ["a.json"]


def test_a_removed_file_is_forgotten(tmp_path: Path) -> None:
    write(tmp_path / "trace.json", {"traceEvents": []})
    heads = Sniffer()
    step(tmp_path, heads)
    (entry,) = list_files([Root(str(tmp_path))]).entries()
    assert heads.content_of(entry) is not None
    (tmp_path / "trace.json").unlink()
    assert step(tmp_path, heads) == {}
    assert heads.content_of(entry) is None


def test_likely_traces_are_looked_at_first_and_a_changed_file_stays_until_then(tmp_path: Path) -> None:
    for i in range(4):
        write(tmp_path / f"a{i}.json", {})
    write(tmp_path / "z_trace.json", {"traceEvents": []})
    heads = Sniffer()
    assert step(tmp_path, heads, most=1) == {"z_trace.json": None}
    assert len(step(tmp_path, heads, most=3)) == 4
    write(tmp_path / "z_trace.json", {"no": "trace any more"})
    write(tmp_path / "b_trace.json", {"traceEvents": []})
    assert step(tmp_path, heads, most=1)["z_trace.json"] is None
    assert step(tmp_path, heads, most=10)["z_trace.json"] == NO_TRACE_EVENTS


def test_looking_ends_when_its_time_is_over(tmp_path: Path) -> None:
    for i in range(3):
        write(tmp_path / f"{i}.json", {})
    heads = Sniffer()
    entries = heads.waiting(list_files([Root(str(tmp_path))]).entries())
    assert heads.look(entries, seconds=0) == 1


def test_a_file_that_cannot_be_opened_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "trace.json", {"traceEvents": []})
    heads = Sniffer()

    def refuse(_: LocalStorage, __: Entry, ahead: bool) -> BinaryIO:
        raise StorageError("cannot be read: Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(LocalStorage, "open", refuse)
        assert step(tmp_path, heads) == {"trace.json": "cannot be read: Permission denied"}
    assert step(tmp_path, heads) == {"trace.json": None}


def test_the_scanner_lists_on_until_all_files_were_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(5):
        write(tmp_path / f"{i}.json", {})
    look = Sniffer.look
    monkeypatch.setattr(Sniffer, "look", lambda heads, entries, seconds: look(heads, entries, 2))
    seen: list[tuple[int, bool]] = []
    scanner = Scanner(
        [Root(str(tmp_path))], 0, lambda found: seen.append((len(found.skipped), found.complete)), pytest.fail
    )
    scanner.start()
    scanner._thread.join(10)
    assert seen == [(2, False), (4, False), (5, True)]


def test_ten_thousand_known_files_cost_no_reading_and_little_time(tmp_path: Path, opened: Opened) -> None:
    entries = [Entry(f"data/{i}.json", str(tmp_path / f"{i}.json"), 2, 1) for i in range(10_000)]
    (tmp_path / "0.json").write_text("{}")
    heads = Sniffer()
    for entry in heads.waiting(entries):
        heads._known[entry.url] = (2, 1, ""), Content(NO_TRACE_EVENTS)
    assert heads.waiting(entries) == []
    assert beside(lambda: heads.waiting(entries), lambda: [(tmp_path / "0.json").read_bytes() for _ in entries]) < 1
    assert opened.take() == []
