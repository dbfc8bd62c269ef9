"""The UI and the docs say the same about every number, and every number that is answered is defined."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import fields

import columns
from columns import all_definitions
from torch_tb_profiler.analysis.definition import Definition, Unit, by_key
from torch_tb_profiler.analysis.device_use import DeviceUse, StepUse
from torch_tb_profiler.analysis.kernels.columns import KERNELS
from torch_tb_profiler.analysis.kernels.table import KernelTable
from torch_tb_profiler.analysis.memory.blocks import BlockTable
from torch_tb_profiler.analysis.memory.columns import MEMORY
from torch_tb_profiler.analysis.memory.operators import MemoryOperators
from torch_tb_profiler.analysis.operators.columns import OPERATORS
from torch_tb_profiler.analysis.operators.table import LaunchedKernels, OperatorTable
from torch_tb_profiler.analysis.overlap import StepOverlap
from torch_tb_profiler.analysis.overview.columns import OVERVIEW
from torch_tb_profiler.analysis.overview.overview import CATEGORIES
from torch_tb_profiler.analysis.run_metrics.columns import TRACES
from torch_tb_profiler.analysis.run_metrics.metrics import Figures
from torch_tb_profiler.analysis.shared.kernel_use import TensorCores
from torch_tb_profiler.analysis.slices.columns import SLICES
from torch_tb_profiler.analysis.slices.table import SliceTable
from torch_tb_profiler.insights import RULES
from torch_tb_profiler.insights.run.rules import RUN_RULES
from torch_tb_profiler.ranks.columns import DISTRIBUTED, DISTRIBUTED_OPERATIONS, RANGE_OF_RANKS, RANK_RANGES
from torch_tb_profiler.ranks.distributed import OperationTable, Waits
from torch_tb_profiler.ranks.ranges import RangeRankTable, RankRangeTable

UNITS: tuple[tuple[str, Unit | None], ...] = (("x", "ns"), ("y", None))

#: whose docs have the definitions
VIEWS = {
    "OVERVIEW": "overview",
    "API_CALLS": "operators",
    "OPERATORS": "operators",
    "KERNELS": "kernels",
    "ROOFLINE": "roofline",
    "MEMORY": "memory",
    "MEMORY_MODULES": "memory",
    "OVERLAP": "distributed",
    "DISTRIBUTED": "distributed",
    "DISTRIBUTED_OPERATIONS": "distributed",
    "RANK_RANGES": "distributed",
    "RANGE_OF_RANKS": "distributed",
    "SLICES": "trace",
    "TRACES": "compare",
    "TRACES_BY_NAME": "compare",
    "COMPARE_PARTS": "compare",
    "COMPARE_OPERATORS": "compare",
    "COMPARE_KERNELS": "compare",
    "COMPARE_ROOFLINE": "compare",
    "MODULES": "modules",
    "HOOKS": "modules",
    "STACKS": "stacks",
    "SNAPSHOT": "snapshot",
    "SNAPSHOT_LIFETIMES": "snapshot",
    "SNAPSHOT_STACKS": "snapshot",
    "SNAPSHOT_AGAINST": "snapshot",
    "SNAPSHOT_RANKS": "snapshot",
    "PATH_PIECES": "critical-path",
    "MICRO_BATCHES": "program",
    "OPTIMIZERS": "program",
    "RANGES": "program",
    "CALLS_OF_RANGE": "program",
    "ENGINE_STEPS": "program",
    "REGIONS": "program",
    "COMPILATIONS": "program",
    "GENERATED": "program",
    "GRAPHS": "program",
    "GRAPH_NODES": "program",
    "CAPTURES": "program",
    "EAGER": "program",
    "GRAPH_GAPS": "program",
    "OUTSIDE_GRAPHS": "program",
}


@pytest.mark.parametrize("group", sorted(all_definitions()))
def test_the_docs_repeat_the_definitions(repository: Path, group: str) -> None:
    text = (repository / "docs" / "views" / f"{VIEWS[group]}.md").read_text()
    defined = all_definitions()[group].values()
    missing = [d.key for d in defined if f"| {d.help} |" not in text or f"| {d.label} |" not in text]
    assert not missing


def test_tables_of_columns_are_made_of_the_definitions() -> None:
    """`make columns` makes them."""
    defined = all_definitions()
    texts = {page.name: page.read_text("utf-8") for page in columns.pages()}
    assert [name for name, text in texts.items() if columns.rewritten(text, defined) != text] == []
    marked = {group for text in texts.values() for group in defined if f"columns: {group}" in text}
    assert len(marked) > 25


def test_a_table_gets_the_rows_of_its_group() -> None:
    defined = {
        "A": by_key("a", *(Definition(key, f"Label {key}", "number", unit, f"Help {key}.") for key, unit in UNITS))
    }
    head = "<!-- columns: {} -->\n\n| key | unit | what it is |\n|---|---|---|\n"
    page = f"before\n\n{head}| old | – | row |\n\nafter\n"
    whole = columns.rewritten(page.format("A"), defined)
    assert whole == f"before\n\n{head.format('A')}| `x` | ns | Help x. |\n| `y` | – | Help y. |\n\nafter\n"
    assert "`x`" not in columns.rewritten(page.format("A y"), defined)
    with pytest.raises(KeyError):
        columns.rewritten(page.format("B"), defined)


def test_the_docs_name_every_rule(repository: Path) -> None:
    text = (repository / "docs" / "findings.md").read_text()
    said = set(re.findall(r"^\| (R[\d, ]+) \| `(\w+)` \|", text, re.MULTILINE))
    assert {(rule.number, rule.id) for rule in (*RULES, *RUN_RULES)} == said


def test_every_column_is_defined() -> None:
    about_the_table = {"group_by", "has_device_work", "device_ns", "host_ns", "totals", "memcpy", "memset", "waits"}
    assert {f.name for f in fields(OperatorTable)} - about_the_table == OPERATORS.keys()
    assert {f.name for f in fields(KernelTable)} - about_the_table == KERNELS.keys()
    assert {f.name for f in fields(LaunchedKernels)} <= KERNELS.keys()
    assert {f.name for f in fields(MemoryOperators)} - {"device", "unattributed", "all"} <= MEMORY.keys()
    about_the_page = {"alloc_row", "release_row", "total", "reason"}
    assert {f.name for f in fields(BlockTable)} - about_the_page <= MEMORY.keys()
    assert {f.name for f in fields(SliceTable)} - {"total"} == SLICES.keys()
    assert {f.name for f in fields(RankRangeTable)} - {"left_out"} == RANK_RANGES.keys()
    assert {f.name for f in fields(RangeRankTable)} == RANGE_OF_RANKS.keys()
    assert {f.name for f in fields(OperationTable)} == DISTRIBUTED_OPERATIONS.keys()
    of_steps = {name for kind in (StepOverlap, StepUse, Waits) for name in kind.__struct_fields__}
    assert of_steps >= DISTRIBUTED.keys()
    assert {f.name for f in fields(Figures)} == TRACES.keys() - {"trace", "run", "worker", "span"}
    about_the_device = {"id", "name", "memory_bytes", "compute_capability", "tensor_cores"}
    shares = {f.name for f in fields(DeviceUse)} - about_the_device
    parts = {f"tensor_cores_{f.name}" for f in fields(TensorCores)}
    assert shares | parts | {*CATEGORIES, "step", "kind"} == OVERVIEW.keys()
