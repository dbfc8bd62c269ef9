"""`torch-tb-profiler check`: exit codes, settings, baselines, and outputs that no name of a trace can command."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest
from markdown_it import MarkdownIt
from xmlschema import XMLSchema

from tests.gate_pairs import KERNEL, config, write
from tests.recorded import ROOT
from torch_tb_profiler.analysis.change.figures import SCHEMA
from torch_tb_profiler.analysis.change.gate import CheckAnswer
from torch_tb_profiler.cli import main
from torch_tb_profiler.cli.work.check_formats import MOST_BYTES, as_github, as_markdown
from torch_tb_profiler.defaults import DIRECTORY_VARIABLE

pytestmark = pytest.mark.slow

FORMATS = ("text", "json", "markdown", "junit", "github")

JUNIT = XMLSchema(ROOT / "tests" / "cases" / "junit.xsd")

#: what could command a terminal, a CI system, a browser or a reader of XML
HOSTILE = (
    "\n::add-mask::secret",
    "\r\n::error title=x::y%0A::set-env name=A::b",
    "##[add-mask]hunter2",
    "x ##vso[task.setvariable variable=a]b",
    "##teamcity[buildStatus status='FAILURE']",
    "\x1b[2J\x1b]0;title\x07\x9b31m",
    "`code` ``more`` | cell | <script>alert(1)</script> [a](javascript:b) @everyone #1 ![i](http://x/y.png)",
    "]]></failure><testcase name='x'/>&amp;\x00\x08\ufffe",
    "\u202egnp.exe\u2028::warning::z",
    "k" * 20_000,
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`base`, `alike` and `slow`: a recording each; `one`, with two steps."""
    folder = tmp_path_factory.mktemp("runs")
    write(config(1, steps=11), folder / "base")
    write(config(2, steps=11), folder / "alike")
    write(config(3, "nvjet", 1.1, steps=11), folder / "slow")
    write(config(4, steps=2), folder / "short")
    return folder


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No pyproject.toml is where the command runs, and what is read is kept for the next test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(cache))


def check(*words: object) -> int:
    return main(["check", *map(str, words)])


def answer(capsys: pytest.CaptureFixture[str], *words: object) -> CheckAnswer:
    check(*words, "--format", "json")
    return msgspec.json.decode(capsys.readouterr().out, type=CheckAnswer)


