"""A field of traces is one line in `trace/schema.py`: decoded, stored, and shown with the details of a slice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.recipes.guide import Copy, copy_into, recipe

(LINE,) = recipe("A field of the trace")


class Field(NamedTuple):
    """annotation, declaration: the line of the schema; key, values: of two events; column, shown: what is expected."""

    annotation: str
    declaration: str
    key: str
    values: tuple[Any, Any]
    column: list[Any]
    shown: list[Any]


FIELDS = {
    "integer": Field("Int64", 'column("count", source="queue depth")', "queue depth", (7, None), [7, -1], [7, None]),
    "float": Field("Float64", 'column("warps", source="wps")', "wps", (1.5, "2.5"), [1.5, 2.5], [1.5, 2.5]),
    "JSON": Field("Int32", 'column(JSON_TEXT, source="cl")', "cl", ([2, 1], None), ["[2,1]", ""], [[2, 1], None]),
    "text": Field("Int32", 'column(STRING, source="mode")', "mode", ("fast", ""), ["fast", ""], ["fast", None]),
    "second spelling": Field("Int64", 'column("warps", source=("wps", "Warps"))', "Warps", (3, 4), [3, 4], [3, 4]),
}

PROGRAM = """
import json, sys
from pathlib import Path
from torch_tb_profiler.model import Model
from torch_tb_profiler.timeline.timeline_file import build
from torch_tb_profiler.timeline.details import details
from torch_tb_profiler.trace import read_to_file, read_trace

trace, is_text = Path(sys.argv[1]), sys.argv[2] == "Int32"
with trace.open("rb") as stream:
    read = read_trace(stream)
with trace.open("rb") as stream:
    stored = read_to_file(stream, trace.with_suffix(".columns"))
columns = []
for found in (read, stored):
    values = found.device_work.added.tolist()
    columns.append(found.strings.texts(found.device_work.added) if is_text else values)
timeline = build(Model(read))
(declared,) = [column for column in read.device_work.schema() if column.name == "added"]
shown = [details(timeline, row).args.get(declared.source[0]) for row in (0, 1)]
print(json.dumps([*columns, shown]))
"""


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return copy_into(tmp_path_factory.mktemp("copy"))


@pytest.fixture
def copy(pristine: Copy) -> Iterator[Copy]:
    schema = pristine.root / LINE.file
    text = schema.read_text("utf-8")
    yield pristine
    schema.write_text(text, "utf-8")


@pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS)
def test_one_line_adds_a_field(field: Field, copy: Copy, tmp_path: Path) -> None:
    copy.apply([replace(LINE, text=f"    added: {field.annotation} = {field.declaration}\n")])
    kernel = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "dur": 5}
    events = [
        {**kernel, "ts": 10 * i, "args": {"device": 0, "stream": 7} | ({} if value is None else {field.key: value})}
        for i, value in enumerate(field.values)
    ]
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"traceEvents": events}, separators=(",", ":")))
    printed = copy.python("-c", PROGRAM, str(trace), field.annotation)
    assert json.loads(printed) == [field.column, field.column, field.shown]


def test_the_line_of_the_guide_is_the_first_of_these() -> None:
    first = FIELDS["integer"]
    assert LINE.text == f"    added: {first.annotation} = {first.declaration}\n"
