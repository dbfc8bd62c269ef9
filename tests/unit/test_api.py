"""The Python API: finding traces, the same numbers as the routes, data frames, errors."""

from __future__ import annotations

import gzip
import math
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

import torch_tb_profiler
from tests.served import client_of, everything_read, get
from tests.tiny import write_trace
from torch_tb_profiler.analysis.replay.changes import free, kernels, scale
from torch_tb_profiler.api.errors import ProfileError
from torch_tb_profiler.api.profile import Profile

pytestmark = pytest.mark.slow

RUN, WORKER = "generated_4gpu_h100", "rank0"
TRACE = f"run={RUN}&worker={WORKER}"


@pytest.fixture(scope="module")
def client(samples: Path, samples_cache: Path) -> Iterator[Client]:
    with everything_read(samples, samples_cache) as workspace:
        yield client_of(workspace)


@pytest.fixture(scope="module")
def profile(samples: Path, samples_cache: Path) -> Profile:
    return torch_tb_profiler.open(samples, cache_dir=samples_cache)


def plain(values: Any) -> list[Any]:
    """As JSON has it: NaN is null."""
    found = values.tolist() if hasattr(values, "tolist") else list(values)
    return [None if isinstance(value, float) and math.isnan(value) else value for value in found]


def assert_same(table: Any, answer: Any) -> None:
    """Every column of a route's table is a column of the result, with the same values."""
    assert answer["rows"], "an empty table proves nothing"
    columns = table.to_columns()
    for key, values in answer["rows"].items():
        ours = plain(columns[key])
        if key in table.missing_below_zero:
            ours = [None if value < 0 else value for value in ours]
            values = [None if value is not None and value < 0 else value for value in values]  # noqa: PLW2901
        assert ours == values, key


# the same numbers as the routes ------------------------------------------------------------------------------


def test_overview(client: Client, profile: Profile) -> None:
    answer = get(client, f"/api/overview?{TRACE}")
    trace = profile.trace(RUN, WORKER)
    found = trace.overview()
    for category, values in answer["steps"]["category_ns"].items():
        assert found.steps.category_ns[category].tolist() == values
    assert found.average.category_ns == answer["average"]["category_ns"]
    assert [finding.id for finding in trace.findings()] == [finding["id"] for finding in answer["findings"]]
    assert [d.busy for d in found.devices] == [d["busy"] for d in answer["devices"]]
    health = get(client, f"/api/health?{TRACE}")
    assert [note.text for note in trace.notes] == [note["text"] for note in health["notes"]]


def test_steps_as_a_person_chooses(client: Client, profile: Profile) -> None:
    trace = profile.trace(RUN, WORKER)
    whole = trace.with_steps(rule="whole_trace")
    answer = get(client, f"/api/overview?{TRACE}&steps=whole_trace")
    assert whole.steps.duration_ns.tolist() == answer["steps"]["duration_ns"]
    assert len(whole.steps) == 1 < len(trace.steps)
    matched = trace.with_steps(pattern=r"ProfilerStep#\d").steps
    assert list(matched.labels) == get(client, f"/api/overview?{TRACE}")["steps"]["labels"][: len(matched)]
    assert whole.model is whole.model
    with pytest.raises(ProfileError, match="not a rule for steps"):
        trace.with_steps("by_the_moon")
    with pytest.raises(ProfileError, match="not a regular expression"):
        trace.with_steps(pattern="(")


@pytest.mark.parametrize("group_by", ["name", "name_shape", "name_stack"])
def test_operators(client: Client, profile: Profile, group_by: Any) -> None:
    found = profile.trace(RUN, WORKER).operators(group_by)
    assert_same(found, get(client, f"/api/operators?{TRACE}&group_by={group_by}"))
    name = found.name[0]
    launched = get(client, f"/api/operators/kernels?{TRACE}&name={name}")
    assert_same(profile.trace(RUN, WORKER).operator_kernels(name), launched)
    stacks = get(client, f"/api/operators/stacks?{TRACE}&name=aten::mm")
    assert_same(profile.trace(RUN, WORKER).operator_stacks("aten::mm"), stacks)


