"""A summary for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.device_use import DeviceSummary
from torch_tb_profiler.analysis.overview import KindFigures
from torch_tb_profiler.analysis.waterfall import Part
from torch_tb_profiler.insights.summary.summary import (
    SummaryAnswer,
    SummaryFinding,
    SummarySteps,
    SummaryTrace,
)
from torch_tb_profiler.ranks.run.answers import RanksSummary
from torch_tb_profiler.ranks.stragglers.cost import straggler_lines
from torch_tb_profiler.words.files import part_name

#: parts of the average step in the text
MOST_PARTS = 6
#: of a finding
_MOST_PLACES = 3
#: least difference of a finding's savings, alone and after others, that is shown: share of the larger one
_DIFFERS = 0.25


def as_text(answer: SummaryAnswer) -> str:
    """For a terminal: a line for each thing, in English. What a trace names cannot steer the terminal."""
    lines = [_title(answer.trace)]
    lines += _steps_lines(answer.steps)
    lines += _waterfall_lines(answer)
    if answer.device.busy is not None:
        lines += _device_lines(answer.device)
    owners = answer.owners
    if owners.linked is not None:
        lines.append(
            f"Owners of device time: operators {_share(owners.linked)}, named only {_share(owners.named_only)}, "
            f"inferred {_share(owners.inferred)}, without {_share(owners.unowned)}"
        )
    if answer.mfu is not None:
        known = _share(answer.flops.matrix_coverage)
        lines.append(f"MFU {_share(answer.mfu)}, HFU {_share(answer.hfu)}, {known} of the matmuls known")
    if answer.ranks is not None and max(answer.ranks.present, answer.ranks.expected or 0) > 1:
        lines += _ranks_lines(answer.ranks)
    lines.append(answer.bound_sentence)
    for at, finding in enumerate(answer.findings):
        lines.append(f"  {_finding_line(finding)}")
        lines += [f"    {text}" for text in (finding.detail if at == 0 else "", finding.advice) if text]
    if answer.not_looked_at:
        parts = {part.cause: part.ns for part in answer.waterfall}
        mean = answer.steps.mean_ns or 1
        named = ", ".join(f"{part_name(cause)} {_share(parts[cause] / mean)}" for cause in answer.not_looked_at)
        lines.append(f"  No finding is about: {named}")
    lines += [f"{note.severity}: {note.text}" for note in answer.notes]
    lines += [f"skipped: {file.file} {file.reason}" for file in answer.skipped]
    return _lines(lines)


def findings_text(answer: SummaryAnswer) -> str:
    """For a terminal: what bounds the steps, and every finding with its advice and its longest places."""
    lines = [answer.bound_sentence]
    for finding in answer.findings:
        lines += ["", _finding_line(finding), *(f"  {text}" for text in (finding.detail, finding.advice) if text)]
        for place in finding.evidence[:_MOST_PLACES]:
            step = "" if place.step is None else f", step {place.step}"
            lines.append(
                f"  at {_time(place.start_ns)} of {place.worker}{step}: {place.name}, {_time(place.duration_ns)}"
            )
    if not answer.findings:
        lines += ["", "No rule found anything."]
    return _lines(lines)


def _lines(lines: Sequence[str]) -> str:
    return "\n".join(
        "".join(character if character.isprintable() else "\ufffd" for character in line) for line in lines
    )


def _ranks_lines(ranks: RanksSummary) -> list[str]:
    expected = "" if ranks.expected is None else f" of {ranks.expected:,}"
    slow = straggler_lines(ranks.stragglers)
    return [f"Ranks: {ranks.present:,}{expected}", *(f"{word.capitalize()}: {text}" for word, text in slow)]


def _finding_line(finding: SummaryFinding) -> str:
    where = f" ({finding.where})" if finding.where else ""
    saving = finding.saving
    if saving is None:
        return f"{finding.title}{where}"
    if saving.after_others_ns is None:
        most = "" if saving.at_most_ns is None else f"at most {_time(saving.at_most_ns)} a step. "
        return f"{finding.title}{where}: {most}{saving.refused}"
    kind, after, alone = "at most" if saving.bound else "about", saving.after_others_ns, saving.alone_ns or 0.0
    if abs(after - alone) > _DIFFERS * max(after, alone):
        # other findings have most of it, or stand in its way
        by_itself = f"{kind} {_time(alone)} a step" if alone else "nothing"
        return f"{finding.title}{where}: {by_itself} alone, {_time(after)} once those above are done"
    return f"{finding.title}{where}: {kind} {_time(after)} a step"


def _title(trace: SummaryTrace) -> str:
    devices = [name or "a device without a name" for name in trace.devices]
    counted = {name: devices.count(name) for name in devices}
    named = ", ".join(name if count == 1 else f"{count} × {name}" for name, count in counted.items())
    return f"{trace.run} · {trace.worker} · span {trace.span}: {trace.events:,} events, {_time(trace.duration_ns)}" + (
        f", {named}" if named else ", no device work"
    )


def _steps_lines(steps: SummarySteps) -> list[str]:
    if steps.median_ns is None or steps.mean_ns is None:
        return ["Steps: none found"]
    times = f"median {_time(steps.median_ns)}, mean {_time(steps.mean_ns)}"
    over = f" over {len(steps.kinds)} kinds of steps" if steps.kinds else ""
    return [f"Steps: {steps.count} by {steps.rule}, {times}{over}", *(f"  {_kind_line(each)}" for each in steps.kinds)]


def _kind_line(kind: KindFigures) -> str:
    where = "" if kind.from_step is None else f" ({kind.from_step} to {kind.to_step})"
    steps = f"{kind.count} step{'s' if kind.count > 1 else ''}{where}"
    times = f"median {_time(kind.median_ns)}, mean {_time(kind.mean_ns)}"
    return f"{kind.title}: {steps}, {times}: {_parts(kind.waterfall, kind.mean_ns)}"


def _waterfall_lines(found: SummaryAnswer) -> list[str]:
    mean = found.steps.mean_ns
    if not mean or not found.waterfall:
        return []
    return [f"Average step: {_parts(found.waterfall, mean)}"]


def _parts(waterfall: Sequence[Part], mean: float) -> str:
    largest = sorted(waterfall, key=lambda part: -part.ns)[:MOST_PARTS]
    rest = mean - sum(part.ns for part in largest)
    parts = [f"{part_name(part.cause)} {_share(part.ns / mean)}" for part in largest]
    return ", ".join(parts + ([f"other {_share(rest / mean)}"] if rest > 0 else []))


def _device_lines(device: DeviceSummary) -> list[str]:
    lines = [
        f"Device busy {_share(device.busy)}, computing {_share(device.computing)}, communicating "
        f"{_share(device.communicating)}, exposed communication {_share(device.exposed_communication)} of the step time"
    ]
    cores = device.tensor_cores
    if cores.unknown is not None:
        lines.append(
            f"Tensor cores: yes {_share(cores.yes)}, no {_share(cores.no)}, unknown {_share(cores.unknown)} of the "
            "time of compute kernels"
        )
    warps = device.occupancy
    lines.append(f"Occupancy: mean {_share(warps.mean)}, known for {_share(warps.known_share)} of that time")
    return lines


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.1%}"


def _time(ns: float) -> str:
    for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if ns >= size:
            return f"{ns / size:.2f} {unit}"
    return f"{ns:.0f} ns"
