"""The timeline and tables: T1 to T8, U1."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bars.bar import MB, Bar, Check, Measured, at


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


BARS = (
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
)
