"""What the ranks of a run say together, as a file: so that a run that was reduced is not reduced again."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.arrays.json import enc_hook
from torch_tb_profiler.codec import convert
from torch_tb_profiler.ranks.collective_answers import CollectiveRow
from torch_tb_profiler.ranks.reduction import RunResult
from torch_tb_profiler.ranks.run_answers import RanksOverview
from torch_tb_profiler.ranks.words import Metric
from torch_tb_profiler.trace.column_file import ColumnFileError, NamedTables, decode_tables, encode_tables


class _Head(msgspec.Struct, frozen=True):
    """shape: of each heat map, (ranks, steps)."""

    overview: RanksOverview
    collectives: tuple[CollectiveRow, ...]
    shape: tuple[int, int]


def encode_result(result: RunResult) -> bytes:
    """A column file: the answers in its head, the heat maps as columns."""
    shape = next((values.shape for values in result.heat.values()), (0, 0))
    head = msgspec.to_builtins(_Head(result.overview, result.collectives, (shape[0], shape[1])), enc_hook=enc_hook)
    heat: dict[str, Any] = {metric: values.ravel().astype(np.int64) for metric, values in result.heat.items()}
    return encode_tables(NamedTables(head, [], {"heat": heat}))


def decode_result(content: bytes) -> RunResult | None:
    """What `encode_result` was given; None if it is damaged, or of other code."""
    try:
        found = decode_tables(content)
        head = convert(found.header, _Head)
        heat = {
            convert(metric, Metric): values.reshape(head.shape)
            for metric, values in found.tables.get("heat", {}).items()
        }
    except (ColumnFileError, ValueError):
        return None
    return RunResult(head.overview, head.collectives, heat)
