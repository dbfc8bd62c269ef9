"""The Chinese page knows what the server says: columns by their English words, notes and findings by their keys."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.definitions import PACKAGE, all_definitions
from torch_tb_profiler.analysis.overview.columns import OVERVIEW
from torch_tb_profiler.insights import RULES
from torch_tb_profiler.storage import errors
from torch_tb_profiler.storage.blob import Blobs
from torch_tb_profiler.storage.files import _ADVICE as FILES_ADVICE
from torch_tb_profiler.storage.gs import Google
from torch_tb_profiler.storage.s3 import S3
from torch_tb_profiler.timeline import series

SAID = Path(__file__).parents[2] / "fe/src/i18n/zh-CN/serverMessages.ts"
TABLES = [Path(__file__).parents[2] / "fe/src/i18n/zh-CN" / name for name in ("serverTexts.ts", "quantityTexts.ts")]
# Sums and curves: numbers of answers, not columns of tables.
NO_COLUMNS = {
    "OPERATORS": {"unattributed_device_ns"},
    "MEMORY": {
        "unattributed",
        "time_ns",
        "allocated",
        "reserved",
        "device_bytes",
        "peak",
        "baseline",
        "unrecorded",
        "unknown_bytes",
    },
}
# Put together of a side and a text: the table does so, too.
SIDES = re.compile(r"^(Baseline|Experiment|Δ) (?=[A-Z])|^(Baseline|Experiment|Experiment − baseline): ")


def texts() -> set[str]:
    written = "".join(table.read_text("utf-8") for table in TABLES)
    keys = re.findall(r'^  (?:("(?:[^"\\]|\\.)*")|(\w+)):', written, re.MULTILINE)
    return {json.loads(quoted) if quoted else bare for quoted, bare in keys}


DEFINED = all_definitions()


# OVERVIEW is not shown as columns: below
@pytest.mark.parametrize("group", sorted(DEFINED.keys() - {"OVERVIEW"}))
def test_every_column_has_chinese_words(group: str) -> None:
    shown = [d for key, d in DEFINED[group].items() if key not in NO_COLUMNS.get(group, ())]
    known = texts()
    missing = [text for d in shown for text in (d.label, d.help) if SIDES.sub("", text) not in known]
    assert missing == []


def calls_of(name: str) -> Iterator[ast.Call]:
    """Everywhere in the package."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
                yield node


def constants(call: ast.Call, at: int) -> list[str]:
    """What is given at a place, where it stands there as a text."""
    given = call.args[at] if at < len(call.args) else None
    return [given.value] if isinstance(given, ast.Constant) and isinstance(given.value, str) else []


def said(part: str) -> set[str]:
    """Keys of one part of the table."""
    block = SAID.read_text("utf-8").partition(f"\n  {part}: {{")[2].partition("\n  },")[0]
    return set(re.findall(r"^    (\w+): ", block, re.MULTILINE))


def list_of(name: str) -> set[str]:
    """Keys of one list of its own in the table."""
    block = re.search(rf"^const {name}\b.*? = {{\n(.*?)^}};", SAID.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert block
    return set(re.findall(r"^  (\w+): ", block[1], re.MULTILINE))


def test_every_note_can_be_said_in_chinese(repository: Path) -> None:
    health = (repository / "docs" / "health.md").read_text("utf-8")
    documented = re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| (`[^|]*) \|", health, re.MULTILINE)))
    kinds = {kind for call in calls_of("Note") for kind in constants(call, 0)} | set(documented)
    assert len(kinds) > 40
    assert kinds - said("notes") == set()


def test_every_reason_can_be_said_in_chinese() -> None:
    kinds = {
        kind for name in ("Reason", "Attempt", "_failed") for call in calls_of(name) for kind in constants(call, 0)
    }
    assert len(kinds) > 25
    assert kinds - list_of("reasons") == set()
    assert list_of("TROUBLES") == set(errors.REASONS)


def test_what_to_do_about_a_storage_is_known_in_chinese() -> None:
    advices = [errors.ADVICE, FILES_ADVICE, S3.advice, Blobs.advice, Google.advice]
    assert {advice for each in advices for advice in each.values()} - texts() == set()


def test_every_finding_can_be_said_in_chinese() -> None:
    assert {rule.id for rule in RULES} == said("findings")
    assert {key for call in calls_of("Evidence") for key in constants(call, 0)} == said("evidence")
    assert {text for call in calls_of("Link") for text in constants(call, 0)} - texts() == set()


def test_remedies_in_words_are_known_in_chinese() -> None:
    given = [keyword.value for call in calls_of("Note") for keyword in call.keywords if keyword.arg == "remedy"]
    written = {node.value for value in given for node in ast.walk(value) if isinstance(node, ast.Constant)}
    assert len(written) > 10
    in_words = {remedy for remedy in written if isinstance(remedy, str) and re.search(r"# |\bor\b", remedy)}
    assert in_words - texts() == set()


def test_the_overview_is_explained_in_chinese() -> None:
    assert {definition.help for definition in OVERVIEW.values()} - texts() == set()


def test_the_curves_of_the_timeline_are_named_in_chinese() -> None:
    assert {name for name, _ in series.COUNTER_KINDS.values()} - texts() == set()
