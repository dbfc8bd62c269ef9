"""The Chinese page finds the server's labels and definitions of columns by their English words."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from torch_tb_profiler.analysis import definitions
from torch_tb_profiler.analysis.definitions import Definition

TABLE = Path(__file__).parents[2] / "fe/src/i18n/zh-CN/server.ts"
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
    keys = re.findall(r'^  (?:("(?:[^"\\]|\\.)*")|(\w+)):', TABLE.read_text("utf-8"), re.MULTILINE)
    return {json.loads(quoted) if quoted else bare for quoted, bare in keys}


@pytest.mark.parametrize(
    "group",
    [
        "OPERATORS",
        "KERNELS",
        "MEMORY",
        "DISTRIBUTED",
        "DISTRIBUTED_OPERATIONS",
        "MODULES",
        "HOOKS",
        "STACKS",
        "COMPARE_PARTS",
        "COMPARE_OPERATORS",
        "COMPARE_KERNELS",
        "SLICES",
    ],
)
def test_every_column_has_chinese_words(group: str) -> None:
    defined: dict[str, Definition] = getattr(definitions, group)
    shown = [d for key, d in defined.items() if key not in NO_COLUMNS.get(group, ())]
    known = texts()
    missing = [text for d in shown for text in (d.label, d.help) if SIDES.sub("", text) not in known]
    assert missing == []
