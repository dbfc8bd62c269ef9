"""A range that the program calls the loading of its data takes part of the steps, outside of a DataLoader of torch."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.shared.main_lane import main_lane
from torch_tb_profiler.arrays.moments import Moments
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Bool, Int32
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import HOST, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.loading import (
    LOADING,
    batch_evidence,
    beyond,
    launch_inside,
    outermost,
    own_code_within,
)
from torch_tb_profiler.insights.shared.wording import ms
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.model import DATALOADER_NAME


def _find(facts: Facts) -> Sequence[Found]:
    model = facts.model
    rows = outermost(model, model.annotation_rows(LOADING.search))
    rows = rows[(facts.step_of(rows) >= 0) & (facts.trace.events.track[rows] == main_lane(model))]
    rows = facts.longest_first(rows[~_around_loader(model, rows)]) if len(rows) else rows
    took, n = facts.duration(rows), facts.steps
    share = facts.share(float(took.sum()))
    hand_over = facts.limit("synchronous_dataloader", "hand_over_ns")
    if not len(rows) or share < facts.limit("input_annotation", "least_share"):
        return ()
    usual = median(took)
    if (
        usual < facts.limit("synchronous_dataloader", "least_times_hand_over") * hand_over
        or launch_inside(facts, rows).any()
    ):
        return ()
    name = str(facts.trace.strings[facts.trace.events.name[rows[0]]])
    own = own_code_within(facts, rows)
    return (
        Found(
            title="Steps wait for input data",
            detail=(
                f"{100 * share:.1f} % of the average step is in {name}, {ms(usual)} each time, on the thread "
                "that runs the steps."
            ),
            advice=(
                "Prepare the next batch during the step: in worker processes, as `DataLoader(…, num_workers=4)` does, "
                "or in a thread with a short queue if the time is not spent in Python."
            ),
            values={"share": share, "name": name, "batch_ns": usual},
            rows=rows,
            changes=(beyond(facts, rows, hand_over),),
            place_rows=own if len(own) else rows,
            evidence=(
                Evidence("loading_per_step", "This range, average per step", float(took.sum()) / n, "ns", "overview"),
                *batch_evidence(facts, rows),
            ),
            links=(
                Link(
                    "tuning_data_loading",
                    "Performance tuning guide: data loading",
                    "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html",
                ),
            ),
            confidence="medium",
        ),
    )


def _around_loader(model: Model, rows: Int32) -> Bool:
    """Which ranges have a range of torch's own loader inside: that one says it more precisely."""
    events = model.trace.events
    loader = model.annotation_rows(DATALOADER_NAME.search)
    begun = Moments(events.track[loader], events.start[loader])
    found: Bool = begun.between(events.track[rows], events.start[rows], events.end[rows]) > 0
    return found


RULE = Rule("input_annotation", "R1", (STEPS, HOST), _find)
