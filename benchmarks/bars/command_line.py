"""The command line: C1 and C2."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bars.bar import Bar, Check, Measured, at


def _help(m: Measured) -> Iterator[Check]:
    """CPU seconds of `--version`, of `--help`, and of the slowest help of a command."""
    for label, key in (("--version", "version"), ("--help", "help"), ("COMMAND --help, the slowest", "command_help")):
        yield Check(label, at(m, f"cli/{key}"), 0.060, None, "s")


def _summary(m: Measured) -> Iterator[Check]:
    """Wall seconds of a trace of 1M events that is in the cache, imports included."""
    yield Check("1M", at(m, "cli/summary"), 1.0, None, "s")


BARS = (
    Bar(
        "C1",
        "Help and version on the command line, CPU",
        "≤ 60 ms each",
        "",
        _help,
        "C1 is the whole process: Python itself takes 10 to 30 ms of it.",
    ),
    Bar("C2", "`summary` of a cached trace of 10^6 events, wall", "≤ 1.0 s", "", _summary),
)
