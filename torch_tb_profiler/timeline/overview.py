"""All ranks of a run at a glance, from what is kept of each."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.timeline.summary import Summary, edges

FULL = 255


class RankDensity(msgspec.Struct, frozen=True):
    """offset: add it to a time of the rank to have one of the overview; the others 0 … FULL in each bin."""

    offset: int
    device: list[int]
    host: list[int]
    communication: list[int]


class Overview(msgspec.Struct, frozen=True):
    """Times in ns. aligned: by the clocks of the files; else every rank begins at 0. ranks: as the summaries."""

    begin: int
    end: int
    aligned: bool
    ranks: tuple[RankDensity, ...]


def overview(summaries: Sequence[Summary], bins: int) -> Overview:
    """Of one summary or more."""
    aligned = _same_clock(summaries)
    earliest = min(summary.origin_ns for summary in summaries)
    offsets = [summary.origin_ns - earliest if aligned else -summary.begin_ns for summary in summaries]
    begin = min(offset + summary.begin_ns for offset, summary in zip(offsets, summaries, strict=True))
    end = max(offset + summary.end_ns for offset, summary in zip(offsets, summaries, strict=True))
    cuts = edges(begin, end, bins)
    return Overview(
        begin,
        end,
        aligned,
        tuple(
            RankDensity(
                offset,
                _density(summary, summary.device, cuts - offset),
                _density(summary, summary.host, cuts - offset),
                _density(summary, summary.communication, cuts - offset),
            )
            for offset, summary in zip(offsets, summaries, strict=True)
        ),
    )


def _same_clock(summaries: Sequence[Summary]) -> bool:
    """Whether all tell the time of the epoch, and there is a moment that all have recorded."""
    begins = [summary.origin_ns + summary.begin_ns for summary in summaries]
    ends = [summary.origin_ns + summary.end_ns for summary in summaries]
    return all(summary.of_epoch for summary in summaries) and max(begins) <= min(ends)


def _density(summary: Summary, covered: Sequence[int], cuts: Int64) -> list[int]:
    """Part of each bin, as far as it can be told from the bins that are kept."""
    if not covered:
        return [0] * (len(cuts) - 1)
    whole = np.concatenate([[0], np.cumsum(covered)])
    at = np.interp(cuts, edges(summary.begin_ns, summary.end_ns, len(covered)), whole)
    parts = np.diff(at) / np.maximum(np.diff(cuts), 1)
    shares: list[int] = np.clip(np.ceil(FULL * parts), 0, FULL).astype(int).tolist()
    return shares
