"""Our interval pieces against the recorded numbers of Holistic Trace Analysis, in both its versions."""

from __future__ import annotations

import gzip
import json
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tests.golden import hta
from tests.golden.explained_hta import EXPLAINED, Explained
from tests.golden.hta import DATA_SETS, GOLDENS, QUESTIONS, Numbers, questions
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.ranks.reduction import reduce_run
from torch_tb_profiler.ranks.summary import summarize

pytestmark = pytest.mark.skipif(not GOLDENS.is_dir(), reason=f"the recorded numbers of HTA are not at {GOLDENS}")

VERSIONS = ("050", "061")
#: recorded for the most frequent or longest only: what they leave out is no difference
PARTS_ONLY = ("kernels", "operators")


class Compared(NamedTuple):
    equal: int
    different: tuple[tuple[str, frozenset[Explained]], ...]
    answered: frozenset[str]


def _close(theirs: float, ours: float) -> bool:
    """Theirs are rounded to 2 or 3 digits, or are sums of floating-point microseconds."""
    return abs(theirs - ours) <= 0.0101 + 1e-6 * abs(theirs)


def _keys(question: str, theirs: Numbers, ours: Numbers) -> list[str]:
    return list(theirs if question in PARTS_ONLY else theirs | ours)


@lru_cache
def _compared(data_set: str, version: str) -> Compared:
    equal, different, answered = 0, [], set()
    for question, rank, theirs, ours in questions(data_set, version):
        answered.add(question)
        for what in _keys(question, theirs, ours):
            left, right = theirs.get(what, 0.0), ours.get(what, 0.0)
            if _close(left, right):
                equal += 1
                continue
            reasons = {e for e in EXPLAINED if e.covers(data_set, question, what, left, right)}
            text = f"{data_set} rank {rank}, {question}: {what[:100]}: {left} != {right}"
            different.append((text, frozenset(reasons)))
    return Compared(equal, tuple(different), frozenset(answered))


@pytest.mark.parametrize("data_set", DATA_SETS)
@pytest.mark.parametrize("version", VERSIONS)
def test_every_difference_is_explained(data_set: str, version: str) -> None:
    found = _compared(data_set, version)
    unexplained = [text for text, reasons in found.different if not reasons]
    assert not unexplained, f"{len(unexplained)} unexplained:\n" + "\n".join(unexplained[:20])


def test_most_numbers_are_equal() -> None:
    """Explanations must not eat the comparison."""
    found = [_compared(data_set, version) for data_set in DATA_SETS for version in VERSIONS]
    assert set().union(*(f.answered for f in found)) == set(QUESTIONS)
    equal, different = sum(f.equal for f in found), sum(len(f.different) for f in found)
    assert equal > 3 * different


@pytest.mark.parametrize("data_set", ["dlrm8", "nccl_parser_config", "df_index_resolver", "kineto_resnet50"])
def test_traces_of_training_on_cuda_agree(data_set: str) -> None:
    """What HTA was made for: temporal breakdown, overlap and launches without any difference."""
    for question, rank, theirs, ours in questions(data_set, "061"):
        if question in ("temporal", "overlap", "launches"):
            for what in theirs | ours:
                assert _close(theirs[what], ours[what]), f"{data_set} rank {rank}, {question}: {what}"


def test_the_ranks_of_a_run_have_their_overlap_and_none_is_named() -> None:
    """`hta-latest-starter`: they name two ranks of every run, by who begins long collectives last."""
    files = hta.files("dlrm8")
    ranks = [summarize(hta.model_of(path), f"worker{rank}") for rank, path in files.items()]
    for rank, each in zip(files, ranks, strict=True):
        recorded = hta.theirs("overlap", "dlrm8", "061", rank)
        hidden, exposed = int(each.steps.hidden.sum()), int(each.steps.exposed.sum())
        assert recorded is not None
        assert _close(recorded["percent"], 100 * hidden / (hidden + exposed)), rank
    versions = json.loads((GOLDENS / "steps_stragglers.json").read_text())["dlrm8"]
    assert hta.configuration(versions, "061")["stragglers.all_steps_k2"] == [2, 7]
    found = reduce_run(ranks).overview
    assert [each.rank for each in found.stragglers if each.named] == []
    assert found.matched.unmatched == 0


def test_every_explanation_is_needed() -> None:
    needed = {
        reason
        for data_set in DATA_SETS
        for version in VERSIONS
        for _, reasons in _compared(data_set, version).different
        for reason in reasons
    }
    assert [e for e in EXPLAINED if e not in needed] == []


def test_every_explanation_is_documented(repository: Path) -> None:
    text = (repository / "docs" / "differences.md").read_text()
    assert {e.id for e in EXPLAINED if f"`{e.id}`" not in text} == set()


@pytest.mark.parametrize("data_set", ["cp_alexnet", "cp_event_sync", "cp_event_sync_multi", "cp_simple_add"])
def test_with_waiting_as_work_idle_time_is_theirs(data_set: str) -> None:
    (path,) = hta.files(data_set).values()
    model = hta.model_of(path)
    work, events = model.device_work, model.trace.events
    # HTA takes any number, also the 2^32 - 1 of a Context Sync; ours has none there
    raw = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    waits = [i for i, e in enumerate(raw) if e.get("cat") == "cuda_sync" and e["args"].get("stream", -1) >= 0]
    rows = np.append(work.row[model.is_work], waits)
    busy = intervals.total(intervals.union(events.start[rows], events.end[rows])) / 1000
    window = (events.end[rows].max() - events.start[rows].min()) / 1000
    recorded = hta.theirs("temporal", data_set, "061", 0)
    assert recorded is not None
    assert (window, window - busy) == (recorded["kernel"], recorded["idle"])
