"""Anomaly detection of autograd: the gradients of each backward node are checked for NaN."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import Change, free, targets, without
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import HOST, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.anomaly import anomaly_checks, below
from torch_tb_profiler.insights.shared.wording import ms


def _find(facts: Facts) -> Sequence[Found]:
    model = facts.model
    tree, found = model.structure.tree, anomaly_checks(model)
    fewest, least = facts.limit("anomaly_mode", "fewest"), facts.limit("anomaly_mode", "least_ratio")
    if len(found.checked) < fewest or found.share < least:
        return ()
    rows = facts.in_steps(tree.row[found.node])
    if not len(rows):
        return ()
    spent = int(facts.duration(rows).sum())
    changes: list[Change] = [without("sync", rows=rows), free(rows=rows)]
    work = model.trace.device_work.row[below(model, found.node, model.structure.device_links.node) >= 0]
    if len(work):
        changes.append(targets(work, np.zeros(len(work), np.int64)))
    return (
        Found(
            title="Anomaly detection is on",
            detail=(
                f"Autograd checks {100 * found.share:.0f} % of its nodes for NaN and waits for each answer: "
                f"{ms(spent / facts.steps)} of the average step go into these checks."
            ),
            advice=(
                "Take `torch.autograd.set_detect_anomaly(True)`, or `detect_anomaly()`, out of normal runs: it is for "
                "finding the operator that makes a NaN."
            ),
            values={"share": found.share, "spent_ns": spent / facts.steps},
            rows=facts.longest_first(rows),
            changes=tuple(changes),
            evidence=(
                Evidence("checked_nodes", "Backward nodes that are checked", found.share, "fraction", "operators"),
                Evidence("checks_per_step", "Checks, average per step", spent / facts.steps, "ns", "operators"),
            ),
            links=(
                Link(
                    "anomaly_detection",
                    "Anomaly detection",
                    "https://docs.pytorch.org/docs/stable/autograd.html#anomaly-detection",
                ),
            ),
        ),
    )


RULE = Rule("anomaly_mode", "R12", (STEPS, HOST), _find)
