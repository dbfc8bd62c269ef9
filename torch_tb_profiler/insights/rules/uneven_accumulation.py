"""Steps of one optimizer sum gradients over different numbers of backward passes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.program.micro_batches import micro_batches, optimizers, updates
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import HOST, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule


def _find(facts: Facts) -> Sequence[Found]:
    passes, found = micro_batches(facts.model), optimizers(facts.model)
    trained = np.flatnonzero(np.bincount(passes.step, minlength=facts.steps))
    # an optimizer that does not step in each of them makes other steps than the recording has
    if len(trained) < 2 or not len(found) or int(found.calls.max()) < len(trained):
        return ()
    made = updates(facts.model)
    # of each optimizer its own number: a discriminator may take more passes than a generator
    uneven = [at for at in range(len(found)) if len(set(made.passes[made.optimizer == at].tolist())) > 1]
    if not uneven:
        return ()
    mine = made.optimizer == uneven[0]
    counts, step = made.passes[mine], made.step[mine]
    low, high, usual = int(counts.min()), int(counts.max()), int(np.bincount(counts).argmax())
    other = np.unique(step[counts != usual])
    names = ", ".join(facts.model.steps.names[at] for at in other[:5].tolist())
    return (
        Found(
            title="Steps accumulate gradients over different numbers of batches",
            detail=(
                f"{len(other)} of {len(trained)} steps have another number of backward passes than the usual {usual}: "
                f"from {low} to {high} (step {names}{', …' if len(other) > 5 else ''})."
            ),
            advice=(
                "If this is the end of the data, `drop_last=True` avoids it. If it is intended, divide the loss "
                "by the number of passes of that step: divided by the usual number, such steps learn less, or more."
            ),
            values={
                "other": len(other),
                "steps": len(trained),
                "usual": usual,
                "low": low,
                "high": high,
                "names": names,
            },
            severity="low",
            confidence="medium",
            evidence=(
                Evidence("fewest_passes", "Fewest backward passes of a step", low, "count", "program"),
                Evidence("most_passes", "Most backward passes of a step", high, "count", "program"),
            ),
            links=(
                Link(
                    "accumulation",
                    "Gradient accumulation",
                    "https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation",
                ),
            ),
        ),
    )


RULE = Rule("uneven_accumulation", "R68", (STEPS, HOST), _find)
