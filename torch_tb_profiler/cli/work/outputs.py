"""Tables as files (JSON, JSON lines, CSV, Parquet, text), and call stacks as files for other programs.

speedscope's format: https://www.speedscope.app/file-format-schema.json. Folded stacks, of flamegraph.pl, inferno and
many others: a line for each, frames from the outermost on with semicolons between them, a space, and a whole number.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from torch_tb_profiler import __version__
from torch_tb_profiler.analysis.stacks.stack_table import StackTable
from torch_tb_profiler.analysis.tabular import Column, Page
from torch_tb_profiler.arrays.types import dumps
from torch_tb_profiler.cli.messages import UserError, nearest, safe
from torch_tb_profiler.cli.work.targets import Target, target_of
from torch_tb_profiler.trace.files import PART

Format = Literal["text", "json", "jsonl", "csv", "parquet"]

#: by the ending of a file
ENDINGS: Mapping[str, Format] = {
    ".txt": "text",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
}

#: a spreadsheet runs a cell that begins so; as `fe/src/table/text.ts`, `tests/cases/csv_cells.json` has cases of both
_FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")
_QUOTED = re.compile(r'[",\r\n]')
_NUMBER = re.compile(r"-[0-9]+(\.[0-9]+)?\Z")


def format_of(arguments: argparse.Namespace) -> tuple[Format, Target | None]:
    """Return the format and the file; None stands for stdout. Raises UserError."""
    chosen: Format | None = next((each for each in ("json", "jsonl", "csv") if getattr(arguments, each)), None)
    if arguments.parquet is not None:
        if arguments.output is not None:
            raise UserError("--parquet names the file: omit -o")
        return "parquet", target_of(arguments, arguments.parquet)
    if arguments.output in (None, "-"):
        return chosen or "text", None
    path = Path(arguments.output)
    found = chosen or ENDINGS.get(path.suffix.lower())
    if found is None:
        near = nearest(path.suffix.lower(), list(ENDINGS))
        raise UserError(f"{path}: the extension of the file must name a format{near}, one of {', '.join(ENDINGS)}")
    return found, target_of(arguments, path)


def write(page: Page[Any], form: Format, target: Target | None) -> None:
    """Write a table in a format for programs. Raises UserError."""
    if form == "parquet":
        if target is None:
            raise UserError("Parquet is written to a file: --parquet FILE")
        with replaced(target) as part:
            _write_parquet(page.columns, page.rows, part)
        return
    text = {"json": as_json, "jsonl": as_json_lines, "csv": as_csv}[form](page)
    put(text, target)


def put(text: str, target: Target | None) -> None:
    """Write to stdout or to a file, which appears whole or not at all. Raises UserError."""
    if target is None:
        sys.stdout.write(text)
        return
    with replaced(target) as part:
        part.write_text(text, "utf-8", "surrogatepass" if not text.isascii() else None)


@contextlib.contextmanager
def replaced(target: Target) -> Iterator[Path]:
    """Open a temporary file that replaces the target if the body succeeds. Raises UserError.

    A pipe and a device stay what they are: they are written to. So does a link: the file that it leads to is replaced.
    """
    path = target.path
    try:
        stays = _is_written_to(path)
        place = path if stays else Path(os.path.realpath(path))
        handle, name = tempfile.mkstemp(prefix=f".{place.name[:40]}.", suffix=PART, dir=None if stays else place.parent)
        os.close(handle)
        part = Path(name)
        try:
            yield part
            if stays:
                with part.open("rb") as made, path.open("wb") as out:
                    shutil.copyfileobj(made, out)
                return
            with contextlib.suppress(OSError):  # mkstemp allows nobody else to read it
                part.chmod(0o666 & ~_umask())
            part.replace(place)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from None


def _is_written_to(path: Path) -> bool:
    """Whether no other file may take the place: that of a pipe, of a device, of a file that this process has open
    (`/dev/stdout`), or of a link that leads to itself.
    """
    place, folder = os.path.realpath(path), os.path.realpath(path.parent)
    is_open_here = folder == "/dev" or folder.startswith("/proc/")
    return is_open_here or os.path.islink(place) or (path.exists() and not path.is_file())  # noqa: PTH114


def _umask() -> int:
    mask = os.umask(0o22)
    os.umask(mask)
    return mask


def as_json(page: Page[Any]) -> str:
    """Return one JSON object, as in the HTTP interface."""
    return dumps(page).decode() + "\n"


def as_json_lines(page: Page[Any]) -> str:
    """Return an object for each row."""
    keys = [column.key for column in page.columns]
    rows = zip(*(page.rows[key] for key in keys), strict=True)
    encode = msgspec.json.Encoder().encode
    return "".join(encode(dict(zip(keys, row, strict=True))).decode() + "\n" for row in rows)


def as_csv(page: Page[Any]) -> str:
    """RFC 4180 with a header; numbers unrounded, in the units that the keys end with."""
    keys = [column.key for column in page.columns]
    rows = [keys, *zip(*(map(cell, page.rows[key]) for key in keys), strict=True)]
    return "".join(",".join(map(_quoted, row)) + "\n" for row in rows)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def cell(value: Any) -> str:
    """Return a cell of CSV: numbers as in JSON, texts escaped so that no spreadsheet runs them."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    text = str(value)
    return f"'{text}" if isinstance(value, str) and _FORMULA.match(text) and not _NUMBER.match(text) else text


