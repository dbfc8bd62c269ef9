"""Loading, answers and the cache: B1 to B13."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bars.bar import MB, Bar, Check, Measured, at, less, ratio
from benchmarks.requests import OLD_ROUTES


def _ingest(m: Measured) -> Iterator[Check]:
    yield Check("1M", ratio(at(m, "sizes/1M/ingest/cpu"), at(m, "sizes/1M/L/cpu")), 8, 5, "× L")


def _first_load(m: Measured) -> Iterator[Check]:
    for size in ("100k", "1M"):
        load = at(m, f"sizes/{size}/ours/all_views")
        yield Check(size, ratio(load, at(m, f"sizes/{size}/L/cpu")), 11, 7, "× L")
        yield Check(size, ratio(load, at(m, f"sizes/{size}/J/cpu")), 1.1, None, "× J")


def _peer_cpu(m: Measured) -> Iterator[Check]:
    for size, must, reach in (("100k", 8, 12), ("1M", 10, 20)):
        old, new = (less(at(m, f"sizes/{size}/{who}/cpu"), at(m, f"fixed/{who}/cpu")) for who in ("host old", "host"))
        yield Check(size, ratio(old, new), must, reach, "× less", at_most=False)
        raw = ratio(at(m, f"sizes/{size}/host old/cpu"), at(m, f"sizes/{size}/host/cpu"))
        yield Check(f"{size} with the fixed cost", raw, 0, 0, "× less", at_most=False)  # to know; not the bar


def _peer_wall(m: Measured) -> Iterator[Check]:
    for label, program, key in (("in the host", "host", "views"), ("TensorBoard", "TensorBoard", "wall")):
        old, new = (at(m, f"sizes/1M/{who}/{key}") for who in (f"{program} old", program))
        yield Check(label, ratio(old, new), 14, 25, "× less", at_most=False)


def _peak(m: Measured) -> Iterator[Check]:
    for size, must in (("100k", 0.30), ("1M", 0.22)):
        yield Check(
            size, ratio(at(m, f"sizes/{size}/host/peak"), at(m, f"sizes/{size}/host old/peak")), must, None, "× peer"
        )
    for size in ("1M", "5M"):
        peak = at(m, f"sizes/{size}/host/peak")
        if peak is not None:
            yield Check(size, peak / MB, float("inf"), 350, "MB")


def _linear(m: Measured) -> Iterator[Check]:
    per_event = [ratio(at(m, f"sizes/{size}/ours/all_views"), at(m, f"sizes/{size}/events")) for size in ("5M", "1M")]
    yield Check("5M ÷ 1M", ratio(per_event[0], per_event[1]), 1.25, 1.1, "×")


def _reopen(m: Measured) -> Iterator[Check]:
    for size in ("100k", "1M"):
        load = at(m, f"sizes/{size}/ours/all_views")
        for label, key, must, reach in (("first view", "first_view", 4, 2), ("everything", "all_views", 8, 4)):
            share = ratio(at(m, f"sizes/{size}/ours/reopen/{key}"), load)
            yield Check(f"{size} {label}", None if share is None else 100 * share, must, reach, "%")


def _cache(m: Measured) -> Iterator[Check]:
    for size in ("100k", "1M"):
        yield Check(size, ratio(at(m, f"sizes/{size}/ours/cache"), at(m, f"sizes/{size}/gz")), 0.65, 0.5, "× gz")


def _huge(m: Measured) -> Iterator[Check]:
    peak = at(m, "huge/peak")
    yield Check("peak", None if peak is None else peak / MB, 250, 150, "MB")


def _hostile(m: Measured) -> Iterator[Check]:
    cases: Measured = at(m, "damaged/cases") or {}
    lost = [name for name, case in cases.items() if "failed" in case or case["events"] < case["least"]]
    unsaid = [name for name, case in cases.items() if not case.get("noted")]
    dearest = max((case["cpu"] / case["clean"] for case in cases.values() if "cpu" in case), default=None)
    yield Check("most CPU", dearest, 3, 1.5, "× clean")
    yield Check("not loaded, or events lost", float(len(lost)) if cases else None, 0, 0, "inputs")
    yield Check("not reported", float(len(unsaid)) if cases else None, 0, 0, "inputs")


def _exact(m: Measured) -> Iterator[Check]:
    wrong = at(m, "exact/wrong")
    yield Check("files that differ", None if wrong is None else float(len(wrong)), 0, 0, "")


def _held(m: Measured) -> Iterator[Check]:
    held = at(m, "sizes/1M/serve/held")
    yield Check("1M", None if held is None else held / MB, 400, 200, "MB")


def _second(m: Measured) -> Iterator[Check]:
    routes: dict[str, list[float]] = at(m, "sizes/1M/ours/routes") or {}
    old = {label: seconds for label, (_, seconds) in routes.items() if label.partition(" ")[0] in OLD_ROUTES}
    old.pop("/trace", None)
    slowest = max(old, key=lambda label: old[label], default="")
    yield Check(slowest or "1M", 1000 * old[slowest] if slowest else None, 50, 10, "ms")


BARS = (
    Bar("B1", "ingest (gz → all tables), 1M events", "≤ 8 × L", "≤ 5 × L", _ingest),
    Bar(
        "B2",
        "first load, all views answered and cache written, 100k and 1M",
        "≤ 11 × L and ≤ 1.1 × J",
        "≤ 7 × L",
        _first_load,
        "Imports are left out, as in L and J. Comparing traces (/diff, /diffnode, /api/compare, /api/traces), the file"
        " itself (/trace) and a report of everything (/api/report) are no views of a trace; their cost is in the table"
        " of routes. The timeline is made after all answers; what that costs is T3.",
    ),
    Bar(
        "B3",
        "CPU against the peer, 100k / 1M",
        "≥ 8 × / ≥ 10 × less",
        "≥ 12 × / ≥ 20 × less",
        _peer_cpu,
        "Both plugins in the same host, the same questions (the old routes), the whole process tree, less what each"
        " costs on a trace of 3k events (start, imports, worker processes). The value with that"
        " cost is told beside it and decides nothing.",
    ),
    Bar(
        "B4",
        "wall against the peer at 1M, 2 workers",
        "≥ 14 × less",
        "≥ 25 × less",
        _peer_wall,
        "From the start to the last answer; imports and process starts are in it on both sides. Wall time is what the"
        " machine leaves over, and the peer runs once: where its wall time is far above its CPU time, the machine was"
        " busy then and the ratio flatters us. Both ways of running the plugins must hold.",
    ),
    Bar(
        "B5",
        "peak memory of a full load",
        "≤ 0.30 × peer at 100k, ≤ 0.22 × at 1M",
        "flat ≤ 350 MB at any size",
        _peak,
        "Sum over the process tree (PSS) on both sides.",
    ),
    Bar("B6", "linearity: µs per event at 5M against 1M", "≤ 1.25 ×", "≤ 1.1 ×", _linear),
    Bar(
        "B7",
        "reopen from cache: first view / everything",
        "≤ 4 % / ≤ 8 % of first-load CPU",
        "≤ 2 % / ≤ 4 %",
        _reopen,
    ),
    Bar(
        "B8",
        "cache size with derived tables",
        "≤ 0.65 × .json.gz",
        "≤ 0.5 ×",
        _cache,
        "All that is in the cache directory: columns and finished answers.",
    ),
    Bar(
        "B9",
        "10 GB of JSON (35M events) ingested",
        "peak ≤ 250 MB",
        "≤ 150 MB",
        _huge,
        "The events of 1M again and again.",
    ),
    Bar("B10", "hostile inputs", "all load, no clean event lost, ≤ 3 × clean CPU", "≤ 1.5 ×", _hostile),
    Bar("B11", "exactness: every column against json.loads, ts and dur to 1 ns", "0 mismatches", "", _exact),
    Bar("B12", "server process, one trace of 1M events open, all views visited", "≤ 400 MB", "≤ 200 MB", _held),
    Bar("B13", "any old route at 1M, second request", "≤ 50 ms CPU (without /trace)", "≤ 10 ms", _second),
)
