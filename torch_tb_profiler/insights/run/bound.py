"""What bounds a run of several ranks: the resource whose relief on all of them shortens the steps most."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.replay.quality import ReplayRefusal
from torch_tb_profiler.analysis.waterfall.waterfall import ExplainedShare
from torch_tb_profiler.insights.bound import (
    LEAST_SHARE,
    MOSTLY_IDLE,
    Bound,
    Relief,
    Reservations,
    bound_in_words,
    slower_host,
)
from torch_tb_profiler.insights.resources import OF_IDLE_TIME, BoundKind, HostPart
from torch_tb_profiler.insights.run.facts import Remedy, RunFacts
from torch_tb_profiler.reason import Value

_HOST_PARTS: tuple[HostPart, ...] = ("calls", "unrecorded", "between")


def run_bound(facts: RunFacts) -> Bound:
    """Say what bounds a run: the resources are those of `bound_of`, and each is relieved on all ranks at once."""
    held = [rank.reservations for rank in facts.ranks]
    known = _explained(held)
    about: dict[str, Value] = {"loaded": facts.loaded, "world": facts.world}

    def unknown(why: str, reliefs: Sequence[Relief] = (), refusal: ReplayRefusal | None = None) -> Bound:
        return bound_in_words("unknown", {**about, "why": why}, known, reliefs, refusal=refusal)

    if (refusal := facts.refusal(())) is not None:
        return unknown(refusal.id, refusal=refusal)
    if not facts.steps or not facts.step_ns:
        return unknown("no_step")
    all_reliefs = _reliefs(facts, held)
    best, share = all_reliefs[0], all_reliefs[0].share or 0.0
    for kind in (relief.kind for relief in all_reliefs if relief.share is None):
        why = facts.refusal(facts.relief_changes(kind))
        if why is not None and _ceiling(held, kind) >= max(share, LEAST_SHARE):
            return unknown(why.id, all_reliefs, why)
    if best.kind != "compute" and any(rank.is_busy_for_free for rank in held):
        return unknown("busy", all_reliefs)
    if share < LEAST_SHARE:
        return unknown("nothing", all_reliefs)
    if best.kind == "sync" and all(rank.idle > MOSTLY_IDLE for rank in held):
        best = slower_host(all_reliefs, _next(facts, best, all_reliefs)) or best
    if best.kind in ("host", "sync") and any(rank.is_idle_unknown for rank in held):
        return unknown("idle", all_reliefs)
    return _determined(facts, held, all_reliefs, best, known, about)


def _explained(held: Sequence[Reservations]) -> ExplainedShare:
    """Return the share of the rank that is explained least; None where it is unknown for one."""
    shares = [each.explained.share for each in held if each.explained.share is not None]
    is_low = any(each.explained.confidence != "normal" for each in held)
    share = min(shares) if shares and len(shares) == len(held) else None
    return ExplainedShare(share, "low" if is_low else "normal")


def _reliefs(facts: RunFacts, held: Sequence[Reservations]) -> list[Relief]:
    """Return the saving of relieving each resource, the largest first and refused ones last."""
    spare = sum(each.spare for each in held) / len(held)
    found = []
    for kind in dict.fromkeys(kind for each in facts.ranks for kind in each.reliefs):
        if facts.refusal(facts.relief_changes(kind)) is not None:
            found.append(Relief(kind, None))
        else:
            saved = 1 - _after(facts, [facts.relief(kind)]) / (facts.step_ns * facts.steps)
            found.append(Relief(kind, min(saved, spare) if kind in OF_IDLE_TIME else saved))
    return sorted(found, key=lambda each: (each.share is None, -(each.share or 0.0)))


def _determined(
    facts: RunFacts,
    held: Sequence[Reservations],
    reliefs: Sequence[Relief],
    best: Relief,
    known: ExplainedShare,
    about: dict[str, Value],
) -> Bound:
    share, is_host = best.share or 0.0, best.kind == "host"
    by = next((part for part in _HOST_PARTS if 2 * sum(rank.by == part for rank in held) > len(held)), None)
    is_launch = is_host and by != "calls" and 2 * sum(rank.is_launch_bound for rank in held) > len(held)
    following = _next(facts, best, reliefs)
    if is_launch and following == "launch":
        following = None
    values = about | {
        "partial": facts.is_partial,
        "share": share,
        "before_ns": facts.step_ns,
        "after_ns": facts.step_ns * (1 - share),
        "device": any(rank.has_device_work for rank in facts.ranks),
        "calls": best.kind == "launch",
        "joint": True,
    }
    if following is not None:
        values["next"] = following
    if by is not None and is_host and not is_launch:
        values["by"] = by
    return bound_in_words("launch" if is_launch else best.kind, values, known, reliefs, share, following)


def _ceiling(held: Sequence[Reservations], kind: BoundKind) -> float:
    """Return what a relief that is refused would save at most, on the rank where that is most."""
    return max(each.ceilings.get(kind, 0.0) for each in held)


def _next(facts: RunFacts, best: Relief, found: Sequence[Relief]) -> BoundKind | None:
    """Return the resource whose relief saves most after that of the best."""
    relieved = facts.relief(best.kind)
    reached, total = _after(facts, [relieved]), facts.step_ns * facts.steps
    further = {
        each.kind: (reached - _after(facts, [relieved, facts.relief(each.kind)])) / total
        for each in found
        if each.kind != best.kind and each.share is not None
    }
    kind = max(further, key=lambda each: further[each], default=None)
    return kind if kind is not None and further[kind] >= LEAST_SHARE else None


def _after(facts: RunFacts, remedies: Sequence[Remedy]) -> float:
    """All steps of all ranks after some remedies, ns."""
    return float(sum(int(each.sum()) for each in facts.steps_after(remedies)))