def test_answers_about_some_of_the_steps(client: Client, profile: Profile) -> None:
    trace = profile.trace(RUN, WORKER)
    first, last = get(client, f"/api/overview?{TRACE}")["steps"]["names"][1:3]
    url = f"{TRACE}&from_step={first}&to_step={last}"
    found = trace.answer("overview", from_step=first, to_step=last)
    assert list(found.steps.names) == [first, last]
    assert [device.busy for device in found.devices] == [
        device["busy"] for device in get(client, f"/api/overview?{url}")["devices"]
    ]
    kernels = trace.answer("kernels", from_step=first, to_step=last)
    answer = get(client, f"/api/kernels?{url}")
    assert plain(kernels.values["calls"]) == answer["rows"]["calls"]
    assert sum(answer["rows"]["calls"]) < sum(get(client, f"/api/kernels?{TRACE}")["rows"]["calls"])
    # a question that is about the whole trace with the steps as a range of time
    memory = trace.answer("memory/operators", from_step=first, to_step=last)
    assert plain(memory.values["calls"]) == get(client, f"/api/memory/operators?{url}")["rows"]["calls"]
    with pytest.raises(ProfileError, match="overview: there is no step 'x'"):
        trace.answer("overview", from_step="x", to_step=last)
    with pytest.raises(ProfileError, match="must be given together"):
        trace.answer("overview", from_step=first)


@pytest.mark.parametrize("group_by", ["name", "name_op_launch"])
def test_kernels(client: Client, profile: Profile, group_by: Any) -> None:
    found = profile.trace(RUN, WORKER).kernels(group_by)
    assert_same(found, get(client, f"/api/kernels?{TRACE}&group_by={group_by}"))


def test_memory(client: Client, profile: Profile) -> None:
    trace = profile.trace(RUN, WORKER)
    assert_same(trace.memory_operators(), get(client, f"/api/memory/operators?{TRACE}"))
    assert_same(trace.memory_events(), get(client, f"/api/memory/events?{TRACE}&limit=all"))
    alive, answer = trace.memory_alive(), get(client, f"/api/memory/alive?{TRACE}&limit=10000")
    assert_same(alive, answer)
    assert alive.known_bytes == answer["meta"]["known_bytes"]
    (curve,) = get(client, f"/api/memory/curve?{TRACE}")["devices"]
    assert trace.memory_curve().peak.allocated == curve["peak"]["allocated"]


def test_modules(client: Client, profile: Profile) -> None:
    assert_same(profile.trace(RUN, WORKER).modules(), get(client, f"/api/modules?{TRACE}"))


def test_stacks(client: Client, profile: Profile) -> None:
    trace = profile.trace(RUN, WORKER)
    assert_same(trace.stacks(), get(client, f"/api/stacks?{TRACE}"))
    url = f"/api/stacks?{TRACE}&weight=host&direction=bottom_up&files=train"
    answer = get(client, f"{url}&smallest_share=0.01")
    assert_same(trace.stacks("host", "bottom_up", "train", smallest_share=0.01), answer)
    root = answer["rows"]["id"][1]
    assert_same(trace.stacks("host", "bottom_up", "train", root), get(client, f"{url}&root={root}"))
    with pytest.raises(ProfileError, match="has no call stack 5"):
        trace.stacks(root=5)


def test_distributed(client: Client, profile: Profile) -> None:
    answer = get(client, f"/api/distributed?run={RUN}")
    assert_same(profile.run(RUN).communication(), answer["operations"])
    for rank, waits, worker in zip(
        profile.run(RUN).distributed().ranks, profile.run(RUN).distributed().waits, answer["workers"], strict=True
    ):
        assert rank.overlap.overlap_ns.tolist() == worker["steps"]["overlap_ns"]
        assert waits.wait_ns[:-1].tolist() == worker["steps"]["wait_ns"]
        assert waits.unmatched_ns[:-1].tolist() == worker["steps"]["unmatched_ns"]


def test_compare(client: Client, profile: Profile) -> None:
    answer = get(client, "/api/compare?run=cnn_workers0&worker=worker0&exp_run=cnn_workers2&exp_worker=worker0")
    found = profile.trace("cnn_workers0").compare(profile.trace("cnn_workers2"))
    assert found.left.duration_ns == answer["totals"]["duration_ns"]
    assert list(found.operators.name) == answer["operators"]["rows"]["name"]
    assert found.operators.left["calls"].tolist() == answer["operators"]["rows"]["calls"]


def test_compare_roofline(client: Client, profile: Profile) -> None:
    pair = "run=generated_4gpu_h100&worker=rank0&exp_run=generated_4gpu_h100&exp_worker=rank1"
    answer = get(client, f"/api/compare/roofline?{pair}")
    run = profile.run("generated_4gpu_h100")
    found = run.trace("rank0").compare_roofline(run.trace("rank1"))
    assert list(found.name) == answer["calls"]["rows"]["name"]
    assert list(found.cause) == answer["calls"]["rows"]["cause"]
    assert len(found.name) > 0


# data frames -------------------------------------------------------------------------------------------------