def test_healthy_passes_and_slower_fails(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(runs / "base", runs / "alike") == 0
    assert capsys.readouterr().out.startswith("Nothing failed")
    assert check(runs / "base", runs / "slow") == 1
    out = capsys.readouterr().out
    assert out.startswith("Slower than the baseline: device_busy +")
    assert "kernel nvjet" in out.splitlines()[0]
    assert "(of aten::mm)" in out.splitlines()[0]


def test_what_cannot_be_judged_is_3(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(runs / "base", runs / "short") == 3
    assert "2 steps on a side" in capsys.readouterr().out
    assert check(runs / "base", ROOT / "samples" / "cnn_workers0") == 3
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.json").write_bytes(b"\x1f\x8b\x00 no trace")
    (tmp_path / "old.json").write_text(json.dumps({"format": "torch-tb-profiler baseline", "schema": SCHEMA + 1}))
    for name in ("empty", "broken.json", "old.json"):
        assert check(runs / "base", tmp_path / name) == 3, name
    assert "saved by a newer version" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["base"],
        ["base", "missing"],
        ["base", "nothing-*"],
        ["base", "alike", "--fail-on", "speed > 5%"],
        ["base", "alike", "--config", "missing.toml"],
        ["base", "alike", "--step-rule", "magic"],
        ["base", "alike", "--worker", "nobody"],
        ["base", "alike", "-o", "no/such/folder/x.xml"],
        ["base", "a\n::error::b"],
    ],
)
def test_wrong_usage_is_2_and_a_sentence(words: list[str], runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = {"base", "alike"}
    assert check(*(runs / word if word in known else word for word in words)) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("torch-tb-profiler: ")
    assert "Traceback" not in said.err


def test_unknown_options_are_2(runs: Path) -> None:
    for words in (["--format", "sarif"], ["--fast"], []):
        with pytest.raises(SystemExit) as ended:
            check(*([] if not words else [runs / "base", runs / "alike"]), *words)
        assert ended.value.code == 2


def test_a_crash_is_no_regression(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("torch_tb_profiler.analysis.change.gate.check", broken)
    assert check(runs / "base", runs / "alike") == 70


def test_a_saved_baseline_is_as_good_as_the_trace(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "base.json"
    assert check(runs / "base", "--save", saved) == 0
    assert saved.stat().st_size < 100_000
    capsys.readouterr()
    assert answer(capsys, saved, runs / "slow") == answer(capsys, runs / "base", runs / "slow")
    assert check("--base", saved, runs / "slow", "--save", tmp_path / "next.json") == 1
    assert check(tmp_path / "next.json", runs / "slow") == 0


def test_several_recordings_are_the_unit(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(runs / "base", runs / "alike", runs / "base", "--save", tmp_path / "base.json") == 0
    found = answer(capsys, tmp_path / "base.json", runs / "slow", runs / "slow", runs / "alike")
    assert (found.base.recordings, found.new.recordings) == (3, 3)
    assert found.rules[0].test == "recordings"
    globbed = answer(capsys, "--base", runs / "base", runs / "*a*e")
    assert globbed.new.runs == ["alike", "base"]


@pytest.mark.parametrize("fields", [{"lanes": 0}, {"step_ns": [1]}, {"first_kept": 99}, {"ranks": "many"}])
def test_a_baseline_that_was_tampered_with(fields: dict[str, object], runs: Path, tmp_path: Path) -> None:
    check(runs / "base", "--save", tmp_path / "base.json")
    saved = json.loads((tmp_path / "base.json").read_text())
    saved["recordings"][0] |= fields
    (tmp_path / "base.json").write_text(json.dumps(saved))
    assert check(tmp_path / "base.json", runs / "alike") == 3


CONFIG = """
[{table}]
fail-on = ["step_time > 50%", "notes.error > 0"]
warn-on = []
strict = false
[{table}.runs."sl*"]
fail-on = ["step_time > 4%"]
"""


@pytest.mark.parametrize(
    ("file", "table"), [("pyproject.toml", "tool.torch-tb-profiler.check"), ("torch-tb-profiler.toml", "check")]
)
def test_rules_in_a_file(file: str, table: str, runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / file).write_text(CONFIG.format(table=table))
    alike = answer(capsys, runs / "base", runs / "alike")
    assert [each.rule.text for each in alike.rules] == ["step_time > 50%", "notes.error > 0"]
    slow = answer(capsys, runs / "base", runs / "slow")
    assert [each.rule.text for each in slow.rules] == ["step_time > 4%"]
    own = answer(capsys, runs / "base", runs / "slow", "--fail-on", "device_busy > 90%")
    assert [each.rule.text for each in own.rules] == ["device_busy > 90%"]
    assert own.exit_code == 0


@pytest.mark.parametrize(
    "text",
    [
        *("[check", "check = 1", "[check]\nfail-if = []", "[check]\nfail-on = ['x > 1']", "\0"),
        *(f"[check]\nx = {'9' * 5000}", f"[check]\nx = {'[' * 5000}"),
    ],
    ids=lambda text: repr(text[:30]),
)
def test_a_wrong_file_is_2(text: str, runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "torch-tb-profiler.toml").write_text(text)
    assert check(runs / "base", runs / "alike") == 2
    assert "torch-tb-profiler.toml" in capsys.readouterr().err


def test_pairs_of_formats_and_files(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--format", "github", "-o", "-", "--format", "markdown", "-o", "sum", "-o", "x.xml", "-o", "y.json"]
    assert check(runs / "base", runs / "slow", *words) == 1
    assert capsys.readouterr().out.startswith("::error title=Slower%3A device_busy::device_busy +")
    assert (tmp_path / "sum").read_text().startswith("### Performance: failed")
    assert ET.parse(tmp_path / "x.xml").getroot().tag == "testsuites"
    assert json.loads((tmp_path / "y.json").read_text())["outcome"] == "failed"


def test_equal_input_is_equal_bytes(runs: Path, tmp_path: Path) -> None:
    """In other time zones, languages, orders of hashes and folders."""
    found = set()
    for zone, language, seed in (
        ("UTC", "C", "0"),
        ("Asia/Tokyo", "de_DE.UTF-8", "1"),
        ("America/Lima", "POSIX", "77"),
    ):
        folder = tmp_path / seed
        folder.mkdir()
        outputs = [word for form in FORMATS for word in ("--format", form, "-o", form)]
        environment = os.environ | {"TZ": zone, "LC_ALL": language, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "torch_tb_profiler", "check", runs / "base", runs / "slow", *outputs]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
        assert done.returncode == 1, done.stderr
        found.add(tuple((folder / form).read_bytes() for form in FORMATS))
    assert len(found) == 1
    assert str(runs).encode() not in b"".join(found.pop())


# of a name that a trace may hold -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_no_name_commands_anything(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(config(1, steps=11), tmp_path / "base", name)
    write(config(3, KERNEL, 1.3, steps=11), tmp_path / "new", name)
    rules = ["--fail-on", "kernel(*) > 3%", "--fail-on", "device_busy > 2%"]
    texts = {}
    for form in FORMATS:
        assert check(tmp_path / "base", tmp_path / "new", *rules, "--format", form) == 1
        texts[form] = capsys.readouterr().out
    for form, text in texts.items():
        assert "\x1b" not in text, form
        assert "\x00" not in text, form
        assert "##" not in text.replace("### Performance", ""), form
        lines = text.replace("\r", "\n").replace("\u2028", "\n").split("\n")
        begun = [line for line in lines if line.lstrip().startswith("::")]
        assert len(begun) == (sum(map(bool, lines)) if form == "github" else 0)
    assert all(line.startswith(("::error ", "::warning ")) for line in texts["github"].splitlines())
    assert len(texts["markdown"].encode()) <= MOST_BYTES
    JUNIT.validate(texts["junit"])
    kernels = [each for each in json.loads(texts["json"])["moved"] if each["kind"] == "kernel"]
    assert kernels[0]["name"].rstrip("\ufffd")[:5] == name.rstrip("\ufffd")[:5]
    page = MarkdownIt("commonmark", {"html": True, "linkify": False}).enable("table").render(texts["markdown"])
    for tag in ("<script", "<img", "<a ", 'javascript:b"'):
        assert tag not in page
    assert page.count("<table>") == 3
    rows = page.split("<tr>")[1:]
    assert {len(re.findall(r"<t[dh][ >]", row)) for row in rows} == {4, 6, 7}


def test_junit_is_what_its_schema_says(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for new, code in (("slow", 1), ("alike", 0), ("short", 3)):
        assert check(runs / "base", runs / new, "--format", "junit") == code
        said = capsys.readouterr().out
        JUNIT.validate(said)
        root = ET.fromstring(said)
        (suite,) = root
        cases = suite.findall("testcase")
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.attrib[attribute]) == sum(case.find(tag) is not None for case in cases)
        assert int(suite.attrib["tests"]) == len(cases) == int(root.attrib["tests"])
        assert all(case.attrib["name"] for case in cases)
        assert (int(suite.attrib["failures"]) > 0) == (code == 1)
        assert (int(suite.attrib["errors"]) > 0) == (code == 3)


@pytest.mark.parametrize(
    "wrong",
    [
        ("<testcase ", "<testcase odd='1' "),
        (' tests="', ' tests="x'),
        ("<system-out>", "<testcase name='' classname='c'/><system-out>"),
        ("</testcase>", "<skipped/></testcase>"),
    ],
)
def test_the_schema_refuses_what_is_no_junit(
    wrong: tuple[str, str], runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(runs / "base", runs / "slow", "--format", "junit") == 1
    said = capsys.readouterr().out
    assert wrong[0] in said
    assert not JUNIT.is_valid(said.replace(*wrong))


def test_few_annotations_and_a_short_summary(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, runs / "base", runs / "slow")
    many = msgspec.structs.replace(found, rules=found.rules * 200)
    assert len(as_github(many).splitlines()) <= 6
    assert len(as_markdown(many).encode()) <= MOST_BYTES
