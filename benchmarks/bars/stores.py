"""Remote log directories: S1 to S4."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bars.bar import MB, Bar, Check, Measured, at, ratio


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


BARS = (
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
)
