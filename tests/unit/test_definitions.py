"""The UI and the docs say the same about every number, and every number that is answered is defined."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import fields

import columns
from columns import all_definitions
from torch_tb_profiler.analysis.answer import Definition, Unit, by_key
from torch_tb_profiler.analysis.run_metrics import TRACES, Figures
from torch_tb_profiler.cli.registry import COMMANDS
from torch_tb_profiler.insights import RULES
from torch_tb_profiler.insights.run.rules import RUN_RULES
from torch_tb_profiler.tables.listing import COMMANDS as LISTED

UNITS: tuple[tuple[str, Unit | None], ...] = (("x", "ns"), ("y", None))

#: whose docs have the definitions
VIEWS = {
    "overview": "overview",
    "api_calls": "operators",
    "operators": "operators",
    "kernels": "kernels",
    "roofline": "roofline",
    "memory": "memory",
    "memory.modules": "memory",
    "overlap": "distributed",
    "step_use": "distributed",
    "ranks": "distributed",
    "operations": "distributed",
    "rank_ranges": "distributed",
    "range_of_ranks": "distributed",
    "slices": "trace",
    "traces": "compare",
    "traces_by_name": "compare",
    "parts": "compare",
    "compare_operators": "compare",
    "compare_kernels": "compare",
    "compare_roofline": "compare",
    "modules": "modules",
    "hooks": "modules",
    "stacks": "stacks",
    "snapshot": "snapshot",
    "snapshot.lifetimes": "snapshot",
    "snapshot.stacks": "snapshot",
    "snapshot.against": "snapshot",
    "snapshot.ranks": "snapshot",
    "path": "critical-path",
    "on_path": "critical-path",
    "changed_work": "compare",
    "name_total": "trace",
    "device_total": "trace",
    "unattributed": "operators",
    "steps": "steps",
    "run_ranks": "distributed",
    "run_group": "distributed",
    "collective": "distributed",
    "moe": "distributed",
    "fsdp": "distributed",
    "bandwidth_fit": "distributed",
    "micro_batches": "program",
    "optimizers": "program",
    "ranges": "program",
    "range_calls": "program",
    "engine_steps": "program",
    "regions": "program",
    "compilations": "program",
    "generated": "program",
    "graphs": "program",
    "graph_nodes": "program",
    "captures": "program",
    "eager": "program",
    "graph_gaps": "program",
    "outside_graphs": "program",
}


@pytest.mark.parametrize("group", sorted(all_definitions()))
def test_a_page_has_the_definitions(repository: Path, group: str) -> None:
    assert group in VIEWS, f"VIEWS says of no page in docs/views that it has the columns of {group}"
    text = (repository / "docs" / "views" / f"{VIEWS[group]}.md").read_text()
    marked = {part.split()[0] for of in re.findall(r"<!-- columns: (.*) -->", text) for part in of.split(",")}
    assert group in marked, f"docs/views/{VIEWS[group]}.md has no comment `columns: {group}`"


def test_the_site_has_the_definitions() -> None:
    defined = all_definitions()
    site = "".join(columns.with_tables(page.read_text("utf-8"), defined) for page in columns.pages())
    shown = [group[key] for group in defined.values() for key in columns.documented(group)]
    assert len(shown) > 400
    assert [d.key for d in shown if f"| {d.help} |" not in site or f"| {d.label} |" not in site] == []


def test_a_comment_becomes_the_table_of_its_group() -> None:
    defined = {
        "A": by_key("a", *(Definition(key, f"Label {key}", "number", unit, f"Help {key}.") for key, unit in UNITS))
    }
    page = "before\n\n<!-- columns: {} -->\n\nafter\n"
    head = "| key | shown as | unit | meaning |\n|---|---|---|---|\n"
    whole = columns.with_tables(page.format("A"), defined)
    rows = "| `x` | Label x | ns | Help x. |\n| `y` | Label y | – | Help y. |\n"
    assert whole == f"before\n\n{head}{rows}\nafter\n"
    assert "`x`" not in columns.with_tables(page.format("A y"), defined)
    with pytest.raises(KeyError):
        columns.with_tables(page.format("B"), defined)


def test_the_docs_name_every_rule(repository: Path) -> None:
    text = (repository / "docs" / "findings.md").read_text()
    said = set(re.findall(r"^\| (R[\d, ]+) \| `(\w+)` \|", text, re.MULTILINE))
    rules = {(rule.number, rule.id) for rule in RULES} | {(rule.number, rule.id) for rule in RUN_RULES}
    assert rules == said, f"docs/findings.md lacks {rules - said}, or has what is gone: {said - rules}"


def test_every_figure_is_defined() -> None:
    assert {f.name for f in fields(Figures)} == TRACES.keys() - {"trace", "run", "worker", "span"}


def test_every_command_is_on_its_page(repository: Path) -> None:
    """With an example of each table; tests/docs runs them."""
    page = (repository / "docs" / "command-line.md").read_text("utf-8")
    commands = set(re.findall(r"^\$ torch-tb-profiler ([\w-]+)", page, re.MULTILINE))
    assert set(LISTED) <= commands, f"docs/command-line.md has no example of {set(LISTED) - commands}"
    assert [name for name in COMMANDS if f"| `{name}` |" not in page and name not in commands] == []


def test_the_letters_of_the_views_are_those_of_the_page(repository: Path) -> None:
    views = [path.read_text("utf-8") for path in (repository / "fe" / "src" / "views").glob("*/view.ts")]
    letters = {letter for text in views for letter in re.findall(r'^ *key: "(\w)"', text, re.MULTILINE)}
    table = (repository / "docs" / "ui.md").read_text("utf-8").split("| letter | view |")[1].split("\n\n")[0]
    assert set(re.findall(r"`(\w)`", table)) == letters
