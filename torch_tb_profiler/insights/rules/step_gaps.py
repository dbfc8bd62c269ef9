"""Time between the steps of inference, in which no step runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.program.engine import engine
from torch_tb_profiler.analysis.program.engine_question import engine_gaps
from torch_tb_profiler.analysis.replay.changes import ScaleHost
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import HOST, STEPS
from torch_tb_profiler.insights.places import running_at
from torch_tb_profiler.insights.rule import Evidence, Found, Rule
from torch_tb_profiler.insights.shared.links import TUNING_GUIDE
from torch_tb_profiler.insights.shared.wording import ms

#: with fewer gaps one of them may be anything
FEWEST = 3

_ADVICE = {
    "sample": "Sample on the device, for all requests at once, and read the tokens a step later.",
    "schedule": "Choose the next batch while the device runs this one: vLLM does with `--async-scheduling`, SGLang by "
    "default (`--disable-overlap-schedule` is its opposite).",
    "detokenise": "Turn tokens into text in another process or thread.",
    "wait": "What is read back from the device (`.item()`, `.tolist()`, `.cpu()`) ends the step before: read the "
    "tokens of a step while the next one runs.",
    "other": "Look at what the host does there in the Trace view; keep bookkeeping of requests out of the loop.",
}


def _find(facts: Facts) -> Sequence[Found]:
    found = engine(facts.model.in_steps)
    gaps = None if found is None else engine_gaps(facts.model.in_steps, found)
    if found is None or gaps is None:
        return ()
    steps = found.steps
    between = np.flatnonzero(steps.gap_ns > 0)
    # where devices work what they idle counts, else what the host spends
    on_device = bool((steps.device_ns > 0).any())
    idle = steps.device_gap_ns if on_device else steps.gap_ns
    spent = int(np.minimum(idle[between], steps.gap_ns[between]).clip(0).sum())
    window = int(steps.start_ns[-1] + steps.host_ns[-1] - steps.start_ns[0])
    share = spent / window if window else 0.0
    if len(between) < FEWEST or share < facts.limit("step_gaps", "least_share"):
        return ()
    parts = {"sample": gaps.sample_ns, "schedule": gaps.schedule_ns, "detokenise": gaps.detokenise_ns}
    parts |= {"wait": gaps.wait_ns, "other": gaps.other_ns}
    most = max(parts, key=lambda name: parts[name])
    ends = (steps.start_ns + steps.host_ns)[between]
    stretches = [
        (found.track, start, start + gap)
        for start, gap in zip(ends.tolist(), steps.gap_ns[between].tolist(), strict=True)
    ]
    mean = spent / len(between)
    middle = ends + steps.gap_ns[between] // 2
    meanwhile = running_at(facts.model, np.full(len(middle), found.track, np.int32), middle)
    return (
        Found(
            title="Time passes between the steps of inference",
            detail=(
                f"{100 * share:.0f} % of the time from the first step to the last lies between steps, {ms(mean)} "
                f"behind each{', while the device has nothing to do' if on_device else ''}."
            ),
            advice=_ADVICE[most],
            values={"share": share, "mean_ns": mean, "most": most, "on_device": on_device},
            rows=facts.longest_first(steps.row[between][steps.row[between] >= 0].astype(np.int32)),
            place_rows=meanwhile[meanwhile >= 0],
            place_ns=steps.gap_ns[between][meanwhile >= 0],
            changes=(ScaleHost(0.0, intervals=tuple(stretches)),),
            confidence="medium",
            evidence=(
                Evidence("step_gaps", "Gaps between steps", len(between), "count", "program"),
                Evidence("step_gap_ns", "A gap", mean, "ns", "program"),
            ),
            links=(TUNING_GUIDE,),
        ),
    )


RULE = Rule("step_gaps", "R67", (STEPS, HOST), _find, replaces=("host_code",))
