"""Communication behind which nothing is computed."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.insights.exposed import ONE_RANK, exposed_communication
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import COMMUNICATION, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule


def _find(facts: Facts) -> Sequence[Found]:
    exposed = exposed_communication(facts)
    if exposed is None:
        return ()
    return (
        Found(
            title="Steps wait for communication",
            detail=f"{100 * exposed.share:.1f} % of the average step is communication that no computation hides.",
            advice=(
                "Send less, or send it while something is computed: larger buckets with "
                "`DistributedDataParallel(…, bucket_cap_mb=…, gradient_as_bucket_view=True)`, a communication hook "
                "such as `bf16_compress_hook`, or gradients accumulated under `no_sync()`."
            ),
            values={"share": exposed.share},
            rows=facts.longest_first(facts.communication_rows),
            refused=ONE_RANK,
            evidence=(
                exposed.evidence,
                Evidence("share_of_step", "Share of the average step", exposed.share, "fraction", "overview"),
            ),
            links=(
                Link(
                    "ddp_hooks",
                    "Communication hooks of DDP",
                    "https://docs.pytorch.org/docs/stable/ddp_comm_hooks.html",
                ),
            ),
        ),
    )


RULE = Rule("communication", "R43", (STEPS, COMMUNICATION), _find)
