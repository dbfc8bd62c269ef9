"""Proofs over traces of this machine: the finding is of the first recording before the change."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec

from torch_tb_profiler.analysis.change.figures import RecordingFigures, recording_figures
from torch_tb_profiler.analysis.roofline.utilization import step_flops
from torch_tb_profiler.insights.findings import diagnosis
from torch_tb_profiler.insights.proof.answer import ProofAnswer
from torch_tb_profiler.insights.proof.proof import Side, prove, signature_of
from torch_tb_profiler.insights.rule import Finding
from torch_tb_profiler.model import Model, StepChoice
from torch_tb_profiler.storage import StorageError
from torch_tb_profiler.workspace.local_workspace import LocalTrace, LocalWorkspace
from torch_tb_profiler.workspace.recordings import RecordingError, expanded, find_spans, sha256_of


class _Recorded(msgspec.Struct, frozen=True):
    """What a proof needs of the first recording of a side."""

    figures: RecordingFigures
    findings: tuple[Finding, ...]
    flops: float | None


def traces_of(
    paths: Sequence[str], workspace: LocalWorkspace, choice: StepChoice | None = None, worker: str | None = None
) -> list[LocalTrace]:
    """Open one trace for each recording that paths name: of a run of several ranks that of the worker, or the first.

    Raises RecordingError.
    """
    traces = []
    for path in paths:
        for each in expanded(path):
            try:
                named = find_spans(each, worker)
            except StorageError as error:
                raise RecordingError(str(error)) from None
            spans = [files for _, of_run in named.of_runs for files in of_run]
            if not spans:
                raise RecordingError(named.why_none, missing=named.is_worker_missing)
            traces += [LocalTrace(workspace, files[0], choice) for files in spans]
    return traces


def proof_of(
    before: Sequence[LocalTrace],
    after: Sequence[LocalTrace],
    key: str,
    across_devices: bool = False,
    work_changed: bool = False,
) -> ProofAnswer:
    """Say whether a change removed the cause that a finding names, by its key or the id of its rule.

    Raises RecordingError: there is no such finding. Raises Unavailable: a trace cannot be read.
    """
    start, end = (side[0].ask(partial(_recorded, run=side[0].file.worker)) for side in (before, after))
    finding = next((one for one in start.findings if key in (one.key, one.id)), None)
    if finding is None:
        known = ", ".join(one.key for one in start.findings) or "none"
        raise RecordingError(f"{before[0].file.entry.path} has no finding {key!r}; it has {known}", missing=True)
    sides = [
        Side(
            [_with_hash(recorded.figures, side[0]), *(_with_hash(_figures(trace), trace) for trace in side[1:])],
            [signature_of(one) for one in recorded.findings],
            recorded.flops,
        )
        for recorded, side in ((start, before), (end, after))
    ]
    return prove(finding, sides[0], sides[1], across_devices, work_changed)


def _recorded(model: Model, run: str) -> _Recorded:
    return _Recorded(recording_figures(model, run), diagnosis(model).findings, step_flops(model).per_step)


def _figures(trace: LocalTrace) -> RecordingFigures:
    return trace.ask(partial(recording_figures, run=trace.file.worker))


def _with_hash(figures: RecordingFigures, trace: LocalTrace) -> RecordingFigures:
    digest = sha256_of(trace.file)
    return figures if digest is None else msgspec.structs.replace(figures, sha256=[digest])
