"""Commands that print a table: every one, in every format, against what Python answers of the same trace."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

import torch_tb_profiler
from tests.planted import write_events
from tests.step_programs import recording
from torch_tb_profiler.analysis.api_calls import LaunchGrouping
from torch_tb_profiler.analysis.idle import Lanes
from torch_tb_profiler.analysis.stacks.entries import Weight
from torch_tb_profiler.analysis.stacks.flame_graph import Direction
from torch_tb_profiler.analysis.tabular import Table
from torch_tb_profiler.cli import main
from torch_tb_profiler.model.program_tree import Source
from torch_tb_profiler.questions import QUESTIONS
from torch_tb_profiler.tables.listing import COMMANDS as TABLES
from torch_tb_profiler.tables.listing import TABLES as LISTED
from torch_tb_profiler.tables.results import COLUMNS, RESULTS

pytestmark = pytest.mark.slow

RUN = "generated_4gpu_h100"
#: commands that are questions of the HTTP interface
ASKED = {name: of.question for name, of in TABLES.items() if of.question}
#: what the options of other commands can be
RESULTS_HAVE = {
    "idle": {"group_by": Lanes},
    "gaps": {"group_by": Lanes},
    "launches": {"group_by": LaunchGrouping},
    "modules": {"source": Source},
    "stacks": {"weight": Weight, "direction": Direction},
}


@pytest.fixture(scope="module")
def run_folder(samples: Path) -> str:
    return str(samples / RUN)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("cache"))


class Shell:
    """Runs commands in this process."""

    def __init__(self, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
        self._cache, self._capsys = cache, capsys

    def __call__(self, *words: str, code: int = 0) -> tuple[str, str]:
        self._capsys.readouterr()
        assert main([words[0], "--cache-dir", self._cache, *words[1:]]) == code
        return self._capsys.readouterr()

    def json(self, *words: str) -> Any:
        return json.loads(self(*words, "--json")[0])


@pytest.fixture
def shell(kept: str, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(kept, capsys)


@pytest.mark.parametrize("name", TABLES)
def test_every_format_has_the_same_rows(name: str, shell: Shell, run_folder: str, tmp_path: Path) -> None:
    few = ("--limit", "7")
    page = shell.json(name, run_folder, *few)
    keys = [column["key"] for column in page["columns"]]
    assert list(page["rows"]) == keys
    rows = list(zip(*page["rows"].values(), strict=True))
    lines = [json.loads(line) for line in shell(name, run_folder, *few, "--jsonl")[0].splitlines()]
    assert [tuple(line.values()) for line in lines] == rows
    head, *cells = csv.reader(io.StringIO(shell(name, run_folder, *few, "--csv")[0]))
    assert (head, len(cells)) == (keys, len(rows))
    text = shell(name, run_folder, *few)[0].splitlines()
    assert len(text) == 1 + len(rows)
    file = tmp_path / "rows.parquet"
    shell(name, run_folder, *few, "--parquet", str(file))
    parquet = pytest.importorskip("pyarrow.parquet", reason="without pyarrow nothing here reads Parquet")
    found = parquet.read_table(file)
    assert found.column_names == keys
    assert [tuple(row.values()) for row in found.to_pylist()] == rows


@pytest.mark.parametrize(("name", "question"), ASKED.items())
def test_a_question_is_answered_as_in_python(
    name: str, question: str, shell: Shell, run_folder: str, kept: str
) -> None:
    table = torch_tb_profiler.open(run_folder, cache_dir=kept).run().traces[0].answer(question)
    assert isinstance(table, Table)
    page = shell.json(name, run_folder, "--sort", "")
    own = [column["key"] for column in page["columns"] if column["key"] != "depth"]
    assert own == [column.key for column in table.columns]
    assert page["meta"]["total"] == len(table)
    for column in table.columns:
        if column.type == "number":
            known = [value for value in page["rows"][column.key] if value is not None]
            expected = table.to_pandas()[column.key].dropna().tolist()
            assert known == pytest.approx(expected, rel=1e-12), column.key


def test_results_of_python(shell: Shell, run_folder: str, kept: str) -> None:
    trace = torch_tb_profiler.open(run_folder, cache_dir=kept).run().traces[0]
    steps = shell.json("steps", run_folder)["rows"]
    assert steps["step"] == trace.steps.duration_ns.tolist()
    parts = [steps[key] for key in trace.steps.categories]
    assert [sum(each) for each in zip(*parts, strict=True)] == steps["step"]
    gaps = shell.json("gaps", run_folder)["rows"]
    idle = shell.json("idle", run_folder)["rows"]
    assert sum(gaps["duration_ns"]) == sum(idle["total_ns"]) == int(trace.idle_gaps().duration_ns.sum())
    assert gaps["duration_ns"] == sorted(gaps["duration_ns"], reverse=True)
    assert shell.json("launches", run_folder)["rows"]["host_ns"] == trace.launch_stats().host_ns.tolist()
    assert shell.json("copies", run_folder)["rows"]["bytes"] == trace.copies().bytes.tolist()
    modules = shell.json("modules", run_folder)["rows"]
    assert modules["name"] == list(trace.modules().name)
    assert [p is None for p in modules["parent"]] == [d == 0 for d in modules["depth"]]
    stacks = shell.json("stacks", run_folder)["rows"]
    assert sum(stacks["self_ns"]) == trace.stacks().whole_ns


def test_tables_of_several_traces(shell: Shell, run_folder: str, kept: str, samples: Path) -> None:
    run = torch_tb_profiler.open(run_folder, cache_dir=kept).run()
    rows = shell.json("communication", run_folder)["rows"]
    assert sorted(rows["worker"]) == ["rank0", "rank1", "rank2", "rank3"]
    assert sum(rows["latency_ns"]) == int(run.communication().latency_ns.sum())
    traces = shell.json("traces", str(samples))["rows"]
    assert {"cnn_workers0", "cnn_workers2", "ddp_gloo_2ranks", RUN} <= set(traces["run"])
    only = shell.json("traces", str(samples), "--run", RUN)["rows"]
    assert only["worker"] == ["rank0", "rank1", "rank2", "rank3"]


def test_filter_sort_limit_and_columns(shell: Shell, run_folder: str) -> None:
    words = ("operators", run_folder, "--worker", "rank1", "--filter", "aten:: calls>=10", "--sort", "-calls,name")
    rows = shell.json(*words, "--columns", "name,calls,host_self_share")["rows"]
    assert list(rows) == ["name", "calls", "host_self_share"]
    assert min(rows["calls"]) >= 10
    assert all("aten::" in name for name in rows["name"])
    assert list(zip(rows["calls"], rows["name"], strict=True)) == sorted(
        zip(rows["calls"], rows["name"], strict=True), key=lambda row: (-row[0], row[1])
    )
    out, told = shell(*words, "--limit", "2")
    assert len(out.splitlines()) == 3
    assert f"2 of {len(rows['name'])} of " in told


def test_steps_are_chosen_by_name_and_by_number(shell: Shell, run_folder: str) -> None:
    names = shell.json("steps", run_folder)["rows"]["name"]
    assert len(names) > 3
    two = shell.json("steps", run_folder, "--steps", f"{names[1]}:{names[2]}")["rows"]["name"]
    assert two == names[1:3]
    one = shell.json("kernels", run_folder, "--steps", names[1])["rows"]
    whole = shell.json("kernels", run_folder)["rows"]
    assert 0 < sum(one["total_ns"]) < sum(whole["total_ns"])


def test_steps_found_in_another_way(shell: Shell, run_folder: str) -> None:
    assert shell.json("steps", run_folder, "--step-rule", "whole_trace")["meta"]["total"] == 1
    refused = shell("steps", run_folder, "--step-rule", "whole_trac", code=2)[1]
    assert "did you mean 'whole_trace'?" in refused
    assert "--step-pattern" in shell("steps", run_folder, "--step-pattern", "(", code=2)[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--columns", "nam"], "did you mean 'name'?"),
        (["--sort", "-callz"], "did you mean 'calls'?"),
        (["--filter", "calls>many"], "needs a number"),
        (["--filter", 'name~"("'], "name~"),
        (["--limit", "0"], "--limit"),
        (["--limit", "few"], "--limit"),
        (["--limit", "9" * 5000], "--limit"),
        (["--run", "generated_4gpu"], "did you mean 'generated_4gpu_h100'?"),
        (["--worker", "rank9"], "only rank0"),
        (["--steps", "99"], "there is no step '99'"),
        (["-o", "rows.xls"], ".csv"),
        (["-o", "no/such/folder/rows.csv"], "cannot write"),
    ],
)
def test_what_is_not_there_is_said(words: list[str], said: str, shell: Shell, run_folder: str) -> None:
    out, told = shell("operators", run_folder, *words, code=2)
    assert out == ""
    assert said in told
    assert "Traceback" not in told


def test_a_file_is_named_for_its_format(shell: Shell, run_folder: str, tmp_path: Path) -> None:
    for ending in ("json", "jsonl", "csv", "txt"):
        path = tmp_path / f"rows.{ending}"
        out, _ = shell("kernels", run_folder, "-o", str(path))
        assert out == ""
        assert path.read_text("utf-8").count("ncclDevKernel_AllReduce") >= 1
    assert json.loads((tmp_path / "rows.json").read_text("utf-8"))["meta"]["run"] == RUN
    assert sorted(each.suffix for each in tmp_path.iterdir()) == [".csv", ".json", ".jsonl", ".txt"]


def test_a_trace_comes_through_a_pipe(run_folder: str, kept: str, shell: Shell) -> None:
    (file,) = Path(run_folder).glob("rank0.*")
    words = ["kernels", "-", "--json", "--cache-dir", kept]
    done = subprocess.run(
        [sys.executable, "-m", "torch_tb_profiler", *words], input=file.read_bytes(), capture_output=True, check=True
    )
    expected = shell.json("kernels", run_folder, "--worker", "rank0")
    assert json.loads(done.stdout)["rows"] == expected["rows"]


def test_the_longest_events_are_counted_however_few_are_made(shell: Shell, run_folder: str) -> None:
    few, every = shell.json("slices", run_folder, "--limit", "3"), shell.json("slices", run_folder)
    assert few["meta"]["total"] == few["meta"]["matched"] == every["meta"]["total"] == len(every["rows"]["row"]) > 3
    assert few["rows"]["duration_ns"] == every["rows"]["duration_ns"][:3]
    assert f"3 of {every['meta']['total']:,} rows" in shell("slices", run_folder, "--limit", "3")[1]


def test_paths_may_stand_behind_two_hyphens(
    run_folder: str, kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    (file,) = Path(run_folder).glob("rank0.*")
    (tmp_path / "-odd.json.gz").write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    words = ["kernels", "--cache-dir", kept, "--sort", "-calls", "--limit", "1", "--json", "--", "-odd.json.gz"]
    assert main(words) == 0


def test_every_listed_table_is_made_and_explained() -> None:
    questions = {question.name for question in QUESTIONS}
    of_runs = {name for name, of in LISTED.items() if of.command.of_run}
    assert {of.question for of in LISTED.values() if of.question} <= questions
    assert {name for name, of in LISTED.items() if not of.question} - of_runs == set(RESULTS)
    assert {name for name, of in LISTED.items() if of.agents} <= set(COLUMNS)
    assert all(of.command.help or of.agents for of in LISTED.values())


def test_choices_are_those_of_the_questions() -> None:
    questions = {question.name: question for question in QUESTIONS}
    for name, of in TABLES.items():
        hints = get_type_hints(questions[of.question].parameters) if of.question else RESULTS_HAVE.get(name, {})
        for option in of.options:
            if option.values:
                assert tuple(option.values) == get_args(hints[option.name]), f"{name} --{option.name}"


def columns_of(shell: Shell, *words: str) -> set[str]:
    """Of a table, also those that are derived; none where the trace has nothing of the kind."""
    try:
        page = shell.json(*words)
    except AssertionError:
        return set()
    keys = {column["key"] for column in page["columns"]}
    return keys | {f"{column['key'].removesuffix('_ns')}_share" for column in page["columns"] if column.get("total")}


def test_what_a_terminal_shows_exists(shell: Shell, run_folder: str, samples: Path, tmp_path: Path) -> None:
    """Every column that a command shows unasked is one that the table has in some trace."""
    write_events(tmp_path / "kinds", recording(["fbo", "v"]))
    for name, of in TABLES.items():
        grouped = [("--group-by", value) for o in of.options if o.name == "group_by" for value in o.values]
        known: set[str] = set()
        for folder in (run_folder, str(samples / "cnn_workers0"), str(tmp_path / "kinds")):
            for words in grouped or [()]:
                known |= columns_of(shell, name, folder, "--limit", "1", *words)
        assert set(of.command.shown.split()) <= known, name