def test_data_frames(profile: Profile) -> None:
    pd = pytest.importorskip("pandas")
    trace = profile.trace(RUN, WORKER)
    questions = [
        trace.overview,
        trace.operators,
        trace.kernels,
        trace.kernel_sequences,
        trace.copies,
        trace.device_time,
        trace.idle_times,
        trace.idle_gaps,
        trace.launch_stats,
        trace.queue_lengths,
        trace.memory_curve,
        trace.memory_operators,
        trace.memory_events,
        trace.memory_alive,
        trace.modules,
        trace.hooks,
        trace.stacks,
        trace.findings,
        profile.run(RUN).communication,
    ]
    for question in questions:
        found = question()
        frame = found.to_pandas()
        assert isinstance(frame, pd.DataFrame)
        assert len(frame) == len(found), question
    found = trace.operators("name_shape")
    frame = found.to_pandas()
    assert frame["device_self_ns"].tolist() == found.device_self_ns.tolist()
    assert frame["name"].tolist() == list(found.name)
    kernels = profile.trace("cnn_workers0").kernels("name_op_launch").to_pandas()
    assert str(kernels["registers_per_thread"].dtype) == "Int64"
    assert len(trace.compare(trace).to_pandas()) > 0
    assert len(trace.notes.to_pandas()) == len(trace.notes)
    assert len(profile.skipped.to_pandas()) == len(profile.skipped)


# what limits the steps ----------------------------------------------------------------------------------------


def test_critical_path_and_what_if(profile: Profile) -> None:
    trace = profile.trace("cnn_workers0")
    path = trace.critical_path()
    assert path.composition.sum(axis=1).tolist() == path.step_ns.tolist()
    one = trace.critical_path(steps=[path.names[1]])
    assert (one.names, one.step_ns.tolist()) == ((path.names[1],), [path.step_ns[1]])
    found = trace.what_if(free("data"))
    assert found.saved_ns == sum(path.composition[:, path.parts.index("data")])
    assert trace.what_if(free("data"), steps=[path.names[1]]).names == (path.names[1],)
    assert trace.savings([free("data")], [scale("operator", 0.5)]).changes[0].place == 0
    for wrong in (lambda: trace.what_if(scale(None, -1)), lambda: trace.critical_path(steps=["no such"])):
        with pytest.raises(ProfileError):
            wrong()


def test_what_if_over_ranks(profile: Profile) -> None:
    run = profile.run("generated_4gpu_h100")
    both = run.what_if(kernels(0.5))
    assert [rank.worker for rank in both.ranks] == list(run.workers)
    slow = run.what_if(kernels(0.5), workers=["rank2"])
    saved = [rank.before_ns - (rank.after_ns or 0) for rank in slow.ranks]
    # the others wait for rank 2
    assert min(saved) > 0
    assert sum(saved) <= sum(rank.before_ns - (rank.after_ns or 0) for rank in both.ranks)
    with pytest.raises(ProfileError):
        run.what_if(kernels(0.5), workers=["rank9"])
    with pytest.raises(ProfileError):
        run.what_if(kernels(float("nan")))


# opening -----------------------------------------------------------------------------------------------------


def test_importing_is_cheap() -> None:
    code = "import sys, torch_tb_profiler; print(sorted({'numpy', 'pandas', 'msgspec', 'werkzeug'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
    assert "open" in dir(torch_tb_profiler)
    with pytest.raises(AttributeError, match="nothing_like_that"):
        torch_tb_profiler.nothing_like_that  # type: ignore[attr-defined]  # noqa: B018


