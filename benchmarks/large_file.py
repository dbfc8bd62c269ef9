"""D1 and D2: one file of 5M events, read by one process and by two, in turns."""

from __future__ import annotations

from pathlib import Path

from benchmarks import data
from benchmarks.bars.bar import Measured
from benchmarks.environments import OURS, PROBES, WORK, one_thread
from benchmarks.measure import Say
from benchmarks.processes import probe

REPETITIONS = 3


def measure(say: Say) -> Measured:
    """Of the repetitions the least of each number."""
    size = data.SIZES["5M"]
    say(data.LARGE_FILE)
    size.make()
    (path,) = size.files()
    rounds = [(_read(path, 0, size.seconds), _read(path, 1, size.seconds)) for _ in range(REPETITIONS)]
    return {"alone": _least([alone for alone, _ in rounds]), "helped": _least([helped for _, helped in rounds])}


def _read(path: Path, helpers: int, seconds: float) -> Measured:
    columns = WORK / "large.columns"
    (said,) = probe([OURS.python, PROBES / "large_file.py", path, columns, str(helpers)], one_thread(), seconds)
    columns.unlink()
    return said


def _least(said: list[Measured]) -> Measured:
    return said[0] | {key: min(each[key] for each in said) for key in ("wall", "cpu", "peak")}
