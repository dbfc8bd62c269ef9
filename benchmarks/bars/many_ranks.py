"""Jobs of many ranks: R1 to R6."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bars.bar import MB, Bar, Check, Measured, at, ratio


def _job(m: Measured) -> Iterator[Check]:
    one, files = at(m, "ranks/one"), at(m, "ranks/files")
    yield Check(
        "CPU", ratio(at(m, "ranks/local/cpu"), None if one is None else one * files), 1.15, None, "× one rank's"
    )
    parent = at(m, "ranks/local/parent")
    yield Check("parent", None if parent is None else parent / MB, 250, None, "MB")


def _again(m: Measured) -> Iterator[Check]:
    yield Check("CPU", at(m, "ranks/second/cpu"), 2, None, "s")


def _on_cluster(m: Measured) -> Iterator[Check]:
    yield Check("CPU", ratio(at(m, "ranks/dask/cpu"), at(m, "ranks/local/cpu")), 1.2, None, "× local")
    texts = [at(m, f"ranks/{name}/json") for name in ("local", "second", "dask")]
    yield Check("other JSON", None if None in texts else float(len(set(texts)) - 1), 0, None, "")
    kills = at(m, "ranks/kills")
    label = "other JSON after 20 kills"
    yield Check(label, None if kills is None else float(not kills["same"]), 0, None, "")


def _first_page(m: Measured) -> Iterator[Check]:
    yield Check("1,024 × 10k", at(m, "ranks/many/first"), 5, None, "s")


def _many(m: Measured) -> Iterator[Check]:
    one, files = at(m, "ranks/many/one"), at(m, "ranks/many/files")
    alone = None if one is None else one * files
    yield Check("CPU", ratio(at(m, "ranks/many/all"), alone), 1.1, None, "× the sum of single ranks")


def _reduction(m: Measured) -> Iterator[Check]:
    yield Check("CPU", at(m, "ranks/reduction/cpu_s"), 2, None, "s")
    yield Check("most memory", at(m, "ranks/reduction/peak_mb"), 200, None, "MB")


BARS = (
    Bar(
        "R1",
        "64 ranks of 100k events read by `ingest` with two processes",
        "≤ 1.15 × 64 × one rank, parent ≤ 250 MB",
        "",
        _job,
        "One rank is what a process that reads spends on one while a second process does the same, the median of"
        " eight each. Start and imports of the command and"
        " of its processes, and the reduction, count for `ingest`.",
    ),
    Bar("R2", "the same again, everything in the cache", "≤ 2 CPU s", "", _again),
    Bar(
        "R3",
        "the same on a Dask cluster on loopback, one scheduler and two workers up",
        "≤ 1.2 × the CPU of R1, and the same JSON, after 20 kills, too",
        "",
        _on_cluster,
    ),
    Bar("R4", "1,024 ranks of 10k events: `serve` until the page of the run answers", "≤ 5 s wall", "", _first_page),
    Bar(
        "R5",
        "the summaries of 1,024 ranks with 5,000 collectives each, reduced",
        "≤ 2 CPU s, ≤ 200 MB",
        "",
        _reduction,
        "The whole result of a run but for its clocks, from packed files; the median of three processes, each with all"
        " that it takes. The ranks are simulated.",
    ),
    Bar(
        "R6",
        "1,024 ranks of 10k events read by `ingest` with two processes",
        "≤ 1.1 × the sum of single ranks",
        "",
        _many,
        "A single rank is the same work in a process that is kept, while a second one does the same: the key of its"
        " content, reading, its summary and writing to a cache; the median of 32 before and 32 after. Start and imports"
        " of the command and of its processes, what these say to each other, the reduction and the clocks count for"
        " `ingest` alone.",
    ),
)
