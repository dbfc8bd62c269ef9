"""Slow ranks in English, as commands print them."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.ranks.run_answers import Straggler
from torch_tb_profiler.ranks.straggler_answers import slow_or_slower

_MS = 1_000_000
#: a shorter saving would be printed as 0.00 ms
_LEAST_NS = 5_000

CAUSES = {
    "input": "waits for input",
    "slow_compute": "computes slower",
    "more_work": "has more work",
    "slow_operator": "one operator takes longer",
    "late_launches": "launches late",
    "allocator": "allocates memory",
    "network": "its network is slower",
    "unknown": "cause unknown",
}


def straggler_lines(stragglers: Sequence[Straggler]) -> list[tuple[str, str]]:
    """A line for each: a word (`slow`, or `slower` where peers are too few to name a rank) and what is known of it."""
    return [
        ("slow", _straggler(each)) if each.named else ("slower", f"of the two, {_straggler(each)}")
        for each in slow_or_slower(stragglers)
    ]


def milliseconds(ns: float | None) -> str:
    """`1,234.50 ms`; empty for None."""
    return "" if ns is None else f"{ns / _MS:,.2f} ms"


def _straggler(of: Straggler) -> str:
    who = of.worker if of.rank is None else f"rank {of.rank}"
    where = f" on {of.host}" if of.host else ""
    what = f": {of.operator}" if of.operator else ""
    is_shown = of.saving_ns is not None and of.saving_ns >= _LEAST_NS
    saving = f"; without it a step is {milliseconds(of.saving_ns)} shorter" if is_shown else ""
    return f"{who}{where}: {milliseconds(of.late_ns)} a step, {CAUSES[of.cause]}{what}{saving}"