def test_answers_do_not_need_pandas(samples: Path, samples_cache: Path) -> None:
    code = (
        "import sys; sys.modules['pandas'] = None; import torch_tb_profiler as t;"
        f"p = t.open({str(samples)!r}, cache_dir={str(samples_cache)!r});"
        "x = p.trace('cnn_workers0'); x.overview(); print(len(x.operators()) > 0)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "True"


def test_a_file_a_run_and_a_log_directory(tmp_path: Path) -> None:
    logs, cache = tmp_path / "logs", tmp_path / "cache"
    file = write_trace(logs / "run" / "w.1.pt.trace.json.gz")
    write_trace(logs / "run" / "w.2.pt.trace.json")
    write_trace(logs / "other" / "v.pt.trace.json", gpu=False)
    (logs / "run" / "my_trace.json").write_text("{}")

    profile = torch_tb_profiler.open(logs, cache_dir=cache)
    assert [run.name for run in profile.runs] == ["other", "run"]
    run = profile.run("run")
    assert (run.workers, run.spans("w"), run.spans()) == (("w",), ("1", "2"), ("1", "2"))
    assert [s.file for s in run.skipped] == ["my_trace.json"]
    assert run.trace(span=2).file == "run/w.2.pt.trace.json"
    assert [t.worker for t in profile] == ["v", "w", "w"]
    assert "2 runs, 3 traces" in repr(profile)
    assert "'run'" in repr(run)
    assert "worker 'w'" in repr(run.trace(span=1))

    assert [r.name for r in torch_tb_profiler.open(logs / "run", cache_dir=cache).runs] == ["run"]
    one = torch_tb_profiler.open(file, cache_dir=cache).trace()
    assert (one.run, one.worker, one.span) == ("run", "w", "1")
    assert one.operators().calls.tolist() == run.trace(span=1).operators().calls.tolist()

    renamed = shutil.copy(file, tmp_path / "anything at all.gz")
    assert torch_tb_profiler.open(str(renamed), cache_dir=cache).trace().steps.names == ("0", "1")


def test_nothing_is_read_before_it_is_asked_for(tmp_path: Path) -> None:
    write_trace(tmp_path / "run" / "w.pt.trace.json")
    profile = torch_tb_profiler.open(tmp_path / "run", cache_dir=tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []
    trace = profile.trace()
    assert trace.model is trace.model
    assert len(list((tmp_path / "cache").glob("*.columns"))) == 1


def test_workers_read_everything(tmp_path: Path) -> None:
    for worker in ("a", "b", "c"):
        write_trace(tmp_path / "run" / f"{worker}.pt.trace.json.gz")
    (tmp_path / "run" / "bad.pt.trace.json").write_text("nothing")
    profile = torch_tb_profiler.open(tmp_path / "run", workers=2, cache_dir=tmp_path / "cache")
    assert len(list((tmp_path / "cache").glob("*.columns"))) == 3
    assert all(len(profile.trace(worker=w).operators()) for w in ("a", "b", "c"))
    with pytest.raises(ProfileError, match=r"bad\.pt\.trace\.json "):
        profile.trace(worker="bad").overview()
    torch_tb_profiler.open(tmp_path / "run" / "a.pt.trace.json.gz", workers=1, cache_dir=tmp_path / "cache")


def test_broken_columns_are_read_again(tmp_path: Path) -> None:
    write_trace(tmp_path / "run" / "w.pt.trace.json")
    expected = torch_tb_profiler.open(tmp_path / "run", cache_dir=tmp_path / "cache").trace().operators()
    (columns,) = (tmp_path / "cache").glob("*.columns")
    data = bytearray(columns.read_bytes())
    data[16:200] = bytes(184)
    columns.write_bytes(data)
    found = torch_tb_profiler.open(tmp_path / "run", cache_dir=tmp_path / "cache").trace().operators()
    assert found.host_self_ns.tolist() == expected.host_self_ns.tolist()


def test_an_unwritable_cache_is_done_without(tmp_path: Path) -> None:
    write_trace(tmp_path / "run" / "w.pt.trace.json")
    (tmp_path / "file").touch()
    trace = torch_tb_profiler.open(tmp_path / "run", cache_dir=tmp_path / "file").trace()
    assert len(trace.operators()) == 1


def test_errors_are_sentences(tmp_path: Path) -> None:
    cache = tmp_path / "cache"

    def said(open_: Any) -> str:
        with pytest.raises(ProfileError) as caught:
            open_()
        return str(caught.value)

    logs = tmp_path / "logs"
    assert "cannot be listed" in said(lambda: torch_tb_profiler.open(tmp_path / "nowhere", cache_dir=cache))
    logs.mkdir()
    assert said(lambda: torch_tb_profiler.open(logs, cache_dir=cache)) == f"{logs} contains no trace"
    assert "s3://bucket/folder" in said(lambda: torch_tb_profiler.open("s3://", cache_dir=cache))
    write_trace(logs / "run" / "w.1.pt.trace.json")
    write_trace(logs / "run" / "w.2.pt.trace.json")
    profile = torch_tb_profiler.open(logs, cache_dir=cache)
    assert said(lambda: profile.run("x")).endswith("has no run 'x', only 'run'")
    assert said(profile.trace) == "worker 'w' has 2 spans, one must be named: '1', '2'"
    assert said(lambda: profile.trace(worker="v")) == "run 'run' has no worker 'v', only 'w'"
    trace = profile.trace(span=1)
    assert "only 'name', 'name_shape'" in said(lambda: trace.operators("shape"))  # type: ignore[arg-type]
    assert "profile_memory=True" in said(trace.memory_curve)
    (logs / "run" / "w.2.pt.trace.json").unlink()
    assert "w.2.pt.trace.json cannot be read" in said(profile.trace(span=2).overview)
    bad = logs / "bad.pt.trace.json.gz"
    bad.write_bytes(gzip.compress(b"not a trace"))
    assert "bad.pt.trace.json.gz" in said(torch_tb_profiler.open(bad, cache_dir=cache).trace().overview)
