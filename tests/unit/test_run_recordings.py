"""Traces of one folder that are of one recording, and those that are not."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from tests.rank_sims import Sim, simulated
from torch_tb_profiler.ranks.reduction import reduce_run
from torch_tb_profiler.ranks.summary import RankSummary

EPOCH = 1_761_646_256_000_000_000
HOUR = 3_600_000_000_000


def recorded_at(origin: int, ranks: Sequence[RankSummary], name: str) -> list[RankSummary]:
    """Ranks with clocks of their own, a second from each other."""
    heads = [
        msgspec.structs.replace(each.head, worker=f"{name}{at}", origin_ns=origin + (at % 2) * 10**9)
        for at, each in enumerate(ranks)
    ]
    return [RankSummary(head, each.tables) for head, each in zip(heads, ranks, strict=True)]


@pytest.mark.parametrize(("first", "second", "kept"), [(5, 3, "one"), (3, 5, "two"), (4, 4, "two")])
def test_two_recordings_of_one_size_are_not_joined(first: int, second: int, kept: str) -> None:
    """Of ranks that do not overlap, with steps of the same names: those of more ranks count, else the later ones."""
    ranks = simulated(Sim(1, 8))
    both = [*recorded_at(EPOCH, ranks[:first], "one"), *recorded_at(EPOCH + HOUR, ranks[first:], "two")]
    found = reduce_run(both).overview
    assert {name[:3] for name in found.ranks.worker} == {kept}
    assert found.tiles.present == max(first, second)
    assert found.tiles.lost_ns is None
    (note,) = (note for note in found.notes if note.kind == "different_windows")
    assert note.count == min(first, second)


def test_clocks_that_differ_by_minutes_part_no_recording() -> None:
    ranks = simulated(Sim(1, 8))
    both = [*recorded_at(EPOCH, ranks[:4], "one"), *recorded_at(EPOCH + 300 * 10**9, ranks[4:], "two")]
    assert reduce_run(both).overview.tiles.present == 8


def test_times_since_the_start_of_a_host_part_no_recording() -> None:
    ranks = simulated(Sim(1, 8))
    both = [*recorded_at(HOUR, ranks[:4], "one"), *recorded_at(30 * HOUR, ranks[4:], "two")]
    assert reduce_run(both).overview.tiles.present == 8


def test_what_is_lost_is_unknown_where_ranks_are_missing_and_nobody_is_named() -> None:
    ranks = simulated(Sim(1, 8))
    assert reduce_run(ranks).overview.tiles.lost_ns == 0
    assert reduce_run(ranks[:4]).overview.tiles.lost_ns is None


def test_absent_ranks_are_counted_whatever_number_of_ranks_a_file_states() -> None:
    ranks = [RankSummary(msgspec.structs.replace(each.head, world=2**62), each.tables) for each in simulated(Sim(1, 2))]
    (note,) = (note for note in reduce_run(ranks).overview.notes if note.kind == "absent_ranks")
    assert note.count == 2**62 - 2
    assert note.values["names"] == "2, 3, 4, 5"
    assert note.values["more"] == 2**62 - 6
    assert f"missing: 2, 3, 4, 5 and {2**62 - 6} more." in note.text


@pytest.mark.parametrize("seconds", [300, 3600])
def test_ranks_of_different_windows_in_time_are_told(seconds: int) -> None:
    ranks = simulated(Sim(1, 8))
    later = tuple(f"{int(name) + 100}" for name in ranks[3].head.steps)
    origin = ranks[3].head.origin_ns + seconds * 10**9
    ranks[3] = RankSummary(msgspec.structs.replace(ranks[3].head, steps=later, origin_ns=origin), ranks[3].tables)
    found = reduce_run(ranks).overview
    (note,) = (note for note in found.notes if note.kind == "different_windows")
    assert note.text.endswith(
        "not compared with other ranks: rank3." if seconds == 300 else "are left out: rank3."
    )  # the others have steps in common: nothing is unknown of them
    assert [each for each in found.stragglers if each.named] == []


def test_traces_that_share_no_step_tell_nothing_of_each_other() -> None:
    ranks = simulated(Sim(1, 2))
    later = tuple(f"{int(name) + 100}" for name in ranks[1].head.steps)
    origin = ranks[1].head.origin_ns + 300 * 10**9
    ranks[1] = RankSummary(msgspec.structs.replace(ranks[1].head, steps=later, origin_ns=origin), ranks[1].tables)
    (note,) = (note for note in reduce_run(ranks).overview.notes if note.kind == "different_windows")
    assert "waiting and lateness are unknown" in note.text


def test_a_file_that_is_cut_off_is_told_and_counts() -> None:
    """With the steps that it has: those of its own are compared with none."""
    ranks = simulated(Sim(1, 8))
    head = msgspec.structs.replace(ranks[2].head, damage=("truncated",))
    ranks[2] = RankSummary(head, ranks[2].tables)
    found = reduce_run(ranks).overview
    (note,) = (note for note in found.notes if note.kind == "damaged_ranks")
    assert note.text == "Files are cut off or damaged, and events of them are missing: rank2 (truncated)."
    assert found.tiles.present == 8


def test_a_rank_with_steps_of_its_own_is_told() -> None:
    ranks = simulated(Sim(1, 8))
    head = msgspec.structs.replace(ranks[3].head, steps=("110", "111", "112", "113"))
    ranks[3] = RankSummary(head, ranks[3].tables)
    (note,) = (note for note in reduce_run(ranks).overview.notes if note.kind == "unequal_steps")
    assert note.values == {"names": "rank3", "more": 0, "fewest": 4, "most": 4, "common": 0, "alike": True}
    assert note.severity == "warning"
