"""What bounds the steps, findings and their order are one answer: every door gives it, and none another."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest

import torch_tb_profiler
from tests.recorded import ROOT
from torch_tb_profiler.api.notebook_cards import trace_card
from torch_tb_profiler.insights.question import OverviewAnswer
from torch_tb_profiler.insights.run.question import RunFindingsAnswer
from torch_tb_profiler.insights.summary.summary import SummaryAnswer
from torch_tb_profiler.insights.summary.text import as_text
from torch_tb_profiler.mcp.catalog import TraceCatalog
from torch_tb_profiler.mcp.tool import sentence
from torch_tb_profiler.mcp.tools.ranks import RANKS, OneRun
from torch_tb_profiler.mcp.tools.summary import SUMMARY, OneTrace

pytestmark = pytest.mark.slow

SAMPLES = ROOT / "samples"
#: a job of 64 ranks is reduced, not replayed together; the last has only a snapshot
RUNS = [
    path.name
    for path in sorted(SAMPLES.iterdir())
    if path.is_dir() and path.name not in ("generated_64gpu", "out_of_memory")
]


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> TraceCatalog:
    return TraceCatalog(str(SAMPLES), tmp_path_factory.mktemp("cache"))


@pytest.mark.parametrize("run", RUNS)
def test_of_a_trace_all_doors_say_the_same(run: str, catalog: TraceCatalog) -> None:
    for trace in torch_tb_profiler.open(SAMPLES).run(run).traces:
        overview: OverviewAnswer = trace.answer("overview")
        summary: SummaryAnswer = trace.summary()
        said = overview.bound.sentence
        assert ("this rank" in said.lower()) == (overview.workers > 1)
        assert summary.bound_sentence == said
        assert said in as_text(summary)
        assert said in unescape(trace_card(summary))
        told = SUMMARY.compute(catalog, OneTrace(trace=catalog.id_of(trace)))
        assert (told.bound, told.sentence) == (overview.bound.kind, sentence(said, overview.bound.values))
        ids = [each.key for each in overview.findings]
        assert [each.id for each in told.findings] == ids[: len(told.findings)]
        assert [each.id for each in summary.findings] == [each.id for each in overview.findings]
        where = [each.where and each.where.text for each in overview.findings]
        assert [each.where for each in summary.findings] == where
        assert list(summary.not_looked_at) == list(overview.not_looked_at)


@pytest.mark.parametrize("run", [run for run in RUNS if "ranks" in run or "4gpu" in run])
def test_of_a_job_all_doors_say_the_same(run: str, catalog: TraceCatalog) -> None:
    job = torch_tb_profiler.open(SAMPLES).run(run)
    answer, summary = job.diagnosis(), job.summary()
    said = answer.bound.sentence
    assert "this run" in said.lower()
    assert summary.bound_sentence == said
    assert said in as_text(summary)
    told = RANKS.compute(catalog, OneRun(run=run))
    assert (told.bound, told.sentence) == (answer.bound.kind, sentence(said, answer.bound.values))
    assert [each.id for each in told.findings] == [each.key for each in answer.findings]
    # those of all ranks keep their order among those of the first
    ids = [each.id for each in answer.findings]
    assert [each.id for each in summary.findings if each.id in ids] == ids
    assert summary.findings[0].id == ids[0] == "straggler"
    assert issubclass(RunFindingsAnswer, type(answer))


def test_what_nothing_hides_is_the_part_of_the_waterfall() -> None:
    """Exposed communication of a library on the host is what the thread of the steps waits, in every sentence."""
    for trace in torch_tb_profiler.open(SAMPLES).run("ddp_gloo_2ranks").traces:
        overview: OverviewAnswer = trace.answer("overview")
        (part,) = (each.ns for each in overview.waterfall if each.cause == "host.collective")
        (finding,) = (each for each in overview.findings if each.id == "communication")
        assert finding.values["share"] == pytest.approx(part / overview.average.step_ns)


def test_only_insights_makes_a_verdict() -> None:
    """No view, door or report computes a second one."""
    package = Path(torch_tb_profiler.__file__).parent
    makers = ("bound_of(", "run_bound(", 'section("bounds"')
    outside = [
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if "insights" not in path.parts and any(maker in path.read_text() for maker in makers)
    ]
    assert outside == []
