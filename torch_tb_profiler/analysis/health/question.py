"""The question what was recorded, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import asdict

from torch_tb_profiler.analysis.answer import Answer, Bytes, TraceMeta
from torch_tb_profiler.analysis.capture import Capture, capture
from torch_tb_profiler.analysis.health import health
from torch_tb_profiler.analysis.health.profiler import LOG_LEVELS, log_lines
from torch_tb_profiler.analysis.question import NoParameters, Question, Subject
from torch_tb_profiler.trace import Note

#: of what the profiler logged; it may have done so for every step
MOST_LOG_LINES = 100
LONGEST_LOG_LINE = 1000


class RecordedCapture(Capture, frozen=True, kw_only=True):
    """One recording and its file.

    bytes  of the file as stored
    """

    bytes: Bytes


class HealthAnswer(Answer, frozen=True, kw_only=True):
    """What was recorded, and what problems it has.

    meta     which trace
    notes    all there are, also of what was not recorded
    log      lines of the profiler's own log, by level
    capture  the recording and its file
    """

    meta: TraceMeta
    notes: Sequence[Note]
    log: Mapping[str, Sequence[str]]
    capture: RecordedCapture


def _health(subject: Subject, _: NoParameters) -> HealthAnswer:
    model = subject.model
    return HealthAnswer(
        meta=TraceMeta(**subject.about(None)),
        notes=health(model),
        log={
            level.lower(): [line[:LONGEST_LOG_LINE] for line in log_lines(model, level)[:MOST_LOG_LINES]]
            for level in LOG_LEVELS
        },
        capture=RecordedCapture(bytes=subject.file_bytes, **asdict(capture(model))),
    )


HEALTH = Question(
    name="health",
    summary="What was recorded, and what problems it has",
    compute=_health,
    about="any",
    aliases=("/health",),
    of_steps=False,
    precompute=(NoParameters(),),
    report=({},),
)
