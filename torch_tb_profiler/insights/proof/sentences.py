"""What a proof says in words."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.insights.proof.answer import Agreement, ChangedPart, ChangedQuantity, Predicted, ProvedMeasure
from torch_tb_profiler.reason import Value
from torch_tb_profiler.words import Section, section
from torch_tb_profiler.words.formats import ms


def proof_words(part: str) -> Section:
    """Return the sentences of a part of the words of proofs."""
    return section("proof", part)


def sentence_of(
    reason: str | None,
    proved: ProvedMeasure | None,
    predicted: Predicted | None,
    step: ChangedQuantity | None,
    agreement: Agreement,
    moved: Sequence[ChangedPart],
) -> str:
    """Return the whole answer in words."""
    if reason is not None:
        return proof_words("reasons").say(reason, {})
    keys: list[str] = ["no_measure" if proved is None else proved.verdict]
    if predicted is not None:
        keys.append(agreement)
    if step is not None:
        keys.append("step" if step.low is not None else "step_uncertain")
    values: dict[str, Value] = {}
    for name, source in (("measure", proved), ("step", step)):
        for key in ("before", "after", "less", "low", "high"):
            value = getattr(source, key, None)
            if value is not None:
                is_count = isinstance(source, ProvedMeasure) and source.unit == "count"
                values[f"{name}_{key}"] = f"{value:g}" if is_count else _time(value)
    if predicted is not None:
        values |= {"likely": _time(predicted.likely), "low": _time(predicted.low), "high": _time(predicted.high)}
    if moved:
        values |= {"cause": moved[0].cause, "grown": _time(-moved[0].less)}
    return " ".join(proof_words("sentences").say(key, values) for key in keys)


def _time(milliseconds: float | None) -> str:
    """Write a time in the unit that fits, as sentences do; what has no interval has no ends."""
    return "" if milliseconds is None else ms(milliseconds * 1e6)
