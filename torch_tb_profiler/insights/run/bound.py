"""What bounds a run of several ranks: the resource whose relief on all of them shortens the steps most."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.insights.bound import (
    LEAST,
    MOSTLY_IDLE,
    OF_IDLE_TIME,
    Bound,
    Relief,
    Reservations,
    slower_host,
)
from torch_tb_profiler.insights.bound_sentences import BUSY_FOR_FREE, CANNOT, NAMES, BoundKind, HostPart, begin_of
from torch_tb_profiler.insights.run.facts import Remedy, RunFacts
from torch_tb_profiler.insights.shared.wording import ms
from torch_tb_profiler.reason import Value

#: waiting for other ranks is not a duration when ranks are replayed together
_COMMUNICATION = "Communication bounds this run: transfers that nothing hides. Without them"
_HOST_PARTS: tuple[HostPart, ...] = ("calls", "unrecorded")


def run_bound(facts: RunFacts) -> Bound:
    """The resources are those of `bound_of`, and each is relieved on all ranks at once."""
    refusal = facts.refusal(())
    held = [each.reservations for each in facts.ranks]
    known = [each.explained.share for each in held]
    explained = None if None in known or not known else min(each for each in known if each is not None)
    confidence = "low" if any(each.explained.confidence != "normal" for each in held) else "normal"
    about: dict[str, Value] = {"loaded": facts.loaded, "world": facts.world}

    def unknown(why: str, sentence: str, reliefs: Sequence[Relief] = ()) -> Bound:
        return Bound("unknown", None, None, explained, confidence, sentence, tuple(reliefs), about | {"why": why})

    if refusal is not None:
        return unknown(refusal.id, f"{CANNOT} {refusal.text}")
    if not facts.steps or not facts.step_ns:
        return unknown("no_step", f"{CANNOT} no steps were found")
    on_device = any(each.has_device_work for each in facts.ranks)
    total = facts.step_ns * facts.steps
    spare = sum(each.spare for each in held) / len(held)
    kinds: list[BoundKind] = [kind for each in facts.ranks for kind in each.reliefs]
    found = []
    for kind in dict.fromkeys(kinds):
        if facts.refusal(facts.relief_changes(kind)) is not None:
            found.append(Relief(kind, None))
        else:
            saved = 1 - _after(facts, [facts.relief(kind)]) / total
            found.append(Relief(kind, min(saved, spare) if kind in OF_IDLE_TIME else saved))
    found.sort(key=lambda each: -1.0 if each.share is None else -each.share)
    best, share = found[0], found[0].share or 0.0
    refused = [each.kind for each in found if each.share is None]
    above = next((kind for kind in refused if _ceiling(held, kind) >= max(share, LEAST)), None)
    if above is not None:
        why = facts.refusal(facts.relief_changes(above))
        if why is not None:
            return unknown(why.id, f"{CANNOT} {why.text}", found)
    if best.kind != "compute" and any(each.is_busy_for_free for each in held):
        return unknown("busy", f"{CANNOT} {BUSY_FOR_FREE}", found)
    if share < LEAST:
        text = "No single resource bounds this run: relieving any one of them alone would save less than 2 %."
        return unknown("nothing", text, found)
    if best.kind == "sync" and all(each.idle > MOSTLY_IDLE for each in held):
        best = slower_host(found, _next(facts, best, found, total)) or best
        share = best.share or 0.0
    if best.kind in ("host", "sync") and any(each.is_idle_unknown for each in held):
        return unknown("idle", f"{CANNOT} the devices idle, and the traces do not show why.", found)
    following = _next(facts, best, found, total)
    after = facts.step_ns * (1 - share)
    calls = best.kind == "launch"
    by = next((part for part in _HOST_PARTS if 2 * sum(each.by == part for each in held) > len(held)), None)
    is_host = best.kind == "host"
    launch = is_host and by != "calls" and 2 * sum(each.is_launch_bound for each in held) > len(held)
    by = by if is_host and not launch else None
    said: BoundKind = "launch" if launch else best.kind
    following = None if launch and following == "launch" else following
    begin = _COMMUNICATION if said == "communication" else begin_of(said, on_device, calls, by)
    sentence = f"{begin} a step would take {ms(after)} instead of {ms(facts.step_ns)} ({100 * share:.0f} % less)."
    if best.kind == "communication" and facts.is_partial:
        sentence += f" That includes waiting for ranks that are not loaded: {facts.loaded} of {facts.world} are."
    if following is not None:
        sentence += f" What comes next is {NAMES[following]}."
        about["next"] = following
    about |= {
        "share": share,
        "before_ns": facts.step_ns,
        "after_ns": after,
        "device": on_device,
        "calls": calls,
        "joint": True,
    }
    if by is not None:
        about["by"] = by
    return Bound(said, share, following, explained, confidence, sentence, tuple(found), about)


def _ceiling(held: Sequence[Reservations], kind: BoundKind) -> float:
    """What a relief that is refused would save at most, on the rank where that is most."""
    return max(each.ceilings.get(kind, 0.0) for each in held)


def _next(facts: RunFacts, best: Relief, found: Sequence[Relief], total: float) -> BoundKind | None:
    """The resource whose relief saves most after that of the best."""
    relieved = facts.relief(best.kind)
    reached = _after(facts, [relieved])
    further = {
        each.kind: (reached - _after(facts, [relieved, facts.relief(each.kind)])) / total
        for each in found
        if each.kind != best.kind and each.share is not None
    }
    kind = max(further, key=lambda each: further[each], default=None)
    return kind if kind is not None and further[kind] >= LEAST else None


def _after(facts: RunFacts, remedies: Sequence[Remedy]) -> float:
    """All steps of all ranks after some remedies, ns."""
    return float(sum(int(each.sum()) for each in facts.steps_after(remedies)))
