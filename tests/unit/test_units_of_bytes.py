"""Powers of 1024 are KiB, MiB, GiB and TiB wherever they are shown; KB, MB and GB are decimal, and few say so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import words
from torch_tb_profiler.analysis.text_format import factor_of, in_column, with_unit
from torch_tb_profiler.words.formats import BYTES_PER, size

#: rates are decimal everywhere
_UNIT = re.compile(r"(?<![A-Za-z_])[kKMGT]B(?![A-Za-z0-9_]|/s)")

#: its texts are those of another program
OLD_PLUGIN = "torch_tb_profiler/web/old_plugin/"
#: what else may say so, and why
DECIMAL: Mapping[str, tuple[str, ...]] = {
    # sizes of files, divided by 1000²
    "torch_tb_profiler/cli/work/progress.py": ("{} of {} MB", "10.0 of 40.0 MB"),
    "torch_tb_profiler/cli/export.py": ("{}: {} MB",),
    "torch_tb_profiler/cli/report.py": ("{}: {} MB",),
    "torch_tb_profiler/cli/work/summaries.py": ("{} MB of packed files",),
    "torch_tb_profiler/api/notebook.py": ("0.6 MB or more",),
    "torch_tb_profiler/snapshot/unpickle_stream.py": ("a file of 100 MB",),
    # 64e6 bytes
    "torch_tb_profiler/analysis/roofline/table.py": ("above 64 MB",),
    "torch_tb_profiler/analysis/roofline/activities.py": ("more than 64 MB",),
    "torch_tb_profiler/words/zh-CN/columns.toml": ("超过 64 MB",),
    # 4 * 1000³
    "torch_tb_profiler/workspace/reading/reading_order.py": ("does not say, 4 GB",),
    # DuckDB's megabytes are decimal
    "torch_tb_profiler/tables/sql/connection.py": ("512MB",),
    # names of devices
    "torch_tb_profiler/ranks/run/collectives.py": ("H100 80GB HBM3", "A100-PCIE-40GB"),
    # what Inductor records
    "torch_tb_profiler/trace/schema.py": ("GB, as kernel_flop",),
    # what people may type, and are told
    "torch_tb_profiler/cli/check.py": ("64MiB' (MB is the same here)",),
    "fe/src/i18n/en/table.ts": ("KiB MiB GiB (KB MB GB mean the same)",),
    "fe/src/i18n/zh-CN/table.ts": ("KiB MiB GiB（KB MB GB 含义相同）",),
    "fe/src/table/filter.ts": ("KB and K are 1024 bytes here, too",),
    "fe/src/format/bytes.ts": ("KB, MB and GB are decimal",),
    "torch_tb_profiler/words/formats.py": ("KB, MB and GB are decimal",),
}


def shown(root: Path) -> Iterator[tuple[str, str]]:
    """File and text: sources of the UI, sentences of both languages, strings of modules that write such a unit."""
    for path in sorted((root / "torch_tb_profiler").rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if not name.startswith(OLD_PLUGIN) and _UNIT.search(path.read_text("utf-8")):
            yield from ((name, text.text) for text in words.of_module(path))
    for path in sorted((root / "fe" / "src").rglob("*.ts*")):
        if not path.name.endswith((".test.ts", ".test.tsx")):
            yield path.relative_to(root).as_posix(), path.read_text("utf-8")
    for path in sorted((root / "torch_tb_profiler" / "words").rglob("*.toml")):
        yield path.relative_to(root).as_posix(), path.read_text("utf-8")


def mistaken(text: str, allowed: tuple[str, ...] = ()) -> list[str]:
    """Where a text writes a decimal unit that it may not."""
    for each in allowed:
        text = text.replace(each, "")
    return [text[max(0, match.start() - 30) : match.end() + 10] for match in _UNIT.finditer(text)]


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("{} GB of memory", 1),
        ("5MB", 1),
        ("64 kB each", 1),
        ("各发送 ${n} KB，来自", 1),
        ("at 5 GB/s", 0),
        ("3 GiB, 2 MiB", 0),
        ("NUMBER, TORCH_TB_PROFILER", 0),
    ],
)
def test_what_is_found(text: str, times: int) -> None:
    assert len(mistaken(text)) == times


def test_no_power_of_1024_has_a_decimal_name(repository: Path) -> None:
    texts = list(shown(repository))
    assert len(texts) > 1500
    assert [(name, each) for name, text in texts for each in mistaken(text, DECIMAL.get(name, ()))] == []
    gone = [
        (name, each)
        for name, allowed in DECIMAL.items()
        for each in allowed
        if not any(each in text for file, text in texts if file == name)
    ]
    assert gone == [], "nothing says this any more"


@pytest.mark.parametrize(("name", "bytes_"), BYTES_PER.items())
def test_every_writer_has_the_same_names(name: str, bytes_: int) -> None:
    assert size(bytes_) == f"1 {name}"
    assert in_column([bytes_], "bytes")[0] == name
    assert with_unit(3 * bytes_, "bytes").endswith(f" {name}")


@pytest.mark.parametrize(("name", "bytes_"), BYTES_PER.items())
def test_people_may_write_them_as_before(name: str, bytes_: int) -> None:
    for written in (name, name.lower(), name.replace("i", ""), name[0]):
        assert factor_of(written, "bytes") == bytes_
    assert factor_of("GB", "bytes_per_second") == 1e9
    assert factor_of("GiB", "bytes_per_second") is None
