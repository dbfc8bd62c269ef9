"""What a new rule, question, view or command lacks of what docs/contributing.md asks for, in sentences.

New is what the main branch does not have, in files that git knows or not. Words in both languages: `test_words` and
`test_chinese`; pages that name each rule and command: `test_definitions`.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

import pytest

import house
from tests.recorded import ROOT
from torch_tb_profiler.analysis.result import Result
from torch_tb_profiler.cli.registry import COMMANDS
from torch_tb_profiler.insights.rules import RULES
from torch_tb_profiler.insights.run.rules import RUN_RULES
from torch_tb_profiler.questions import QUESTIONS
from torch_tb_profiler.tables.listing import TABLES
from torch_tb_profiler.tables.results import COLUMNS, RESULTS


class Kind(NamedTuple):
    """A kind of feature.

    called    what people call each, by name
    declared  the text that declares one, with {} for its name
    places    where that stands
    page      what docs/ say of one, with {} for its name
    """

    called: Mapping[str, str]
    declared: str
    places: tuple[str, ...]
    page: str


def _views() -> dict[str, str]:
    texts = [path.read_text("utf-8") for path in (ROOT / "fe/src/views").glob("*/view.ts")]
    return {m[1]: m[2] for text in texts for m in re.finditer(r'id: "(\w+)",\n.*?\ben: "([^"]+)"', text, re.DOTALL)}


KINDS = {
    "rule": Kind(
        {name: name.replace("_", " ") for name in (*(rule.id for rule in RULES), *(rule.id for rule in RUN_RULES))},
        "def {}(",
        ("torch_tb_profiler/insights",),
        "`{}`",
    ),
    "question": Kind(
        {each.name: each.summary for each in QUESTIONS},
        '"{}"',
        tuple(f"torch_tb_profiler/{room}" for room in ("analysis", "insights", "ranks", "timeline")),
        "/api/{}",
    ),
    "view": Kind(_views(), 'id: "{}"', ("fe/src/views",), "` | {} |"),
    "command": Kind(
        {name: each.help for name, each in COMMANDS.items()},
        '"{}"',
        ("torch_tb_profiler/cli/registry.py", "torch_tb_profiler/tables/listing.py"),
        "torch-tb-profiler {}",
    ),
}


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.decode(errors="replace")


@cache
def base() -> str:
    """The commit of the main branch that the work is on top of."""
    for branch in ("origin/main", "main"):
        if commit := _git("merge-base", "HEAD", branch):
            return commit.strip()
    pytest.skip("no main branch to compare with")


@cache
def texts_of(*folders: str) -> str:
    """All texts below these, as they are in the working tree."""
    names = [
        name
        for name in house.files_of(ROOT)
        if name.startswith(folders) and name.endswith((".py", ".tsx", ".ts", ".md"))
    ]
    # features of the recipes are no features
    return "\n".join((ROOT / name).read_text("utf-8") for name in names if "recipes" not in name)


@cache
def new_lines_of_the_changelog() -> str:
    before = set((_git("show", f"{base()}:CHANGELOG.md") or "").splitlines())
    return "\n".join(line for line in (ROOT / "CHANGELOG.md").read_text("utf-8").splitlines() if line not in before)


def new(kind: Kind) -> list[str]:
    before = _git("grep", "-h", "", base(), "--", *kind.places) or ""
    return [name for name in kind.called if kind.declared.format(name) not in before]


def left_out(kind: str, name: str) -> Iterator[str]:
    """What a new feature lacks, a sentence each."""
    of = KINDS[kind]
    called = of.called.get(name, name)
    quoted = re.compile(rf"""["'`/= ]{re.escape(name)}["'`?/ ]""")
    if not quoted.search(texts_of("tests/", "fe/src/views/params.test.ts")):
        yield f"no test names the {kind} {name}"
    documented = of.page.format(called if kind == "view" else name)
    if documented not in texts_of("docs/"):
        yield f"no page in docs/ has {documented!r}, of the {kind} {name}"
    changes = new_lines_of_the_changelog().lower()
    if not any(each.lower() in changes for each in (name, called)):
        yield f"no new line of CHANGELOG.md names the {kind} {name} ({called})"


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_new_is_left_out(kind: str) -> None:
    assert len(KINDS[kind].called) > 10
    said = [sentence for name in new(KINDS[kind]) for sentence in left_out(kind, name)]
    assert not said, "\n".join(said)


def test_what_is_left_out_is_told() -> None:
    nothing = "not" + "_there"
    assert list(left_out("command", nothing)) == [
        f"no test names the command {nothing}",
        f"no page in docs/ has 'torch-tb-profiler {nothing}', of the command {nothing}",
        f"no new line of CHANGELOG.md names the command {nothing} ({nothing})",
    ]
    assert "view" not in {*new(KINDS["view"])}


def test_rows_of_new_questions_are_commands() -> None:
    rows = {each.name for each in QUESTIONS if isinstance(each.answer, type) and issubclass(each.answer, Result)}
    listed = {each.question for each in TABLES.values()}
    missing = rows.intersection(new(KINDS["question"])) - listed
    assert not missing, (
        f"tables/listing.py has no ListedTable of the questions {missing}: no command and no agent has them"
    )


def test_tables_have_columns_and_what_makes_them() -> None:
    questions = {each.name for each in QUESTIONS}
    for name, table in TABLES.items():
        if table.command.of_run:
            continue
        assert not table.agents or name in COLUMNS, f"tables/results.py has no line for the table {name} of agents"
        made = table.question in questions or (not table.question and name in RESULTS)
        assert made, (
            f"the table {name} is neither of a question of questions.py nor made by a line of tables/results.py"
        )
