"""The bars that are demanded (issue 3, "Speed and memory"), and whether a measurement meets them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.requests import OLD_ROUTES

Measured = dict[str, Any]

MB = 1e6


@dataclass(frozen=True)
class Check:
    """One number of a bar; `value` is None where it was not measured.

    at_most: whether small is good
    """

    label: str
    value: float | None
    must: float
    reach: float | None
    unit: str
    at_most: bool = True

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "not measured"
        if self.reach is not None and self._holds(self.value, self.reach):
            return "reached"
        return "met" if self._holds(self.value, self.must) else "MISSED"

    def _holds(self, value: float, bound: float) -> bool:
        return value <= bound if self.at_most else value >= bound


@dataclass(frozen=True)
class Bar:
    """One row of the demanded table."""

    id: str
    what: str
    must: str
    reach: str
    checks: Callable[[Measured], Iterator[Check]]
    note: str = ""


def verdict(checks: list[Check]) -> str:
    """Of the bar: its worst check decides; one that was not measured does not make it met."""
    order = ("MISSED", "not measured", "met", "reached")
    return min((check.verdict for check in checks), key=order.index)


def at(measured: Measured, path: str) -> Any:
    """The value at `a/b/c`, None where there is none."""
    found: Any = measured
    for part in path.split("/"):
        if not isinstance(found, dict) or part not in found:
            return None
        found = found[part]
    return found


def ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None


def less(value: float | None, fixed: float | None) -> float | None:
    return value - fixed if value is not None and fixed is not None else None


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


def _tile(m: Measured) -> Iterator[Check]:
    for label, key in (("tile, median", "tile_median"), ("whole view, median", "view_median")):
        seconds = at(m, f"timeline/{key}")
        yield Check(label, None if seconds is None else 1000 * seconds, 15, None, "ms")


def _view(m: Measured) -> Iterator[Check]:
    for label, key in (("whole trace", "whole_view_bytes"), ("largest", "view_most_bytes")):
        size = at(m, f"timeline/{key}")
        yield Check(label, None if size is None else size / MB, 1, None, "MB")


def _pyramid(m: Measured) -> Iterator[Check]:
    parts = [at(m, f"timeline/{key}") for key in ("read", "structure", "build")]
    share = None if None in parts else 100 * parts[2] / sum(parts)
    yield Check("10M", share, 30, None, "%")


def _drawn(m: Measured) -> Iterator[Check]:
    for label, key in (("resident", "resident"), ("peak", "peak")):
        memory = at(m, f"timeline/{key}")
        yield Check(label, None if memory is None else memory / MB, 1500, None, "MB")


_PAGES = {"1M": "wide1000000", "10M": "wide10000000"}
_RANKS = "t64x100k"


def _painted(m: Measured) -> Iterator[Check]:
    for label, run in _PAGES.items():
        yield Check(label, at(m, f"timeline/pages/{run}/first"), 1, None, "s")


def _moved(m: Measured) -> Iterator[Check]:
    for label, run in _PAGES.items():
        yield _slowest(m, label, run)


def _slowest(m: Measured, label: str, run: str) -> Check:
    frames: dict[str, float] = at(m, f"timeline/pages/{run}/frames") or {}
    move = max(frames, key=lambda each: frames[each], default="")
    return Check(f"{label}, {move}", 1000 * frames[move] if move else None, 16, None, "ms")


def _heap(m: Measured) -> Iterator[Check]:
    for label, run in (*_PAGES.items(), ("64 ranks", _RANKS)):
        heap = at(m, f"timeline/pages/{run}/heap")
        yield Check(label, None if heap is None else heap / MB, 200, None, "MB")


def _many_ranks(m: Measured) -> Iterator[Check]:
    yield Check("first picture", at(m, f"timeline/pages/{_RANKS}/first"), 1, None, "s")
    yield _slowest(m, "frame", _RANKS)


def _table(m: Measured) -> Iterator[Check]:
    frame = at(m, "timeline/table")
    yield Check("frame", None if frame is None else 1000 * frame, 20, None, "ms")


def _remote_load(m: Measured) -> Iterator[Check]:
    yield Check("1M", ratio(at(m, "remote/remote"), at(m, "remote/local")), 1.25, None, "× local")


def _remote_reopen(m: Measured) -> Iterator[Check]:
    listings = at(m, "remote/reopen/list")
    # One at the start; the pages are asked for during the next interval, too.
    yield Check("listings", None if listings is None else float(listings), 2, 1, "")
    for kind, label in (("get", "downloads"), ("stat", "other requests")):
        count = at(m, f"remote/reopen/{kind}")
        yield Check(label, None if count is None else float(count), 0, 0, "")


def _remote_listing(m: Measured) -> Iterator[Check]:
    yield Check("10,000 objects", at(m, "remote/listing/cpu"), 3, None, "s")


def _remote_memory(m: Measured) -> Iterator[Check]:
    peak = at(m, "remote/large/peak")
    yield Check("8 × 100 MB", None if peak is None else peak / MB, 400, None, "MB")


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
    Bar("T1", "timeline, 10M slices on 60 lanes: a tile of all lanes", "≤ 15 ms CPU", "", _tile),
    Bar("T2", "timeline: the tiles of a view of 1,600 px, as sent", "≤ 1 MB", "", _view),
    Bar(
        "T3",
        "timeline: lanes, pyramid and counters, built and written",
        "≤ 30 % of the first load",
        "",
        _pyramid,
        "First load is reading, the call tree and launches, and the timeline itself; the answers for the other pages,"
        " which the worker makes, too, are not counted and would make the share smaller.",
    ),
    Bar("T4", "timeline: a process that serves one trace of 10M slices", "≤ 1.5 GB", "", _drawn),
    Bar(
        "T5",
        "timeline in a browser: until all that is in sight is drawn",
        "≤ 1 s CPU",
        "",
        _painted,
        "T5 to T8: headless Chromium that draws in software, 1600 × 1000 px; processor time of the page's main thread.",
    ),
    Bar(
        "T6",
        "timeline in a browser: a frame of panning, zooming or scrolling",
        "≤ 16 ms CPU",
        "",
        _moved,
        "The mean of 60 frames, at the zoom and for the move where it is largest; 0 is the whole trace.",
    ),
    Bar("T7", "timeline in a browser: JS heap after all that", "≤ 200 MB", "", _heap),
    Bar("T8", "timeline in a browser, 64 ranks of 100k events below each other", "≤ 1 s and ≤ 16 ms", "", _many_ranks),
    Bar(
        "U1",
        "a table of 100,000 rows in a browser: a frame of scrolling",
        "≤ 20 ms CPU",
        "",
        _table,
        "As T5; the mean of 60 frames, 3, 10 or 500 rows each, whichever costs most.",
    ),
    Bar(
        "S1",
        "first load from an S3 server on loopback against the disk, CPU of all our processes",
        "≤ 1.25 × local",
        "",
        _remote_load,
        "`serve` with two workers from its start until all views are answered, on both sides, in turns.",
    ),
    Bar("S2", "reopen with unchanged objects: requests to the store", "one listing, no GET", "", _remote_reopen),
    Bar("S3", "listing 10,000 objects, import of boto3 included", "≤ 3 CPU s", "", _remote_listing),
    Bar(
        "S4",
        "memory while 8 remote files of 100 MB JSON each are loaded",
        "≤ 400 MB",
        "",
        _remote_memory,
        "`serve` with two workers; sum over the process tree (PSS).",
    ),
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
