"""What the ranks of a run say together comes back from its file as it was."""

from __future__ import annotations

import msgspec
import numpy as np

from tests.events import model_of
from tests.rank_programs import Ranks, events_of
from torch_tb_profiler.ranks.reduction import RunResult, decode_result, encode_result, reduce_run
from torch_tb_profiler.ranks.summary import RankSummary, summarize


def summaries(ranks: int) -> list[RankSummary]:
    found = []
    for rank, events in enumerate(events_of(Ranks(ranks=ranks))):
        header = {"distributedInfo": {"backend": "nccl", "rank": rank, "world_size": ranks}, "host_name": "node"}
        found.append(summarize(model_of(events, **header), f"rank{rank}"))
    return found


def answers(result: RunResult) -> bytes:
    return msgspec.json.encode((result.overview, result.collectives))


def test_a_result_comes_back() -> None:
    for count in (1, 4):
        result = reduce_run(summaries(count))
        back = decode_result(encode_result(result))
        assert back is not None
        assert answers(back) == answers(result)
        assert back.heat.keys() == result.heat.keys()
        for metric, values in result.heat.items():
            assert np.array_equal(back.heat[metric], values)


def test_what_is_damaged_is_no_result() -> None:
    content = encode_result(reduce_run(summaries(2)))
    for at in range(0, len(content), max(1, len(content) // 50)):
        damaged = bytearray(content)
        damaged[at] ^= 0x41
        assert decode_result(bytes(damaged)) is None
    assert decode_result(b"") is None
