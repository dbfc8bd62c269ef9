"""The replay engine and the findings: E1 to E4."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bars.bar import Bar, Check, Measured, at, ratio


def _replay(*parts: tuple[str, str, float], m: Measured) -> Iterator[Check]:
    """Of label, key and what must hold: CPU seconds for 10^6 events."""
    for label, key, must in parts:
        seconds, events = at(m, f"replay/one/{key}"), at(m, "replay/one/events")
        yield Check(label, ratio(seconds, (events or 0) / 1e6), must, None, "s")


def _replay_once(m: Measured) -> Iterator[Check]:
    yield from _replay(("graph", "build", 1.0), ("path", "path", 0.3), m=m)


def _replay_changes(m: Measured) -> Iterator[Check]:
    yield from _replay(
        ("dearest change", "what_if", 0.06), ("savings", "savings", 1.0), ("all findings", "findings", 1.0), m=m
    )


def _replay_memory(m: Measured) -> Iterator[Check]:
    memory, events = at(m, "replay/one/memory"), at(m, "replay/one/events")
    yield Check("graph", ratio(memory, events), 100, None, "MB")  # bytes of an event are MB of 10^6


def _replay_ranks(m: Measured) -> Iterator[Check]:
    yield Check("8 ranks of 100k", at(m, "replay/ranks/joint"), 3, None, "s")


BARS = (
    Bar(
        "E1",
        "replay, CPU of 10^6 events: graph / critical path of all steps",
        "≤ 1.0 s / ≤ 0.3 s",
        "",
        _replay_once,
        "E1 and E2 count from when steps, call tree and launches are known.",
    ),
    Bar(
        "E2",
        "replay, CPU of 10^6 events: one change / savings of 7 remedies / all findings",
        "≤ 0.06 s / ≤ 1.0 s",
        "",
        _replay_changes,
    ),
    Bar("E3", "replay: memory of the graph of 10^6 events", "≤ 100 MB", "", _replay_memory),
    Bar("E4", "replay of 8 ranks of 100k events together: graphs and one change", "≤ 3 CPU s", "", _replay_ranks),
)
