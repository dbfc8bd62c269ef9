"""The summary of a trace: the same from the command, Python and the route, and true."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

import torch_tb_profiler
from tests.events import US, annotation, copy, kernel, launch, model_of, op
from tests.held_out import training
from tests.held_out.run import model_of as held_out
from tests.held_out.run import run
from tests.served import client_of, everything_read
from torch_tb_profiler.analysis.health.notes import troubles
from torch_tb_profiler.analysis.question import Subject
from torch_tb_profiler.cli import main
from torch_tb_profiler.cli.work import summaries
from torch_tb_profiler.insights.listing import in_order
from torch_tb_profiler.insights.rule import Finding, FindingSaving
from torch_tb_profiler.insights.summary.summary import SummaryAnswer, summary
from torch_tb_profiler.insights.summary.text import as_text
from torch_tb_profiler.model import Model
from torch_tb_profiler.workspace.local_workspace import LocalWorkspace

pytestmark = pytest.mark.slow

REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"


def leaves(found: Any) -> list[Any]:
    return [leaf for value in found.values() for leaf in leaves(value)] if isinstance(found, dict) else [found]


def of(model: Model) -> SummaryAnswer:
    return summary(Subject(model, "run", "w0", "1", 10, 1, troubles))


def two_steps() -> Model:
    """Periods of 100 and 100 µs. Computing 40 + 60, a copy 10, communication 30 of which 10 are hidden."""
    return model_of(
        [
            annotation("ProfilerStep#0", 0, 90),
            annotation("ProfilerStep#1", 100, 100),
            op("aten::mm", 0, 20),
            op("aten::mm", 100, 20),
            launch(1, 1, 2),
            kernel(10, 40, 1, "volta_h884gemm", **{"est. achieved occupancy %": 0, "shared memory": 50_000}),
            launch(5, 2, 2),
            kernel(40, 30, 2, REDUCE, stream=9),
            launch(101, 3, 2),
            kernel(110, 60, 3, "volta_sgemm_32x128_nt", **{"est. achieved occupancy %": 50, "shared memory": 0}),
            launch(105, 4, 2),
            copy(180, 20, 4),
            launch(80, 5, 2),
            kernel(90, 10, 5, "volta_sgemm_32x128_nt", **{"est. achieved occupancy %": 50, "shared memory": 0}),
        ]
    )


def test_the_numbers_are_right() -> None:
    found = of(two_steps())
    assert found.steps.period_ns == [100 * US, 100 * US]
    assert (found.steps.rule, found.steps.count, found.steps.median_ns, found.steps.mean_ns) == (
        "profiler_step",
        2,
        100 * US,
        100 * US,
    )
    device = found.device
    # 10–70, 90–100, 110–170, 180–200; kernels of compute 10–50, 90–100, 110–170; of communication 40–70
    assert device.busy == pytest.approx(150 / 200)
    assert device.computing == pytest.approx(110 / 200)
    assert device.communicating == pytest.approx(30 / 200)
    assert device.exposed_communication == pytest.approx(20 / 200)
    cores = device.tensor_cores
    assert (cores.yes, cores.no, cores.unknown) == pytest.approx((40 / 110, 70 / 110, 0))
    assert device.occupancy.mean == pytest.approx(0.5)
    assert device.occupancy.known_share == pytest.approx(70 / 110)
    # the kernel of 10 µs was launched outside of operators
    owners = found.owners
    assert (owners.linked, owners.named_only, owners.inferred, owners.unowned) == (150 / 160, 10 / 160, 0, 0)


def test_what_is_not_known_is_null_and_said_so() -> None:
    found = of(model_of([op("aten::mm", 0, 20)]))
    said = json.loads(msgspec.json.encode(found))
    assert set(leaves(said["device"])) == set(leaves(said["owners"])) == {None}
    assert found.steps.rule == "whole_trace"
    text = as_text(found)
    assert "no device work" in text
    assert "Device busy" not in text
    hostile = of(model_of([annotation("\x1b[2J\u202e#1", 0, 9), op("aten::mm", 0, 20)]))
    renamed = msgspec.structs.replace(hostile.trace, devices=["\x1b]0;title\x07\nBound by: nothing"])
    shown = as_text(msgspec.structs.replace(hostile, trace=renamed)).split("\n")
    assert all(line.isprintable() for line in shown)
    assert len(shown) == len(text.split("\n"))
    without_occupancy = of(model_of([launch(0, 1, 2), kernel(5, 10, 1, "volta_sgemm_32x128_nt")]))
    assert "Occupancy: mean unknown, known for 0.0%" in as_text(without_occupancy)
    undecided = as_text(of(model_of([launch(0, 1, 2), kernel(5, 10, 1, "my_own")])))
    assert "Tensor cores: yes unknown, no unknown, unknown 100.0% of the time of compute kernels" in undecided


def test_findings_are_in_order_of_what_they_save() -> None:
    """Savings keep the order in which they add up; what has no number stands where its share of the step places it, or
    first where it explains the bound.
    """

    def finding(
        key: str, after: float | None, refused: str | None = None, share: float | None = None, most: float | None = None
    ) -> Finding:
        saving = FindingSaving(after, after, after, None, None, False, refused, share_of_step=share, at_most_ns=most)
        kept = saving if after is not None or refused else None
        return Finding(
            id=key,
            key=key,
            severity="low",
            confidence="high",
            title=key,
            detail="",
            advice="",
            saving=kept,
            evidence=(),
            count=0,
            where=None,
            instances=(),
        )

    counted = [finding("a", 5.0), finding("b", 20.0), finding("c", 0.0), finding("w", None), finding("d", None, "why")]
    assert [each.id for each in in_order(counted, 100.0)] == ["a", "b", "c", "d", "w"]
    counted[-1] = finding("d", None, "why", share=0.1)
    assert [each.id for each in in_order(counted, 100.0)] == ["d", "a", "b", "c", "w"]
    counted[-1] = finding("d", None, "why", share=0.03, most=30.0)
    assert [each.id for each in in_order(counted, 100.0)] == ["d", "a", "b", "c", "w"]
    counted[-1] = finding("d", None, "why", share=0.01)
    assert [each.id for each in in_order(counted, 100.0)] == ["a", "b", "d", "c", "w"]


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["summary", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_command_python_and_route_say_the_same(
    samples: Path, samples_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = samples / "generated_4gpu_h100"
    names = {"run": run.name, "worker": "rank1", "span": "1"}
    command = [run, "--worker", "rank1", "--cache-dir", samples_cache]
    printed: dict[str, Any] = json.loads(said(capsys, *command, "--json"))
    assert {key: printed["trace"][key] for key in names} == names
    from_python = torch_tb_profiler.open(run, cache_dir=samples_cache).trace(worker="rank1").summary()
    assert json.loads(msgspec.json.encode(from_python)) == printed
    with everything_read(samples, samples_cache) as workspace:
        answer = client_of(workspace).get("/api/summary", query_string=names)
    assert answer.status_code == 200
    assert json.loads(answer.data) == printed
    assert said(capsys, *command).startswith("generated_4gpu_h100 · rank1 · span 1: ")


def test_a_summary_that_was_given_before_is_read_from_the_cache(
    samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = samples / "generated_4gpu_h100"
    about = [run, "--cache-dir", tmp_path]
    first = said(capsys, *about, "--worker", "rank1")
    other = said(capsys, *about, "--worker", "rank1", "--step-rule", "whole_trace")
    assert other != first

    def unused(*_: object) -> None:
        raise AssertionError("the trace was opened")

    with monkeypatch.context() as patched:
        patched.setattr(LocalWorkspace, "open", unused)
        assert said(capsys, *about, "--worker", "rank1") == first
        assert said(capsys, *about, "--worker", "rank1", "--step-rule", "whole_trace") == other
        assert main(["summary", *map(str, about), "--worker", "rank0"]) == 70  # of this one nothing is kept
    for kept in tmp_path.glob("*.answers/*"):
        content = kept.read_bytes()
        kept.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert said(capsys, *about, "--worker", "rank1") == first


@pytest.mark.parametrize("limit", ["_MOST_BYTES", "_MOST_TOGETHER"])
def test_of_too_much_to_replay_together_the_findings_are_of_one_rank(
    samples: Path, samples_cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    about = [samples / "generated_4gpu_h100", "--json", "--cache-dir", samples_cache]
    together = json.loads(said(capsys, *about))
    of_one = json.loads(said(capsys, *about, "--worker", "rank0"))
    assert "straggler" in {each["id"] for each in together["findings"]}
    monkeypatch.setattr(summaries, limit, 1)
    assert main(["summary", *map(str, about)]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["findings"] == of_one["findings"]
    assert found["ranks"] == together["ranks"]
    assert "findings are about rank0: more than" in err


def test_the_command_gives_the_summary_that_a_server_has_kept(
    samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = samples / "generated_4gpu_h100"
    with everything_read(run, tmp_path) as workspace:
        asked = client_of(workspace).get("/api/summary", query_string={"run": run.name, "worker": "rank1"}).json

    monkeypatch.setattr(LocalWorkspace, "open", lambda *_: pytest.fail("the trace was opened"))
    printed = said(capsys, run, "--worker", "rank1", "--json", "--cache-dir", tmp_path)
    assert json.loads(printed) == asked


def test_the_schema_in_the_docs_holds(
    repository: Path, samples: Path, samples_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (repository / "docs" / "api.md").read_text("utf-8")
    section = text[text.index("## GET /api/summary") :]
    schema = json.loads(section[section.index("```json schema") + len("```json schema") : section.index("\n```\n")])
    for of_run, worker in (("generated_4gpu_h100", "rank0"), ("cnn_workers0", "worker0")):
        printed = json.loads(said(capsys, samples / of_run, "--worker", worker, "--json", "--cache-dir", samples_cache))
        jsonschema.validate(printed, schema, cls=jsonschema.Draft202012Validator)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**printed, "steps": {}}, schema, cls=jsonschema.Draft202012Validator)
    whole = json.loads(said(capsys, samples / "generated_4gpu_h100", "--json", "--cache-dir", samples_cache))
    jsonschema.validate(whole, schema, cls=jsonschema.Draft202012Validator)
    assert [(each["rank"], each["cause"]) for each in whole["ranks"]["stragglers"]] == [(2, "late_launches")]
    for key in whole["ranks"]:
        less = {at: of for at, of in whole["ranks"].items() if at != key}
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**whole, "ranks": less}, schema, cls=jsonschema.Draft202012Validator)


def test_of_two_remedies_of_one_cause_the_second_says_what_it_saves_alone() -> None:
    """In text: what is left after the first says nothing of the second."""
    found = of(held_out(run(training.fp32_products)))
    lines = [line for line in as_text(found).splitlines() if "TF32 is off" in line]
    assert len(lines) == 1
    assert re.search(r"about 3\d\.\d\d ms a step alone, \d+(?:\.\d+)? .?s once those above are done$", lines[0]), lines


def test_paths_and_what_is_wrong_with_them(samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = next((samples / "cnn_workers0").iterdir())
    assert json.loads(said(capsys, file, "--json", "--cache-dir", tmp_path))["steps"]["count"] > 1
    chosen = said(capsys, samples, "--run", "cnn_workers0", "--json", "--cache-dir", tmp_path)
    assert json.loads(chosen)["trace"]["run"] == "cnn_workers0"
    assert main(["summary", str(samples / "generated_4gpu_h100"), "--cache-dir", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("generated_4gpu_h100 · rank0")
    assert err == ""
    damaged = tmp_path / "damaged.pt.trace.json"
    damaged.write_text('{"traceEvents": [')
    for arguments, message in (
        ([samples], "runs, one must be named with --run"),
        ([samples, "--run", "nothing"], "has no run 'nothing'"),
        ([samples / "cnn_workers0", "--worker", "nothing"], "has no such worker or span"),
        ([tmp_path / "missing"], "cannot be listed"),
        ([damaged], "damaged.pt.trace.json"),
    ):
        assert main(["summary", *map(str, arguments), "--json"]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert message in err


@pytest.mark.slow
def test_who_reads_the_output_may_stop(samples: Path) -> None:
    command = [sys.executable, "-m", "torch_tb_profiler", "summary", str(samples / "cnn_workers0"), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (141, b"")
