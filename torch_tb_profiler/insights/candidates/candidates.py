"""Candidates of a trace: its work and its findings, each replayed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.answer import NS_IN_MS, digits
from torch_tb_profiler.analysis.device_use import device_use
from torch_tb_profiler.analysis.flops.calls import UNKNOWNS
from torch_tb_profiler.analysis.question import Subject
from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.changes import (
    Change,
    Fused,
    Graphed,
    MergedCollectives,
    NoStraggler,
    Pinned,
    ScaleHost,
    ScaleWork,
    WithoutWaits,
    targets,
)
from torch_tb_profiler.analysis.replay.on_path import recorded_quality
from torch_tb_profiler.analysis.replay.savings import Saving, savings, settled_steps
from torch_tb_profiler.analysis.replay.scenario import apply_changes, unchanged
from torch_tb_profiler.analysis.roofline.activities import BOUNDS
from torch_tb_profiler.analysis.roofline.roofs import roofs
from torch_tb_profiler.analysis.shared.thresholds import thresholds
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.insights.candidates.answer import (
    Candidate,
    CandidateBound,
    CandidateKind,
    CandidateReason,
    CandidateSaving,
    Provenance,
    Reproduction,
)
from torch_tb_profiler.insights.candidates.identity import identify
from torch_tb_profiler.insights.candidates.work import WorkGroup, groups_of, pieces_of
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.findings import Diagnosis, diagnosis
from torch_tb_profiler.insights.places import common_place, without_numbers
from torch_tb_profiler.insights.rule import Finding, FindingConfidence, Found, Where
from torch_tb_profiler.words import section

#: groups of work that are replayed: those with the largest likely headroom, from this share of the step on
_REPLAYED, _LEAST_REPLAYED = 20, 0.005
_LONGEST_NAME, _MOST_KERNELS, _MOST_PARTS = 120, 3, 8
#: a step that saves less than this part of the headroom is kept from it by something else
_LIMITED = 0.5
#: a device that idles for so much of the step is not what to look at first
_MOSTLY_IDLE = 0.8
#: what a finding's candidate is bound by; a fusion by what bounds its kernels
_BOUND: Mapping[CandidateKind, CandidateBound] = {"host": "host", "collective": "link"}
#: refusals of the replay without which no time can be trusted, besides those of everything
_NO_ANSWER = ("no_device", "clocks")
_NO_SAVING = CandidateSaving(alone=None, low=None, high=None, after_others=None, limited_by=None, refused=None)


class _Cause(msgspec.Struct, frozen=True):
    """A finding of the diagnosis, with what its rule found and the kind of candidate that it is itself, if any."""

    finding: Finding
    found: Found
    kind: CandidateKind | None


def _causes(facts: Facts, of: Diagnosis) -> list[_Cause]:
    """Apply the rules of the shown findings again: an answer that was kept has neither their rows nor their changes."""
    # many modules, which a server that gives prepared answers does not need
    from torch_tb_profiler.insights.rules import RULES  # noqa: PLC0415

    by_id = {rule.id: rule for rule in RULES}
    found = {id_: list(by_id[id_].find(facts)) for id_ in dict.fromkeys(finding.id for finding in of.findings)}
    causes = []
    for finding in of.findings:
        place = next((at for at, one in enumerate(found[finding.id]) if one.values == finding.values), None)
        if place is not None:
            one = found[finding.id].pop(place)
            causes.append(_Cause(finding, one, None if by_id[finding.id].general else _kind_of(one)))
    return causes


def _kind_of(found: Found) -> CandidateKind | None:
    """Return the kind of candidate that a finding is; None where it is about operators or kernels, or has no change."""
    changes = () if found.refused is not None else found.changes
    if any(isinstance(change, Fused) for change in changes):
        return "fusion"
    if any(
        isinstance(change, MergedCollectives | NoStraggler)
        or (isinstance(change, ScaleWork) and change.work == "collectives")
        for change in changes
    ):
        return "collective"
    if any(isinstance(change, ScaleHost | WithoutWaits | Graphed | Pinned) for change in changes):
        return "host"
    return None


class TraceCandidates:
    """Makes the candidates of a trace. `steps` are those that count, as indices in the graph."""

    def __init__(self, subject: Subject) -> None:
        self.model = subject.model
        self.diagnosis = diagnosis(self.model)
        self.facts = Facts(self.model, thresholds())
        self.graph, self.quality = graph_of(self.model), recorded_quality(self.model)
        selected = np.searchsorted(self.graph.steps.start, self.model.steps.start)
        settled = settled_steps(self.graph)
        is_settled = (selected < len(settled)) & settled[np.minimum(selected, len(settled) - 1)]
        # what is saved in the first step is saved once (docs/replay.md)
        of_model = np.flatnonzero(is_settled if is_settled.sum() < 2 else is_settled & (selected > 0))
        self.steps = selected[of_model].tolist()
        self.count = max(len(of_model), 1)
        self.pieces = pieces_of(self.facts, of_model)
        self.groups = groups_of(self.facts, self.pieces)
        self.causes = _causes(self.facts, self.diagnosis)
        self.step_ns = int(self.facts.period_ns[of_model].sum()) / self.count

    def ms(self, ns: float | None) -> float | None:
        """Return the mean of a time over the steps, ms, in four significant digits."""
        return None if ns is None else digits(ns / self.count / NS_IN_MS)

    def candidates(self) -> list[Candidate]:
        """Return all candidates in order."""
        likely = {group.id: group.headroom_ns[1] for group in self.groups if group.headroom_ns is not None}
        worth = [
            group for group in self.groups if likely.get(group.id, 0.0) >= _LEAST_REPLAYED * self.step_ns * self.count
        ]
        replayed = sorted(worth, key=lambda group: -likely[group.id])[:_REPLAYED]
        own = [cause for cause in self.causes if cause.kind is not None]
        remedies = [*([self._change(group, 1)] for group in replayed), *(list(cause.found.changes) for cause in own)]
        saved = {one.place: one for one in savings(self.model, remedies, self.steps).changes}
        by_group = {group.id: saved[place] for place, group in enumerate(replayed)}
        by_row = self._findings_of_rows()
        listed = [self._of_group(group, by_group.get(group.id), by_row) for group in self.groups]
        seen: Counter[str] = Counter()
        for place, cause in enumerate(own):
            one = self._of_cause(cause, saved[len(replayed) + place])
            seen[one.id] += 1
            # a rule may find the same twice, where nothing tells the places apart
            listed.append(replace(one, id=identify(one.kind, one.id, seen[one.id])) if seen[one.id] > 1 else one)
        order = sorted(range(len(listed)), key=lambda at: _place(listed[at]))
        return [listed[at] for at in order]

    def _change(self, group: WorkGroup, level: int) -> Change:
        """Return the change that brings a group of known roof to the low (0), likely (1) or high (2) headroom."""
        assert group.targets_ns is not None
        return targets(group.pieces.row.tolist(), np.ceil(group.targets_ns[level]).astype(np.int64).tolist())

    def _saved_alone(self, change: Change) -> float:
        before = unchanged(self.graph).settled_ns[self.steps]
        return float((before - apply_changes(self.model.trace, self.graph, [change]).settled_ns[self.steps]).sum())

    def _of_group(self, group: WorkGroup, saving: Saving | None, by_row: Mapping[int, str]) -> Candidate:
        headroom = group.headroom_ns
        lacking = group.arguments.lacking
        is_replayed = saving is not None and saving.refused is None
        return Candidate(
            id=group.id,
            kind=group.kind,
            name=group.name[:_LONGEST_NAME],
            inputs=group.arguments.inputs,
            scalars=group.arguments.scalars,
            kernels=self._kernels(group),
            per_step=digits(group.calls / self.count) or 0.0,
            time_ms=self.ms(group.time_ns) or 0.0,
            roof_ms=self.ms(group.roof_ns),
            roof_source=None if group.roof_ns is None else next((one.source for one in roofs(self.model)), None),
            headroom_ms=None if headroom is None else [self.ms(ns) or 0.0 for ns in headroom],
            headroom_why=None if headroom is not None else self._why_no_roof(group),
            saving_ms=self._saving(
                saving,
                low=self._saved_alone(self._change(group, 0)) if is_replayed else None,
                high=self._saved_alone(self._change(group, 2)) if is_replayed else None,
                headroom=headroom,
            ),
            bound=_bound(group),
            module=None,
            line=None,
            finding=next((by_row[row] for row in self._rows(group).tolist() if row in by_row), None),
            parts=(),
            count=group.calls,
            confidence=self._confidence(group),
            provenance=self._provenance(group),
            reproduce=Reproduction(group.kind == "operator" and not lacking, list(lacking)),
        )

    def _of_cause(self, cause: _Cause, saving: Saving) -> Candidate:
        """Make the candidate that a finding is: a fusion, a collective or the host's part."""
        finding, found = cause.finding, cause.found
        assert cause.kind is not None
        groups = self._groups_of_rows(found.rows)
        where = finding.where
        place = ["", ""] if where is None else [where.operator or "", where.function or ""]
        parts = [group.id for group in groups][:_MOST_PARTS] if cause.kind == "fusion" else []
        spans = self.facts.span(found.rows) if found.spans is None else found.spans
        time = int((spans[:, 1] - spans[:, 0]).sum()) if len(spans) else 0
        return Candidate(
            id=identify(cause.kind, finding.id, parts, place, _module(where) or ""),
            kind=cause.kind,
            name=finding.title[:_LONGEST_NAME],
            inputs=None,
            scalars={},
            kernels=[],
            per_step=digits(finding.count / max(self.facts.steps, 1)) or 0.0,
            time_ms=self.ms(time * self.count / max(self.facts.steps, 1)) or 0.0,
            roof_ms=None,
            roof_source=None,
            headroom_ms=None,
            headroom_why="not_one_call",
            saving_ms=self._saving(saving, saving.low, saving.high, None),
            bound=_BOUND.get(cause.kind) or (_bound(groups[0]) if groups else "unknown"),
            module=_module(where),
            line=_line(where),
            finding=finding.key,
            parts=parts,
            count=finding.count,
            confidence=finding.confidence,
            provenance=Provenance("eager"),
            reproduce=Reproduction(False, ["not_one_call"]),
        )

    def placed(self, candidate: Candidate) -> Candidate:
        """Add module and line, which take a look at the call stacks."""
        group = next((group for group in self.groups if group.id == candidate.id), None)
        if group is None:
            return candidate
        where = common_place(self.model, group.pieces.row, group.pieces.duration)
        return replace(candidate, module=_module(where), line=_line(where))

    def _saving(
        self, saving: Saving | None, low: float | None, high: float | None, headroom: Sequence[float] | None
    ) -> CandidateSaving:
        if saving is None:
            why = "roof_unknown" if headroom is None else "not_replayed"
            return replace(_NO_SAVING, refused=CandidateReason(why, words_of("why", why)))
        if saving.refused is not None:
            return replace(_NO_SAVING, refused=CandidateReason(saving.refused.id, saving.refused.text))
        is_limited = headroom is not None and (saving.alone or 0) < _LIMITED * headroom[1]
        bound = self.diagnosis.bound
        return CandidateSaving(
            alone=self.ms(saving.alone),
            low=self.ms(low),
            high=self.ms(high),
            after_others=self.ms(saving.after_others),
            limited_by=(bound.next if bound.kind == "compute" and bound.next else bound.kind) if is_limited else None,
            refused=None,
        )

    def _findings_of_rows(self) -> Mapping[int, str]:
        """Return the key of the first finding about each event."""
        by_row: dict[int, str] = {}
        for cause in reversed(self.causes):
            by_row |= dict.fromkeys(cause.found.rows.tolist(), cause.finding.key)
        return by_row

    def _kernels(self, group: WorkGroup) -> list[str]:
        if not self.model.has_device_work:
            return []
        return [name[:_LONGEST_NAME] for name in group.kernels(_MOST_KERNELS)]

    def _rows(self, group: WorkGroup) -> Int64:
        """Return the events of a group's work, and of the operators around it."""
        return np.concatenate([group.pieces.row, take_known(self.model.tree.row, distinct(group.pieces.node))])

    def _groups_of_rows(self, rows: Int32) -> list[WorkGroup]:
        """Return the groups with work among some events, in the order of these."""
        place = {row: number for number, group in enumerate(self.groups) for row in group.pieces.row.tolist()}
        numbers = dict.fromkeys(place[row] for row in rows.tolist() if row in place)
        return [self.groups[number] for number in numbers]

    def _why_no_roof(self, group: WorkGroup) -> str:
        if group.kind == "collective":
            return "other_ranks"
        if not self.model.has_device_work:
            return "on_host"
        why = group.pieces.why[np.isnan(group.pieces.roof_ns)]
        known = why[why >= 0]
        return str(UNKNOWNS[int(np.bincount(known).argmax())].value) if len(known) else "no_peaks"

    def _confidence(self, group: WorkGroup) -> FindingConfidence:
        if self.quality.confidence != "normal" or any(one.source == "architecture" for one in roofs(self.model)):
            return "low"
        return "medium" if group.roof_ns is None else "high"

    def _provenance(self, group: WorkGroup) -> Provenance:
        strings, operators = self.model.trace.strings, self.model.trace.operators
        operator = int(take_known(self.model.tree.operator, group.pieces.node[:1])[0])
        file = str(strings[int(operators.kernel_file[operator])]) if operator >= 0 else ""
        if bool(group.pieces.replayed.any()):
            return Provenance("cuda_graph", file or None)
        if file or group.name.startswith("triton_"):
            return Provenance("inductor" if file else "triton", file or None)
        return Provenance("eager" if group.kind != "kernel" else "library")


