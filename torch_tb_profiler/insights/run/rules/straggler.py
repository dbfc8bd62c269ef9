"""A rank that the others wait for in most steps, and what it spends more time on than they do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import no_straggler
from torch_tb_profiler.analysis.replay.effects import Effect
from torch_tb_profiler.analysis.replay.refusals import Refusal
from torch_tb_profiler.insights.rule import Evidence
from torch_tb_profiler.insights.run.facts import RunFacts, RunRank
from torch_tb_profiler.insights.run.instance import RunInstance
from torch_tb_profiler.insights.run.lateness import PLACES, Excess, Late, excess_of, late_ranks
from torch_tb_profiler.insights.run.rule import RunFound, RunRule
from torch_tb_profiler.insights.run.rules import slow_host
from torch_tb_profiler.insights.shared.links import DDP_UNEVEN
from torch_tb_profiler.insights.shared.wording import ms
from torch_tb_profiler.ranks.run_answers import Straggler
from torch_tb_profiler.ranks.stragglers import KERNELS, without_excess

_NO_CAUSE = Refusal(
    "lateness_unknown", "savings", "What makes the rank late is neither host time nor kernels of its trace."
)
#: instances that a finding lists
_LISTED = 20
#: more kernels than the median rank by this part is more work; else the same work is slower
_MORE_KERNELS = 0.05
_PLACES: Mapping[str, str] = {
    "python": "Python",
    "operator": "operators on the CPU",
    "data": "loading data",
    "launch": "launch calls",
    "blocking": "synchronizing calls",
    "allocator": "allocator calls",
    "api": "calls of the device's API",
    "collective": "collectives on the host",
    "kernels": "kernels",
}
_ADVICE: Mapping[str, str] = {
    "python": "Look at that rank in the Stacks view: work that only one rank does (logging, evaluation, checkpoints) "
    "belongs in another process, or after the step under `if rank == 0`.",
    "operator": "Give all ranks the same amount of work: sort or bucket samples by length, and drop or pad what is "
    "left over. If the work is equal, the CPUs of that rank are slower or shared: see `numactl --hardware` and `top`.",
    "data": "Give that rank the same input pipeline as the others: `DataLoader(…, num_workers=…, prefetch_factor=…)`, "
    "shards of equal size, and storage that is as near.",
    "launch": "Bind each rank to CPUs next to its GPU (`numactl --cpunodebind=… --membind=…`), and look for other "
    "processes on them.",
    "allocator": "Look at the memory of that rank: `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` avoids "
    "allocations in steps.",
    "slower": "The same kernels are slower there: compare clocks and temperatures with "
    "`nvidia-smi -q -d CLOCK,TEMPERATURE,PERFORMANCE`, and look for other processes on that GPU.",
    "more": "That rank computes more: balance the batches (samples of equal length, "
    "`DistributedSampler`), the layers of pipeline stages, or the experts.",
}
#: by the cause that the reduction of the ranks names: where the time goes, and what is advised
_CAUSES: Mapping[str, tuple[str, str]] = {
    "input": ("data", "data"),
    "slow_compute": ("kernels", "slower"),
    "more_work": ("kernels", "more"),
    "slow_operator": ("operator", "operator"),
    "late_launches": ("operator", "operator"),
    "allocator": ("allocator", "allocator"),
}
_GENERAL = "Compare that rank with another one in the Overview and the Operators view."


def _find(facts: RunFacts) -> Sequence[RunFound]:
    late = late_ranks(facts)
    waited_for = {facts.ranks[each.rank].rank.worker for each in late}
    # in a pipeline stages wait for one another, whoever is slow: own time tells it
    slow = [each for each in facts.stragglers.values() if each.named and each.worker not in waited_for]
    if not late and not slow:
        return ()
    level = without_excess([each.spent for each in facts.ranks])
    place = {each.rank.worker: number for number, each in enumerate(facts.ranks)}
    slow_hosts = {worker for each in slow_host.RULE.find(facts) for worker in each.workers}
    found = []
    for each in late[:3]:
        excess = excess_of(facts, each.rank)
        worker = facts.ranks[each.rank].rank.worker
        # slow launches are the cause, and are said as such
        if excess is None or excess.place != "launch" or worker not in slow_hosts:
            found.append(_found(facts, each, excess, level[each.rank]))
    slow.sort(key=lambda each: -(each.saving_ns or 0))
    found += [_by_own_time(facts, each, level[place[each.worker]]) for each in slow[:3] if each.worker in place]
    return found


def _by_own_time(facts: RunFacts, slow: Straggler, effect: Effect) -> RunFound:
    """A rank that the reduction of the ranks names, while waiting does not show it."""
    where, advised = _CAUSES.get(slow.cause, ("", ""))
    what = f" What takes longer is {_PLACES[where]}" if where else ""
    if what and slow.operator:
        what += f", most of it `{slow.operator}`"
    return RunFound(
        title=f"{slow.worker} is late, and other ranks wait for it",
        detail=(
            f"{slow.worker} takes {ms(slow.late_ns)} longer in a step than {slow.peers} ranks that do the same, "
            f"clearly so in {slow.steps} of {slow.of_steps} steps.{what}{'.' if what else ''}"
        ),
        advice=_ADVICE.get(advised, _GENERAL),
        values={
            "worker": slow.worker,
            "peers": slow.peers,
            "steps": slow.steps,
            "of": slow.of_steps,
            "late_ns": slow.late_ns,
            "advice": advised,
            **({"place": where} if where else {}),
            **({"name": slow.operator} if what and slow.operator else {}),
        },
        workers=(slow.worker,),
        remedy=facts.on(slow.worker, effect),
        changes=(no_straggler(),),
        bound=False,
        alone_ns=slow.saving_ns,
        evidence=(Evidence("late_excess", "What it spends more time on", slow.late_ns, "ns", "overview"),),
        links=(DDP_UNEVEN,),
        confidence="medium" if facts.is_partial else "high",
        refused=None if slow.saving_ns is not None else _NO_CAUSE,
    )


def _found(facts: RunFacts, late: Late, excess: Excess | None, effect: Effect) -> RunFound:
    rank = facts.ranks[late.rank]
    worker = rank.rank.worker
    others = facts.loaded - 1
    detail = (
        f"{worker} is the straggler in {late.steps} of {late.of_steps} steps: the median rank waits "
        f"{ms(late.waited_ns)} more than it in a step of {ms(facts.step_ns)}."
    )
    values: dict[str, str | int | float | bool] = {
        "worker": worker,
        "others": others,
        "steps": late.steps,
        "of": late.of_steps,
        "waited_ns": late.waited_ns,
        "step_ns": facts.step_ns,
    }
    evidence = [Evidence("late_wait", "Others wait for it, average per step", late.waited_ns, "ns", "distributed")]
    if late.z is not None:
        evidence.append(
            Evidence("late_deviations", "Deviations from the median rank", round(late.z, 1), "count", "distributed")
        )
    advice = _GENERAL
    instances: tuple[RunInstance, ...] = ()
    if excess is not None:
        place = excess.place
        if excess.kernels is not None:
            place = "more" if excess.kernels > _MORE_KERNELS else "slower"
        advice = _ADVICE.get(place, _GENERAL)
        values |= {"place": excess.place, "advice": place, "excess_ns": excess.ns, "name": excess.name}
        detail += f" It spends {ms(excess.ns)} more on {_PLACES[excess.place]} than the median rank"
        if excess.name and excess.name_ns > 0:
            values["name_ns"] = excess.name_ns
            detail += f", {ms(excess.name_ns)} of it in `{excess.name}`"
        detail += "."
        evidence.append(Evidence("late_excess", "What it spends more time on", excess.ns, "ns", "overview"))
        instances = _instances(rank, PLACES.index(excess.place), excess.name)
    else:
        values["advice"] = ""
    two = facts.loaded == 2
    return RunFound(
        title=f"{worker} is late, and other ranks wait for it",
        detail=detail,
        advice=advice,
        values=values,
        workers=(worker,),
        remedy=facts.on(worker, effect),
        changes=(no_straggler(),),
        bound=False,
        alone_ns=slow.saving_ns if (slow := facts.stragglers.get(worker)) else None,
        instances=instances,
        evidence=tuple(evidence),
        links=(DDP_UNEVEN,),
        confidence="low" if late.of_steps < 2 else "medium" if two or facts.is_partial else "high",
        refused=None if excess is not None else _NO_CAUSE,
    )


def _instances(rank: RunRank, label: int, name: str) -> tuple[RunInstance, ...]:
    """The longest pieces of what the rank spends more time on."""
    spent = rank.spent
    kind = next((number for number, each in enumerate(spent.kinds) if each == (label, name)), -1)
    if label == KERNELS:
        items = rank.graph.items
        chosen = spent.item[spent.of_item == kind]
        return rank.instances(
            items.row[chosen].astype(np.int64), name, items.start[chosen], items.duration[chosen], _LISTED
        )
    at = np.flatnonzero((spent.of_piece == kind) & (spent.row >= 0))
    pieces = spent.pieces.take(at)
    return rank.instances(spent.row[at], name, pieces.start, pieces.end - pieces.start, _LISTED)


RULE = RunRule("straggler", "R45", _find, replaces=("waiting",))
