"""`check`, `trends` and `hang`: what the commands of these names say of recordings, and of dumps of a hanging job."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from torch_tb_profiler.analysis.change import gate
from torch_tb_profiler.analysis.change import trends as change_trends
from torch_tb_profiler.analysis.change.gate import CheckAnswer
from torch_tb_profiler.analysis.change.metrics import GateRule, RuleError, Severity, default_rules, parse_rule
from torch_tb_profiler.analysis.change.trends import Trends
from torch_tb_profiler.api.errors import ProfileError, profile_errors
from torch_tb_profiler.hangs.diagnose import HangReport
from torch_tb_profiler.insights.proof.answer import ProofAnswer
from torch_tb_profiler.storage import StorageError
from torch_tb_profiler.workspace.local_workspace import LocalWorkspace
from torch_tb_profiler.workspace.proofs import proof_of, traces_of
from torch_tb_profiler.workspace.reading.hang_reports import hang_report
from torch_tb_profiler.workspace.recordings import RecordingError, recordings_of
from torch_tb_profiler.workspace.status import Unavailable

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def check(
    base: Paths,
    new: Paths,
    *,
    fail_on: Sequence[str] | None = None,
    warn_on: Sequence[str] | None = None,
    across_devices: bool = False,
    strict: bool = False,
    cache_dir: str | Path | None = None,
) -> CheckAnswer:
    """Compare two sides (docs/gate-your-ci.md); each is a path or several: traces, runs, globs, saved baselines.

    Rules are texts such as "step_time > 5%"; without them those of the command. Raises ProfileError.
    """
    with profile_errors((RuleError, RecordingError, StorageError)):
        rules = [*_gate_rules(fail_on, "fail"), *_gate_rules(warn_on, "warn")]
        workspace = LocalWorkspace(cache_dir)
        sides = [recordings_of(_listed(side), workspace) for side in (base, new)]
    if not all(side.recordings for side in sides):
        raise ProfileError("each side needs a recording")
    base_side, new_side = sides
    damaged = base_side.damaged, new_side.damaged
    return gate.check(base_side.recordings, new_side.recordings, rules, across_devices, strict, damaged)


def prove(
    before: Paths,
    after: Paths,
    finding: str,
    *,
    worker: str | None = None,
    across_devices: bool = False,
    work_changed: bool = False,
    cache_dir: str | Path | None = None,
) -> ProofAnswer:
    """Say whether a change removed the cause that a finding names, and gained what was predicted (docs/prove.md).

    Each side is a path or several: traces, runs, globs. `finding` is a key, or the id of a rule, of the first recording
    before the change. Raises ProfileError.
    """
    with profile_errors((RecordingError, StorageError, Unavailable)):
        workspace = LocalWorkspace(cache_dir)
        sides = [traces_of(_listed(side), workspace, None, worker) for side in (before, after)]
        if not all(sides):
            raise ProfileError("each side needs a recording")
        return proof_of(sides[0], sides[1], finding, across_devices, work_changed)


def _gate_rules(texts: Sequence[str] | None, severity: Severity) -> list[GateRule]:
    if texts is None:
        return [rule for rule in default_rules() if rule.severity == severity]
    return [parse_rule(text, severity) for text in texts]


def _listed(paths: Paths) -> list[str]:
    return [os.fspath(paths)] if isinstance(paths, str | os.PathLike) else [os.fspath(path) for path in paths]


def trends(
    *paths: str | os.PathLike[str],
    baseline: int = 0,
    across_devices: bool = False,
    cache_dir: str | Path | None = None,
) -> Trends:
    """Step time and busy time of any number of recordings, in the order of the paths (docs/compare-two-runs.md).

    Each path is a trace, a run, a log directory, a glob, a saved baseline, or a history. Raises ProfileError.

    baseline        which recording the others are compared with, from 0; below 0 from the end
    across_devices  other devices and numbers of processes forbid no verdict
    """
    with profile_errors((RecordingError, StorageError)):
        found = recordings_of([os.fspath(path) for path in paths], LocalWorkspace(cache_dir)).recordings
    if not -len(found) <= baseline < len(found):
        raise ProfileError(f"there is no recording {baseline}: there are {len(found)}")
    return change_trends.trends(found, change_trends.numbered(found), baseline % len(found), across_devices)


def hang(directory: str | os.PathLike[str]) -> HangReport:
    """Say which ranks stopped a job, from the flight-recorder dumps in a folder (docs/hang.md). Raises ProfileError."""
    with profile_errors(StorageError):
        return hang_report(os.fspath(directory))
