"""What a report holds, and what the command says when it cannot be made. The pages: tests/browser/test_report.py."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from tests.served import client_of, everything_read, get
from tests.tiny import write_trace
from torch_tb_profiler.cli import main
from torch_tb_profiler.web.static_files import built_modules
from torch_tb_profiler.workspace import Workspace

pytestmark = pytest.mark.slow

RUN = "generated_4gpu_h100"


@pytest.fixture(scope="module")
def workspace(samples: Path, samples_cache: Path) -> Iterator[Workspace]:
    with everything_read(samples, samples_cache) as workspace:
        yield workspace


@pytest.fixture(scope="module")
def client(workspace: Workspace) -> Client:
    return client_of(workspace)


def content_of(page: str) -> dict[str, Any]:
    packed = re.search(r'id="packed">([^<]*)<', page)
    assert packed is not None
    content: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    return content


def answer_of(report: dict[str, Any], route: str, **parameters: str) -> Any:
    status, body = report["answers"]["\n".join([route, *sorted(f"{k}={v}" for k, v in parameters.items())])]
    assert status == 200
    return json.loads(body)


def test_holds_the_answers_of_the_routes(client: Client) -> None:
    response = client.get(f"/api/report?run={RUN}&worker=rank1")
    assert response.headers["Content-Disposition"] == f'attachment; filename="{RUN}-rank1-report.html"'
    assert "sandbox" in response.headers["Content-Security-Policy"]
    report = content_of(response.text)["report"]
    trace = {"run": RUN, "worker": "rank1", "span": "1"}
    for route, more in (("overview", {}), ("kernels", {"group_by": "name"}), ("memory/curve", {})):
        query = "&".join(f"{key}={value}" for key, value in (trace | more).items())
        assert answer_of(report, route, **trace, **more) == get(client, f"/api/{route}?{query}")


def test_a_name_that_looks_like_a_place_of_the_page(tmp_path: Path) -> None:
    run = "{{packed}}<b>{{title}}"
    write_trace(tmp_path / "logs" / run / "w.pt.trace.json")
    with everything_read(tmp_path / "logs", tmp_path / "cache", 1) as workspace:
        page = client_of(workspace).get("/api/report", query_string={"run": run}).text
    assert "<title>{{packed}}&lt;b&gt;{{title}}" in page
    assert content_of(page)["report"]["answers"]


def test_tells_of_no_other_trace_and_not_where_it_lies(client: Client, samples: Path) -> None:
    report = content_of(client.get(f"/api/report?run={RUN}&worker=rank1").text)["report"]
    (run,) = answer_of(report, "status")["runs"]
    assert [(run["name"], trace["worker"]) for trace in run["traces"]] == [(RUN, "rank1")]
    assert answer_of(report, "traces", of="all")["rows"]["run"] == [RUN]
    assert str(samples.parent) not in json.dumps(report)


def test_all_of_a_run(client: Client) -> None:
    report = content_of(client.get(f"/api/report?run={RUN}").text)["report"]
    assert len(answer_of(report, "status")["runs"][0]["traces"]) == 4


def test_of_what_is_not_there(client: Client) -> None:
    get(client, "/api/report", 400)
    get(client, "/api/report?run=nothing", 404)
    get(client, f"/api/report?run={RUN}&worker=nobody", 404)


def test_the_modules_name_each_other_without_a_path() -> None:
    modules, styles = built_modules()
    assert "index.js" in modules
    assert styles
    for name, code in modules.items():
        assert "import.meta.url" not in code
        for imported in re.findall(r'(?:from|import)\s*\(?["`\']([^"`\']+\.js)["`\']', code):
            assert imported in modules, (name, imported)


def command(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["report", *map(str, arguments)])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for run, workers in (("a", 1), ("b", 10)):
        for worker in range(workers):
            write_trace(tmp_path / "logs" / run / f"w{worker}.1.pt.trace.json")
    return tmp_path / "logs"


@pytest.mark.slow
def test_the_command_writes_a_file_or_a_run(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = ("--cache-dir", tmp_path / "cache", "-o", tmp_path / "report.html")
    for path, traces in ((logs / "a" / "w0.1.pt.trace.json", 1), (logs / "a", 1), (logs / "b", 8)):
        code, out, _ = command(capsys, path, *common)
        assert code == 0
        assert ("the first 8 of 10 traces" in out) == (traces == 8)
        report = content_of((tmp_path / "report.html").read_text())["report"]
        assert len(answer_of(report, "status")["runs"][0]["traces"]) == traces
    chosen = ("--run", "b", "--worker", "w3", "--worker", "w9")
    assert command(capsys, logs, *common, *chosen)[0] == 0
    report = content_of((tmp_path / "report.html").read_text())["report"]
    assert [trace["worker"] for trace in answer_of(report, "status")["runs"][0]["traces"]] == ["w3", "w9"]


@pytest.mark.slow
def test_the_command_says_what_is_wrong(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad" / "w.1.pt.trace.json"
    bad.parent.mkdir()
    bad.write_text("{}")
    output = ("--cache-dir", tmp_path / "cache", "-o", tmp_path / "report.html")
    for arguments, reason in (
        ((logs,), "has 2 runs, one must be named with --run: a, b"),
        ((logs, "--run", "c"), "has no run 'c', only a, b"),
        ((logs / "a", "--worker", "nobody"), "has no such worker or span, only w0 (span 1)"),
        ((tmp_path / "nothing",), "nothing"),
        ((bad,), "w.1.pt.trace.json"),
    ):
        code, _, said = command(capsys, *arguments, *output)
        assert code == 2, arguments
        assert reason in said
        assert not (tmp_path / "report.html").exists()
    code, _, said = command(capsys, logs / "a", "--cache-dir", tmp_path / "cache", "-o", tmp_path / "no" / "x.html")
    assert (code, "cannot write" in said) == (2, True)


def test_a_baseline_beside_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the same name: it gets one of its own, and what is compared is in the report in both directions."""
    for side in ("old", "new"):
        for worker in ("w0", "w1"):
            write_trace(tmp_path / side / "run" / f"{worker}.1.pt.trace.json", steps=4)
    target = tmp_path / "report.html"
    paths = [str(tmp_path / "new" / "run~w1"), "--compare", str(tmp_path / "old" / "run")]
    assert main(["report", *paths, "-o", str(target)]) == 0
    report = content_of(target.read_text("utf-8"))["report"]
    runs = {run["name"]: [trace["worker"] for trace in run["traces"]] for run in answer_of(report, "status")["runs"]}
    assert runs == {"run": ["w1"], "run (baseline)": ["w1"]}
    names = [{"run": name, "worker": "w1", "span": "1"} for name in runs]
    for left, right in (names, names[::-1]):
        asked = left | {f"exp_{key}": value for key, value in right.items()}
        assert answer_of(report, "compare/change", **asked)["exp"]["run"] == right["run"]
        base = {f"base_{key}": value for key, value in left.items()}
        trends = answer_of(report, "compare/trends", of="all", **base)
        assert trends["traces"][trends["baseline"]] == left
    capsys.readouterr()
    assert main(["report", paths[0], "--compare", str(tmp_path / "nowhere"), "-o", str(target)]) == 2
    assert "nowhere" in capsys.readouterr().err
