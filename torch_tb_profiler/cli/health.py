"""`torch-tb-profiler health`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from torch_tb_profiler.cli.messages import UNSOUND, safe
from torch_tb_profiler.cli.parsers import declare_trace

if TYPE_CHECKING:
    from torch_tb_profiler.analysis.health.notes import HealthAnswer
    from torch_tb_profiler.analysis.question import Subject
    from torch_tb_profiler.trace import Note

_ORDER = ("error", "warning", "info")
_WORDS = (("error", "error", "errors"), ("warning", "warning", "warnings"), ("info", "note", "notes"))


class HealthCommand:
    """List what is wrong with a trace, and the code that records what is missing.

    Examines every trace of a run, or those that --worker and --span choose. The exit code is 3 if there are errors.
    """

    name = "health"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        declare_trace(parser)
        parser.add_argument("--json", action="store_true", help="as JSON: the answer of /api/health for each trace")
        parser.epilog = "Example:\n  torch-tb-profiler health LOGDIR/RUN"

    def run(self, arguments: argparse.Namespace) -> int:
        from torch_tb_profiler.arrays.types import dumps_indented
        from torch_tb_profiler.cli.work.traces import chosen
        from torch_tb_profiler.workspace import process

        process.configure_logging()
        with chosen(arguments, all_of_run=True) as found:
            answers = [found.ask(health_of, at) for at in range(len(found.files))]
        if arguments.json:
            print(dumps_indented({"traces": answers}))
        else:
            print("\n\n".join(map(as_text, answers)))
        return UNSOUND if any(has_errors(answer.notes) for answer in answers) else 0


def health_of(subject: Subject) -> HealthAnswer:
    """Return the answer of /api/health."""
    from torch_tb_profiler.analysis.health.notes import HEALTH
    from torch_tb_profiler.analysis.question import NoParameters

    answer: HealthAnswer = HEALTH.compute(subject, NoParameters())
    return answer


def has_errors(notes: Sequence[Note]) -> bool:
    """Return whether any note is an error: wrong numbers or lost data."""
    return any(note.severity == "error" for note in notes)


def as_text(answer: HealthAnswer) -> str:
    """Return the notes as text, errors first, each with its remedy."""
    meta = answer.meta
    lines = [f"{meta.run} · {meta.worker} · span {meta.span}: {counted(answer.notes)}"]
    for note in sorted(answer.notes, key=lambda each: _ORDER.index(each.severity)):
        lines += note_lines(note)
    return "\n".join(map(safe, lines))


def note_lines(note: Note) -> list[str]:
    """Return the lines of a note, with the code that remedies it."""
    times = f" ({note.count:,} times)" if note.count > 1 else ""
    lines = [f"  {note.severity:<8} {note.text}{times}"]
    return [*lines, f"           → {note.remedy}"] if note.remedy else lines


def counted(notes: Sequence[Note]) -> str:
    """Return the number of notes of each severity.

    >>> counted([])
    'nothing to say'
    """
    found = []
    for severity, one, many in _WORDS:
        count = sum(note.severity == severity for note in notes)
        found += [f"{count} {many if count > 1 else one}"] if count else []
    return ", ".join(found) or "nothing to say"