def _write_parquet(columns: Sequence[Column], rows: Mapping[str, Sequence[Any]], path: Path) -> None:
    """Write with pyarrow, else with duckdb. Raises UserError: neither is installed."""
    values = {column.key: [_known(value) for value in rows[column.key]] for column in columns}
    if _with_pyarrow(columns, values, path) or _with_duckdb(columns, values, path):
        return
    raise UserError("Parquet needs pyarrow or duckdb: pip install pyarrow")


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _is_whole(values: Sequence[Any]) -> bool:
    return all(value is None or isinstance(value, int) for value in values)


def _with_pyarrow(columns: Sequence[Column], values: Mapping[str, list[Any]], path: Path) -> bool:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        return False
    types = {"string": pa.string(), "bool": pa.bool_()}
    fields = []
    for column in columns:
        number = pa.int64() if _is_whole(values[column.key]) else pa.float64()
        about = {"unit": column.unit or "", "label": column.label, "help": column.help}
        fields.append(pa.field(column.key, types.get(column.type, number), metadata=about))
    schema = pa.schema(fields)
    arrays = [pa.array(values[field.name], field.type) for field in fields]
    parquet.write_table(pa.Table.from_arrays(arrays, schema=schema), path)
    return True


def _with_duckdb(columns: Sequence[Column], values: Mapping[str, list[Any]], path: Path) -> bool:
    try:
        import duckdb
    except ImportError:
        return False
    types = {"string": "varchar", "bool": "boolean"}

    def quoted(text: str, sign: str) -> str:
        return sign + text.replace(sign, sign * 2) + sign

    declared = ", ".join(
        f"{quoted(c.key, chr(34))} {types.get(c.type, 'bigint' if _is_whole(values[c.key]) else 'double')}"
        for c in columns
    )
    with duckdb.connect() as connection:
        connection.execute(f"create table rows ({declared})")
        found = list(zip(*(values[c.key] for c in columns), strict=True))
        if found:
            marks = ", ".join("?" for _ in columns)
            connection.executemany(f"insert into rows values ({marks})", found)  # noqa: S608 - question marks
        connection.execute(f"copy rows to {quoted(str(path), chr(39))} (format parquet)")
    return True


_SCHEMA = "https://www.speedscope.app/file-format-schema.json"
_TITLES = {"device": "device time", "host": "host time"}
_SOURCE = re.compile(r"(?P<file>.+)\((?P<line>\d+)\): ")


def as_speedscope(tables: Sequence[StackTable], name: str) -> str:
    """Return a profile for each weight, of stacks with their own times in ns, which add up to the whole."""
    frames: dict[tuple[str, str], int] = {}
    profiles = [_profile(table, name, frames) for table in tables]
    document: dict[str, Any] = {
        "$schema": _SCHEMA,
        "exporter": f"torch-tb-profiler {__version__}",
        "name": name,
        "activeProfileIndex": 0,
        "shared": {"frames": [_speedscope_frame(*frame) for frame in frames]},
        "profiles": profiles,
    }
    return dumps(document).decode() + "\n"


def _profile(table: StackTable, name: str, frames: dict[tuple[str, str], int]) -> dict[str, Any]:
    samples, weights = [], []
    for rows, own_ns in _each_stack(table):
        samples.append([frames.setdefault((table.name[row], table.kind[row]), len(frames)) for row in rows])
        weights.append(own_ns)
    return {
        "type": "sampled",
        "name": f"{_TITLES[table.weight]}: {name}",
        "unit": "nanoseconds",
        "startValue": 0,
        "endValue": sum(weights),
        "samples": samples,
        "weights": weights,
    }


def _speedscope_frame(name: str, kind: str) -> dict[str, Any]:
    found = _SOURCE.match(name) if kind == "frame" else None
    return {"name": name} | ({"file": found["file"], "line": int(found["line"])} if found else {})


def as_folded(table: StackTable) -> str:
    """Folded stacks with times in ns; a semicolon in a name becomes a colon."""
    lines = []
    for rows, own_ns in _each_stack(table):
        names = ";".join(safe(table.name[row]).replace(";", ":").strip() or "(no name)" for row in rows)
        lines.append(f"{names} {own_ns}\n")
    return "".join(lines)


def _each_stack(table: StackTable) -> Iterator[tuple[list[int], int]]:
    """Yield each stack with time of its own: its rows from the outermost on, and the time in ns."""
    parents = table.parent.tolist()
    above: list[list[int]] = []
    for row, (parent, own_ns) in enumerate(zip(parents, table.self_ns.tolist(), strict=True)):
        rows = [*(above[parent] if parent >= 0 else ()), row]
        above.append(rows)
        if own_ns > 0:
            yield rows, own_ns