def _bound(group: WorkGroup) -> CandidateBound:
    """Return what bounds most of the time of a group."""
    if 2 * int(group.pieces.duration[group.pieces.below_wave].sum()) > group.time_ns:
        return "latency"
    counts = np.bincount(group.pieces.bound + 1, group.pieces.duration, len(BOUNDS) + 1)
    most = int(np.argmax(counts))
    return "unknown" if most == 0 else BOUNDS[most - 1]


def _module(where: Where | None) -> str | None:
    return None if where is None or where.module is None else without_numbers(where.module)


def _line(where: Where | None) -> str | None:
    return None if where is None or where.file is None else f"{where.file}:{where.line}"[:_LONGEST_NAME]


def _place(candidate: Candidate) -> tuple[float, float, float]:
    """Return the sort key: what is saved beyond the others, likely headroom, time, the largest first."""
    headroom = 0.0 if candidate.headroom_ms is None else candidate.headroom_ms[1]
    return -(candidate.saving_ms.after_others or 0.0), -headroom, -candidate.time_ms


def reason_of(work: TraceCandidates) -> tuple[bool, CandidateReason] | None:
    """Return whether a trace has no candidates (True) or only some, and why; None if all is known."""
    refusal = next((one for one in work.quality.refusals if one.scope in ("everything", "savings")), None)
    if refusal is not None:
        is_all = refusal.scope == "everything" or refusal.id in _NO_ANSWER
        return is_all, CandidateReason(refusal.id, refusal.text)
    is_known = any(group.arguments.inputs or group.roof_ns is not None for group in work.groups)
    has_operators = any(group.kind == "operator" for group in work.groups)
    busy = max((use.busy or 0.0 for use in device_use(work.model)), default=1.0)
    if not work.groups:
        why, is_all = "no_work", True
    elif has_operators and not is_known:
        why, is_all = "no_shapes", True
    elif work.model.has_device_work and busy <= 1 - _MOSTLY_IDLE:
        why, is_all = "mostly_idle", False
    else:
        return None
    return is_all, CandidateReason(why, words_of("why", why))


def words_of(part: str, key: str) -> str:
    return section("candidates", part).say(key, {})
