"""What bounds a run of several ranks: the resource whose relief on all of them shortens the steps most."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.insights.bound import LEAST, NAMES, Bound, BoundKind, Relief, begin_of
from torch_tb_profiler.insights.run_facts import Remedy, RunFacts
from torch_tb_profiler.insights.wording import ms
from torch_tb_profiler.reason import Value

#: waiting for other ranks is not a duration when ranks are replayed together
_COMMUNICATION = "Communication bounds this run: transfers that nothing hides. Without them"


def run_bound(facts: RunFacts) -> Bound:
    """The resources are those of `bound_of`, and each is relieved on all ranks at once."""
    refusal = facts.refusal(())
    known = [each.quality.unexplained for each in facts.ranks]
    explained = None if None in known or not known else 1 - max(each for each in known if each is not None)
    confidence = "low" if any(each.quality.confidence != "normal" for each in facts.ranks) else "normal"
    about: dict[str, Value] = {"loaded": facts.loaded, "world": facts.world}
    if refusal is not None or not facts.steps or not facts.step_ns:
        text = "no steps were found" if refusal is None else refusal.text
        about["why"] = "no_step" if refusal is None else refusal.id
        return Bound(
            "unknown", None, None, explained, confidence, f"What bounds this run cannot be told: {text}", (), about
        )
    on_device = any(each.has_device_work for each in facts.ranks)
    total = facts.step_ns * facts.steps
    kinds: list[BoundKind] = [kind for each in facts.ranks for kind in each.reliefs]
    found = []
    for kind in dict.fromkeys(kinds):
        if facts.refusal(facts.relief_changes(kind)) is not None:
            found.append(Relief(kind, None))
        else:
            found.append(Relief(kind, 1 - _after(facts, [facts.relief(kind)]) / total))
    found.sort(key=lambda each: -1.0 if each.share is None else -each.share)
    best = found[0]
    if best.share is None or best.share < LEAST:
        about["why"] = "nothing"
        sentence = "No single resource bounds this run: relieving any one of them alone would save less than 2 %."
        return Bound("unknown", None, None, explained, confidence, sentence, tuple(found), about)
    following = _next(facts, best, found, total)
    after = facts.step_ns * (1 - best.share)
    calls = best.kind == "launch"
    begin = _COMMUNICATION if best.kind == "communication" else begin_of(best.kind, on_device, calls)
    sentence = f"{begin} a step would take {ms(after)} instead of {ms(facts.step_ns)} ({100 * best.share:.0f} % less)."
    if best.kind == "communication" and facts.is_partial:
        sentence += f" That includes waiting for ranks that are not loaded: {facts.loaded} of {facts.world} are."
    if following is not None:
        sentence += f" What comes next is {NAMES[following]}."
        about["next"] = following
    about |= {
        "share": best.share,
        "before_ns": facts.step_ns,
        "after_ns": after,
        "device": on_device,
        "calls": calls,
        "joint": True,
    }
    return Bound(best.kind, best.share, following, explained, confidence, sentence, tuple(found), about)


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
