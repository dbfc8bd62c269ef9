"""The question about what bounds a run of several ranks, and what its rules find."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec.structs import asdict

from torch_tb_profiler.analysis.absent import absent_of_span
from torch_tb_profiler.analysis.answer import Answer, Count, MeanNs
from torch_tb_profiler.analysis.question import Node, NoParameters, Question, RunSubject, Subject
from torch_tb_profiler.insights.bound import Bound
from torch_tb_profiler.insights.run.facts import RunRank, run_rank
from torch_tb_profiler.insights.run.findings import run_diagnosis
from torch_tb_profiler.insights.run.rule import RunFinding
from torch_tb_profiler.ranks.question import RunMeta


class RunFindingsAnswer(Answer, frozen=True, kw_only=True):
    """What bounds a run, and its findings, with all loaded ranks replayed together.

    meta         which run
    loaded       how many ranks were replayed together
    world        how many the run has, as far as the traces say. With fewer loaded, what communication costs includes
                 waiting for the others
    collectives  how many were found on several ranks
    bound        what bounds the steps of all ranks
    findings     causes, each the one that saves most beyond those before it; then what has no number, then warnings
    step_ns      the mean of the steps of all ranks; null without steps
    together_ns  what all findings with a saving save of it together; null without any
    checked      ids of the rules that were applied and found nothing
    """

    meta: RunMeta
    loaded: Count
    world: Count
    collectives: Count
    bound: Bound
    findings: Sequence[RunFinding]
    step_ns: MeanNs | None
    together_ns: MeanNs | None
    checked: Sequence[str]


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
