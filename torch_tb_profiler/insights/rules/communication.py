"""Communication that no computation hides."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import COMMUNICATION, MACHINE, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Rule
from torch_tb_profiler.insights.shared.exposed import ONE_RANK, exposed_communication
from torch_tb_profiler.insights.shared.held_transfers import held_transfers
from torch_tb_profiler.insights.shared.transfer_advice import ADVICE, LINKS, most_sent

_DELAY = "From the launch of a collective to its kernel, median"


def _find(facts: Facts) -> Sequence[Found]:
    exposed = exposed_communication(facts)
    if exposed is None:
        return ()
    communications = facts.model.communications
    held = held_transfers(facts.model)
    sent = most_sent([(communications, communications.duration)], facts.is_training, None if held is None else held.how)
    delay = None if held is None else Evidence("launch_delay", _DELAY, held.delay_ns, "ns", "distributed")
    return (
        Found(
            title="Steps wait for communication",
            detail=f"{100 * exposed.share:.1f} % of the average step is communication that no computation hides.",
            advice=ADVICE[sent],
            values={"share": exposed.share, "sent": sent},
            rows=facts.longest_first(facts.communication_rows),
            refused=ONE_RANK,
            evidence=(
                exposed.evidence,
                Evidence("share_of_step", "Share of the average step", exposed.share, "fraction", "overview"),
                *([] if delay is None else [delay]),
            ),
            links=LINKS[sent],
        ),
    )


RULE = Rule("communication", "R43", (STEPS, MACHINE, COMMUNICATION), _find, symptom=True)
