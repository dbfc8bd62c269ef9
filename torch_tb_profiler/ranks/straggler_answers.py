"""Late ranks as answers, with what they cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.arrays.types import Float32
from torch_tb_profiler.ranks.run_answers import RunGroup, SlowLink, Straggler
from torch_tb_profiler.ranks.run_data import RunData
from torch_tb_profiler.ranks.run_replay import savings
from torch_tb_profiler.ranks.slow_ranks import LEAST_STEPS, Slow, SlowRanks
from torch_tb_profiler.ranks.step_grid import StepGrid

#: ranks that are replayed one by one, and ranks that are only listed
MOST_REPLAYED, MOST_LISTED = 20, 20
#: a rank is replayed when so many of its collectives have all their ranks here
WHOLE = 0.5


def stragglers_of(
    run: RunData, grid: StepGrid, slow: SlowRanks, groups: Sequence[RunGroup]
) -> tuple[list[Straggler], int | None]:
    """Named ones and some of the others, and what a step would save without all named ones."""
    named = [each for each in slow.found if each.named]
    others = [each for each in slow.found if not each.named][:MOST_LISTED]
    removable = [each for each in (*named, *others)[:MOST_REPLAYED] if each.excess is not None and _meets(run, each)]
    scenarios = [{each.rank: _removed(run, each)} for each in removable]
    together = {each.rank: _removed(run, each) for each in named if each.excess is not None and _meets(run, each)}
    per_step = []
    if scenarios and len(grid.names):
        gained = savings(run, [*scenarios, together])
        per_step = [round(float(np.mean(each)) / len(grid.names)) for each in gained]
    saved = {each.rank: ns for each, ns in zip(removable, per_step, strict=False)}
    lost = 0 if not named else per_step[-1] if together and per_step else None
    answers = [_answer(run, each, saved.get(each.rank), groups) for each in (*named, *others)]
    return answers, lost


def slow_or_slower(stragglers: Sequence[Straggler]) -> list[Straggler]:
    """Those that are named; where none is, the slower rank of peers that are too few to name one."""
    return [each for each in stragglers if each.named] or [each for each in stragglers if each.doubt == "few_peers"]


def _meets(run: RunData, slow: Slow) -> bool:
    """Whether those that it makes wait are here: of most of its collectives all ranks."""
    number = run.rows(slow.rank).number
    whole = run.is_whole[number[number >= 0]]
    return bool(len(whole)) and float(np.mean(whole)) >= WHOLE


def of_links(run: RunData, links: Sequence[SlowLink], steps: int, whole: bool) -> list[Straggler]:
    """The two ranks of each slow link; of a link of which only the group is known nobody."""
    places = {head.rank: at for at, head in enumerate(run.heads) if head.rank is not None}
    found = []
    for link in links:
        for rank in link.pair or ():
            if rank in places:
                head = run.heads[places[rank]]
                found.append(
                    Straggler(
                        rank=rank,
                        worker=head.worker,
                        host=head.host or None,
                        late_ns=link.extra_ns,
                        z=link.z,
                        cause="network",
                        operator=link.kind,
                        operator_ns=link.extra_ns,
                        position=None,
                        saving_ns=None,
                        steps=steps,
                        of_steps=steps,
                        peers=link.compared,
                        named=whole and steps >= LEAST_STEPS,
                        doubt="loading" if not whole else "" if steps >= LEAST_STEPS else "few_steps",
                    )
                )
    return found


def _removed(run: RunData, slow: Slow) -> Float32:
    """Of each collective of the rank what is taken away before it, ns: at most its own time."""
    rows = run.rows(slow.rank)
    found = np.zeros(len(rows.number), np.float32)
    assert slow.excess is not None
    for step, program in enumerate(run.programs[slow.rank].tolist()):
        at = np.flatnonzero(rows.step == step)
        if program == slow.program and len(at) == len(slow.excess):
            found[at] = np.minimum(slow.excess, np.nan_to_num(rows.own[at]))
    return found


def _answer(run: RunData, slow: Slow, saving: int | None, groups: Sequence[RunGroup]) -> Straggler:
    head = run.heads[slow.rank]
    return Straggler(
        rank=head.rank,
        worker=head.worker,
        host=head.host or None,
        late_ns=round(slow.late_ns),
        z=slow.z,
        cause=slow.diagnosis.cause,
        operator=slow.diagnosis.operator,
        operator_ns=None if slow.diagnosis.ns is None else round(slow.diagnosis.ns),
        position=_position(run, slow, groups),
        saving_ns=saving,
        steps=slow.steps,
        of_steps=slow.of_steps,
        peers=slow.peers,
        named=slow.named,
        doubt=slow.doubt,  # type: ignore[arg-type]
    )


def _position(run: RunData, slow: Slow, groups: Sequence[RunGroup]) -> str | None:
    """The collective before which it is late: its name, which of the step it is (from 1), and its group."""
    if slow.position is None:
        return None
    of = run.summaries[slow.rank].called
    step = next((at for at, each in enumerate(run.programs[slow.rank].tolist()) if each == slow.program), None)
    if step is None:
        return None
    row = int(np.flatnonzero(of.step == step)[slow.position])
    code = int(run.join.group_numbers(of.groups)[of.group[row]])
    label = groups[code].label
    return f"{of.names[of.name[row]]} #{slow.position + 1}{f' ({label})' if label else ''}"
