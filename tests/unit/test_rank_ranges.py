"""The ranges of a program over its ranks."""

from __future__ import annotations

import numpy as np

from tests.events import US, Event, annotation, kernel, launch, model_of
from torch_tb_profiler.analysis.program.ranges import ranges_by_step
from torch_tb_profiler.ranks.ranges import range_of_ranks, ranges_of_ranks
from torch_tb_profiler.ranks.summary import RankSummary, decode_summary, encode_summary, summarize

STEP = 10_000


def rank(number: int, world: int = 8, augment: float = 100, steps: int = 4, more: tuple[str, ...] = ()) -> RankSummary:
    """Steps of 10 ms with a forward of 2 ms that holds `augment` and a kernel of 0.5 ms."""
    events: list[Event] = []
    for step in range(steps):
        start = step * STEP
        events += [
            annotation(f"ProfilerStep#{step}", start, STEP),
            annotation("forward", start + 10, 2000 + 0.1 * number),
            annotation("augment", start + 20, augment + 0.1 * number),
            launch(start + 1000, step + 1),
            kernel(start + 1500, 500, step + 1),
            *(annotation(name, start + 4000 + 20 * at, 10) for at, name in enumerate(more)),
        ]
    header = {"distributedInfo": {"rank": number, "world_size": world, "backend": "nccl"}}
    return summarize(model_of(events, **header), f"rank{number}")


def test_ranges_by_name_and_step() -> None:
    found = ranges_by_step(
        model_of(
            [
                annotation("ProfilerStep#0", 0, 1000),
                annotation("layer 1", 10, 300),
                annotation("layer 2", 20, 100),
                launch(30, 1),
                kernel(200, 50, 1),
                annotation("ProfilerStep#1", 1000, 1000),
                annotation("layer 3", 1010, 40),
                launch(1100, 2),
                kernel(1200, 50, 2),
            ]
        ),
        most=8,
    )
    assert found.names == ("layer …",)
    assert found.step.tolist() == [0, 1]
    assert found.calls.tolist() == [2, 1]
    # what is inside of a range of the same name counts once
    assert found.host.tolist() == [300 * US, 40 * US]
    assert found.device.tolist() == [50 * US, 0]


def test_ranges_without_steps_and_without_ranges() -> None:
    alone = ranges_by_step(model_of([annotation("a", 0, 10), annotation("b", 20, 30)]), most=1)
    assert (alone.names, alone.left, alone.step.tolist(), alone.host.tolist()) == (("b",), 1, [0], [30 * US])
    assert ranges_by_step(model_of([annotation("ProfilerStep#0", 0, 10)]), most=8).names == ()
    assert ranges_by_step(model_of([]), most=8).names == ()


def test_the_rank_that_is_far_is_named_with_the_time_by_which() -> None:
    ranks = [rank(number, augment=900 if number == 5 else 100) for number in range(8)]
    found = ranges_of_ranks(ranks)
    assert found.name == ("forward", "augment")
    assert found.ranks.tolist() == [8, 8]
    assert found.far_rank == (None, 5)
    assert found.far_time == (None, "host")
    assert found.most_worker == ("rank7", "rank5")
    far = found.far_ns[1]
    assert far is not None
    assert abs(far - 800 * US) < US
    assert found.device_ns.tolist() == [500 * US, 0]
    of = range_of_ranks(ranks, "augment")
    assert of.rank == tuple(range(8))
    assert (of.calls.tolist(), of.steps.tolist()) == ([4] * 8, [4] * 8)
    assert int(np.argmax(of.difference_ns)) == 5


def test_nobody_is_far_among_three_ranks_or_by_little() -> None:
    few = ranges_of_ranks([rank(number, 3, augment=900 if number == 1 else 100) for number in range(3)])
    assert few.far_rank == (None, None)
    assert few.host_most_ns[1] > 8 * few.host_least_ns[1]
    # 8 µs of a step of 10 ms
    little = ranges_of_ranks([rank(number, augment=18 if number == 5 else 10) for number in range(8)])
    assert little.far_rank == (None, None)


def test_what_one_rank_lacks_is_told_and_is_no_zero() -> None:
    ranks = [rank(number, more=("save_checkpoint",) if number == 0 else ()) for number in range(4)]
    found = ranges_of_ranks(ranks)
    at = found.name.index("save_checkpoint")
    assert (found.ranks[at], found.lacking[at], found.host_least_ns[at]) == (1, 3, 10 * US)
    assert range_of_ranks(ranks, "save_checkpoint").worker == ("rank0",)


def test_many_names_are_left_out_and_counted() -> None:
    words = tuple(f"range {chr(97 + at // 26)}{chr(97 + at % 26)}" for at in range(100))
    crowded = rank(0, 2, more=words)
    assert len(crowded.head.range_names) == 64
    assert crowded.head.ranges_left == 38
    found = ranges_of_ranks([crowded, rank(1, 2, more=words[:1])])
    assert found.left_out == 38
    # whether rank 0 lacks a name is not known: it left some out
    assert found.lacking.tolist() == [0 if name in ("forward", "augment", words[0]) else 1 for name in found.name]


def test_one_step_of_the_ranks() -> None:
    ranks = [rank(number, 4, steps=4 if number else 2) for number in range(4)]
    assert ranges_of_ranks(ranks, "3").ranks.tolist() == [3, 3]
    assert range_of_ranks(ranks, "forward", "3").rank == (1, 2, 3)
    assert len(ranges_of_ranks(ranks, "no step")) == 0


def test_device_time_of_ranks_without_devices_is_unknown() -> None:
    ranks = [summarize(model_of([annotation("a", 0, 10)]), f"rank{number}") for number in range(2)]
    assert ranges_of_ranks(ranks).device_ns.tolist() == [-1]
    assert range_of_ranks(ranks, "a").device_ns.tolist() == [-1, -1]


def test_ranges_are_kept_with_a_rank() -> None:
    before = rank(3)
    again = decode_summary(encode_summary(before))
    assert again.head == before.head
    for name, values in before.ranges.columns().items():
        assert getattr(again.ranges, name).tolist() == values.tolist()
    assert ranges_of_ranks([]).name == ()
