"""What no saving of a recorded trace may exceed, whatever the rule."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.recorded import SHARED, as_parameters, sample_traces, shared_model_of, short, traces
from torch_tb_profiler.analysis.device_use import device_use
from torch_tb_profiler.analysis.replay.changes import (
    Change,
    Fused,
    Pinned,
    ScaleHost,
    ScaleWork,
    WithoutWaits,
    kernels,
    scale,
)
from torch_tb_profiler.analysis.replay.host_time import Label
from torch_tb_profiler.analysis.replay.on_path import recorded_quality
from torch_tb_profiler.analysis.replay.savings import what_if
from torch_tb_profiler.analysis.replay.scenario import apply_changes, unchanged
from torch_tb_profiler.analysis.shared.thresholds import thresholds
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.findings import diagnosis
from torch_tb_profiler.insights.rules import RULES

FILES = [*(traces(SHARED) if SHARED.is_dir() else []), *sample_traces()]
#: pieces of host time that an operator that launches is cut into, with those around it; and between kernels, ns
_PIECES, GAP_NS = 12, 10_000
_GENERAL = {rule.id for rule in RULES if rule.general or rule.symptom}


@pytest.mark.parametrize("path", as_parameters(FILES), ids=short)
def test_what_no_saving_exceeds(path: Path) -> None:
    model = shared_model_of(path)
    found = diagnosis(model)
    step_ns = found.step_ns or 0.0
    savings = [(each.id, each.saving) for each in found.findings if each.saving and each.saving.refused is None]
    assert sum(saving.after_others_ns or 0.0 for _, saving in savings) <= 1.0001 * step_ns
    busy = [each.busy for each in device_use(model) if each.busy is not None]
    for id_, saving in savings:
        if id_ in _GENERAL and busy:
            numbers = (saving.alone_ns, saving.after_others_ns, saving.last_in_ns)
            assert max(ns or 0.0 for ns in numbers) <= 1.0001 * (1 - min(busy)) * step_ns


@pytest.mark.parametrize("path", as_parameters(FILES), ids=short)
def test_a_fusion_saves_at_most_its_kernels_and_usual_launches(path: Path) -> None:
    model = shared_model_of(path)
    facts = Facts(model, thresholds())
    if not facts.steps or recorded_quality(model).refusals:
        return
    calls, work = facts.graph.calls, model.device_work
    usual = float(np.median((calls.end - calls.start)[calls.release >= 0])) if (calls.release >= 0).any() else 0.0
    operators = facts.graph.host_segments
    length = (operators.end - operators.start)[operators.label == Label.OPERATOR]
    dispatch = float(np.percentile(length, 90)) if len(length) else 0.0
    base = unchanged(facts.graph).settled_ns
    for rule in RULES:
        found = rule.find(facts) if all(need.held(model) for need in rule.needs) else ()
        for change in (change for each in found for change in each.changes if isinstance(change, Fused)):
            rows = np.array([row for group in change.groups for row in group], np.int32)
            gone = int(facts.duration(rows).sum()) - sum(change.target_ns)
            n = int(np.isin(work.row, rows).sum()) - len(change.groups)
            saved = int((base - apply_changes(model.trace, facts.graph, [change]).settled_ns).sum())
            # an operator is a few pieces of host time, and lies in others that launch nothing else
            assert saved <= max(gone, 0) + n * (usual + _PIECES * dispatch + GAP_NS), rule.id


@pytest.mark.parametrize("path", as_parameters(FILES), ids=short)
def test_a_finding_saves_at_most_the_time_of_what_it_removes(path: Path) -> None:
    """Host time, waits and device work that its changes name, whatever overlaps; fusions have a test of their own,
    and a graph leaves nothing but its work.
    """
    model = shared_model_of(path)
    facts = Facts(model, thresholds())
    if not facts.steps or recorded_quality(model).refusals:
        return
    base = unchanged(facts.graph).settled_ns
    for rule in RULES:
        found = rule.find(facts) if all(need.held(model) for need in rule.needs) else ()
        for each in found:
            removed = [_removed_ns(facts, change) for change in each.changes]
            if each.refused is None and removed and None not in removed:
                saved = int((base - apply_changes(model.trace, facts.graph, each.changes).settled_ns).sum())
                assert saved <= 1.001 * sum(ns for ns in removed if ns is not None) + GAP_NS, rule.id


def _removed_ns(facts: Facts, change: Change) -> int | None:
    """Return the time of what a change removes, of the whole trace; None of changes that say no events."""
    rows = getattr(change, "rows", None)
    if isinstance(change, ScaleHost) and change.intervals is not None:
        return sum(end - start for _, start, end in change.intervals)
    if rows is None or not isinstance(change, ScaleHost | ScaleWork | WithoutWaits | Pinned):
        return None
    row = np.array(rows, np.int64)
    took = facts.trace.events.duration[row].clip(0)
    if isinstance(change, ScaleWork) and change.target_ns is not None:
        return int((took - np.array(change.target_ns, np.int64)).clip(0).sum())
    if isinstance(change, Pinned):
        links, work = facts.model.device_links, facts.trace.device_work
        call = facts.trace.launches.row[links.launch[np.isin(work.row, row) & (links.launch >= 0)]]
        return int(took.sum() + facts.trace.events.duration[call].clip(0).sum()) + _waiting_ns(facts)
    return int(took.sum()) if isinstance(change, WithoutWaits) else int((1 - change.factor) * took.sum())


def _waiting_ns(facts: Facts) -> int:
    """What host threads wait altogether: a synchronization of the operator of a copy goes with it."""
    waits = facts.graph.waits
    return int((waits.end - waits.start).sum())


@pytest.mark.parametrize("path", as_parameters(FILES), ids=short)
def test_no_step_gets_longer_when_work_goes(path: Path) -> None:
    model = shared_model_of(path)
    for change in (kernels(0.5), kernels(0), scale("python", 0.5), scale("operator", 0.5)):
        found = what_if(model, [change])
        if found.step_after_ns is not None:
            assert (found.step_after_ns <= found.step_before_ns).all()
