"""Which operations are the same one: simulated ranks of which it is known, and cases that were told wrongly."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.collective_runs import Program, simulate
from tests.events import Event, annotation, kernel, model_of, op
from tests.properties import examples
from torch_tb_profiler.ranks import DistributedRanks, Rank, distributed, rank_of
from torch_tb_profiler.ranks.matching.match import match

pytestmark = pytest.mark.slow


class Score(NamedTuple):
    """Operations that were matched, of these with others than the most of their match, and that could be matched."""

    matched: int
    wrong: int
    possible: int

    @property
    def recall(self) -> float:
        return (self.matched - self.wrong) / self.possible


def score(program: Program) -> Score:
    run = simulate(program)
    found: dict[int, list[int]] = {}
    truth = run.numbers()
    for of_rank, numbers in zip(truth, match([rank.called for rank in run.ranks]).match, strict=True):
        for call, number in zip(of_rank, numbers.tolist(), strict=True):
            if number >= 0:
                found.setdefault(number, []).append(call)
    wrong = sum(len(calls) - Counter(calls).most_common(1)[0][1] for calls in found.values())
    there = Counter(call for of_rank in truth for call in of_rank)
    return Score(sum(map(len, found.values())), wrong, sum(n for n in there.values() if n > 1))


# simulated programs ------------------------------------------------------------------------------------------

#: by case: what the traces are like, and the part of the operations of 12 seeds that has to be matched
CASES: dict[str, tuple[dict[str, Any], float]] = {
    "all there": ({}, 1.0),
    "threads": ({"threads": 0.3}, 0.99),
    "late ranks": ({"late": 1}, 1.0),
    "lost": ({"lost": 0.05}, 0.6),
    "lost, no equal neighbours": ({"lost": 0.05, "repeats": 1}, 0.85),
    "lost, two ranks": ({"lost": 0.05, "ranks": 2}, 0.55),
    "lost, eight ranks": ({"lost": 0.05, "ranks": 8}, 0.65),
    "lost, threads": ({"lost": 0.05, "threads": 0.3}, 0.55),
    "added to one rank": ({"added": 5}, 0.8),
    "lost, late, added": ({"lost": 0.05, "late": 1, "added": 5}, 0.45),
    "numbered": ({"lost": 0.05, "late": 1, "threads": 0.3, "numbered": True}, 1.0),
}


@pytest.mark.parametrize("case", CASES)
def test_no_match_is_wrong(case: str) -> None:
    more, least = CASES[case]
    scores = [score(Program(seed, **more)) for seed in range(12)]
    assert sum(s.wrong for s in scores) == 0
    assert sum(s.matched for s in scores) / sum(s.possible for s in scores) >= least


@pytest.mark.slow
@examples(30, derandomize=True)
@given(
    st.builds(
        Program,
        seed=st.integers(0, 2**32),
        ranks=st.integers(2, 5),
        steps=st.integers(3, 5),
        calls=st.integers(8, 12),
        kinds=st.integers(2, 6),
        repeats=st.integers(1, 4),
        lost=st.sampled_from([0.0, 0.05]),
        late=st.integers(0, 1),
        added=st.integers(0, 3),
        threads=st.sampled_from([0.0, 0.3]),
        numbered=st.booleans(),
    )
)
def test_random_programs(program: Program) -> None:
    """Long enough that losses are seen: of one operation each, nothing says whether it is the same one."""
    assert score(program).wrong == 0


# cases -------------------------------------------------------------------------------------------------------


def call(
    start: float, duration: float, name: str = "allreduce", dtype: str = "Float", n: int = 1000, **more: Any
) -> Event:
    given = {
        "Collective name": name,
        "dtype": dtype,
        "In msg nelems": n,
        "Out msg nelems": n,
        "Group size": 2,
        "Process Group Name": "0",
        "Process Group Description": "default_pg",
        "Process Group Ranks": "[0, 1]",
        **more,
    }
    return kernel(start, duration, 0, "ncclDevKernel_Generic", **given)


def ranks_of(*traces: list[Event]) -> list[Rank]:
    return [rank_of(model_of(events), f"rank{i}") for i, events in enumerate(traces)]


def together(*traces: list[Event]) -> DistributedRanks:
    return distributed(ranks_of(*traces))


def partners(found: DistributedRanks) -> list[tuple[int | None, ...]]:
    """Of each operation of the first rank the place of the same one on the others."""
    first, *others = (numbers.tolist() for numbers in found.matching.match)
    return [tuple(o.index(n) if n >= 0 and n in o else None for o in others) for n in first]


def test_a_small_exchange_of_counts_is_not_the_large_one_of_data() -> None:
    """Two threads: the counts (int64, 3 KB) and the data (uint8, 340 MB) are exchanged in any order."""

    def counts(start: float, duration: float) -> Event:
        return call(start, duration, "all_to_all", "Long", 384)

    def data(start: float, duration: float, n: int) -> Event:
        return call(start, duration, "all_to_all", "Byte", n)

    found = together(
        [counts(0, 46_600), data(10, 54_800, 340_000_000)],
        [data(0, 46_600, 338_000_000), counts(5, 40)],
    )
    assert partners(found) == [(1,), (0,)]
    assert [t.tolist() for t in found.matching.transfer] == [[40_000, 46_600_000], [46_600_000, 40_000]]
    assert found.waits[1].wait_ns.tolist() == [0, 0]


def test_comms_id_matches_whatever_else_says() -> None:
    """The ids of a long run are the same everywhere; Seq began anew on one rank, and groups have other names."""
    one = [call(10 * i, 5 + i, Seq=i, **{"Comms Id": 2**63 + i}) for i in range(4)]
    other = [
        call(
            10 * i,
            5,
            Seq=i,
            **{"Comms Id": 2**63 + i + 2, "Process Group Name": "7", "Process Group Ranks": "[0, 1, 2]"},
        )
        for i in range(4)
    ]
    assert partners(together(one, other)) == [(None,), (None,), (0,), (1,)]


def test_a_comms_id_of_two_different_operations_matches_neither() -> None:
    found = together(
        [call(0, 10, **{"Comms Id": "a"}), call(20, 10, **{"Comms Id": "b"})],
        [call(0, 10, "broadcast", **{"Comms Id": "a"}), call(20, 10, **{"Comms Id": "b"})],
    )
    assert partners(found) == [(None,), (1,)]
    assert "unmatched_operations" in {note.kind for note in found.notes}


def test_a_seq_that_began_anew_is_not_believed() -> None:
    """The group was made again on one rank: the numbers are off by two, so one Seq stands for two kinds."""

    def trace(first: int) -> list[Event]:
        kinds = ["allreduce", "broadcast", "allgather", "allreduce", "reduce"]
        more = [{"Out msg nelems": 2000} if kind == "allgather" else {} for kind in kinds]
        return [call(100 * i, 10 + i, kind, Seq=first + i, **more[i]) for i, kind in enumerate(kinds)]

    assert partners(together(trace(1), trace(3))) == [(0,), (1,), (2,), (3,), (4,)]


def test_a_seq_that_comes_in_other_steps_is_not_believed() -> None:
    def trace(shift: int) -> list[Event]:
        steps = [annotation(f"ProfilerStep#{step}", 1000 * step, 900) for step in range(1, 5)]
        host = [op("aten::add", 1000 * step + 10, 5) for step in range(1, 5)]
        return [*steps, *host, *(call(1000 * step + 100, 10, Seq=step + shift) for step in range(1, 5))]

    assert partners(together(trace(0), trace(1))) == [(0,), (1,), (2,), (3,)]


def test_operations_of_one_seq_are_told_apart_by_order() -> None:
    """A coalesced call: one number for several operations."""
    one = [call(10 * i, 5, Seq=1, n=n) for i, n in enumerate([10, 20, 20])]
    other = [call(10 * i, 5, Seq=1, n=n) for i, n in enumerate([20, 10, 20])]
    assert partners(together(one, other)) == [(1,), (0,), (2,)]


def test_a_window_that_began_later_is_not_matched_from_its_start() -> None:
    """Equally many operations, but of other steps: the n-th is not the n-th."""

    def trace(first: int) -> list[Event]:
        found: list[Event] = []
        for step in range(first, first + 3):
            at = 1000 * step
            found += [annotation(f"ProfilerStep#{step}", at, 900), op("aten::add", at + 5, 5)]
            found += [call(at + 100 * i, 10, n=1000) for i in range(1, 4)]
        return found

    nothing: list[tuple[int | None, ...]] = [(None,)] * 3
    assert partners(together(trace(1), trace(2))) == [*nothing, *((i,) for i in range(6))]


def test_groups_that_look_like_one_are_not_mixed() -> None:
    """Names and numbers of two groups of two are equal, and torch shortened their lists of ranks."""
    more = {"Process Group Ranks": "[0, 1, ...]", "Process Group Description": "tp"}
    found = together(*([call(0, 10 + rank, Seq=1, **more)] for rank in range(4)))
    assert partners(found) == [(None, None, None)]
    assert found.waits[0].wait_ns.tolist() == [-1, 0]


def test_uneven_exchanges_are_matched() -> None:
    """The sizes of an all-to-all may differ between ranks, those of an all-reduce may not."""
    uneven = together([call(0, 10, "all_to_all", n=100)], [call(0, 10, "all_to_all", n=300)])
    assert partners(uneven) == [(0,)]
    different = together([call(0, 10, n=100)], [call(0, 10, n=300)])
    assert partners(different) == [(None,)]
    (note,) = (n for n in different.notes if n.kind == "unmatched_operations")
    assert note.values == {"unmatched": 2, "all": 2, "operations": "all_reduce: 2"}


def test_sends_have_no_known_waiting() -> None:
    found = together([call(0, 10, "send"), call(20, 10)], [call(0, 90, "send"), call(100, 10)])
    assert found.waits[0].unmatched_ns.tolist() == [10_000, 0]
    assert found.waits[0].transfer_ns.tolist() == [10_000, 0]
