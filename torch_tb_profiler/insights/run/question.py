"""The question about what bounds a run of several ranks, and what its rules find."""

from __future__ import annotations

from typing import Annotated

from msgspec.structs import asdict

from torch_tb_profiler.analysis.question import Node, NoParameters, Question, RunSubject, Subject, absent_of_span
from torch_tb_profiler.insights.run.facts import RunRank, run_rank
from torch_tb_profiler.insights.run.findings import RunDiagnosis, run_diagnosis
from torch_tb_profiler.ranks.run.answers import RunMeta


class RunFindingsAnswer(RunDiagnosis, frozen=True, kw_only=True):
    """What bounds a run, and its findings, with all loaded ranks replayed together.

    meta  which run
    """

    meta: RunMeta


def _part(subject: Subject) -> RunRank:
    return run_rank(subject.model, subject.worker)


RUN_RANK = Node(name="run_findings", make=_part, keep="memory")


def _run_findings(subject: Annotated[RunSubject[RunRank], RUN_RANK], _: NoParameters) -> RunFindingsAnswer:
    return RunFindingsAnswer(
        meta=RunMeta(run=subject.run, span=subject.span, notes=absent_of_span("distributed", subject)),
        **asdict(run_diagnosis(subject.parts)),
    )


RUN_FINDINGS = Question(
    name="run_findings",
    summary="What bounds a run of several ranks, and its findings",
    compute=_run_findings,
)
