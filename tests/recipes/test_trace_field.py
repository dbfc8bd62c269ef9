"""A field of traces is one line in `trace/schema.py`: decoded, stored, and shown with the details of a slice."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

AFTER = '    graph_node_id: Int64 = column("id", "CUDA graphs, since 2026", source="graph node id")\n'


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
from torch_tb_profiler.timeline.build import build
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


@pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS)
def test_one_line_adds_a_field(field: Field, repository: Path, tmp_path: Path) -> None:
    package = tmp_path / "torch_tb_profiler"
    left_out = shutil.ignore_patterns("static", "__pycache__", "web", "cli")
    shutil.copytree(repository / "torch_tb_profiler", package, ignore=left_out)
    schema = package / "trace" / "schema.py"
    text = schema.read_text()
    assert AFTER in text
    schema.write_text(text.replace(AFTER, f"{AFTER}    added: {field.annotation} = {field.declaration}\n"))

    kernel = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "dur": 5}
    events = [
        {**kernel, "ts": 10 * i, "args": {"device": 0, "stream": 7} | ({} if value is None else {field.key: value})}
        for i, value in enumerate(field.values)
    ]
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({"traceEvents": events}, separators=(",", ":")))
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(trace), field.annotation],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == [field.column, field.column, field.shown]
