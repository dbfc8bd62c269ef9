"""Who is slow in jobs that differ from those which the rules were made with: other layouts, backends and noise."""

from __future__ import annotations

import pytest

from tests.holdout_jobs import Left, Other, Slower, summaries
from torch_tb_profiler.ranks.reduction import reduce_run

pytestmark = pytest.mark.slow

MIXED = (("tp", 2), ("dp", 4))
HYBRID = (("shard", 4), ("replicate", 2))
NODE = tuple(range(8))


def named(job: Other) -> dict[int | None, tuple[str, str | None]]:
    found = reduce_run(summaries(job)).overview
    assert list(found.slow_links) == []
    return {each.rank: (each.cause, each.operator) for each in found.stragglers if each.named}


@pytest.mark.parametrize(
    "job",
    [
        Other(MIXED, jitter=0.35, kernels=0.1, unequal=0.1),
        Other(HYBRID, kernels=0.2, unequal=0.05, warm=1),
        Other((("cp", 4), ("dp", 2)), kernels=0.1, unequal=0.1, gather_kv=False),
        Other((("ep", 4), ("dp", 2)), kernels=0.35),
        Other((("dp", 4), ("pp", 2)), micro=4, layers=2, jitter=0.2),
        # the host is the slower one
        Other((("dp", 8),), wide=True, step_ms=6.0, layers=6, jitter=0.35, unequal=0.1),
        Other((("dp", 8),), backend="gloo", jitter=0.35, kernels=0.05, unequal=0.1, steps=5, seed=301),
        Other(MIXED, backend="rccl", unequal=0.1, numbers=False),
        # pauses that come to each rank now and then
        Other(MIXED, wrong=tuple(Slower((at,), "pause", ns=20_000_000, since=at % 3, every=3) for at in range(8))),
        # a checkpoint
        Other(MIXED, wrong=(Slower((0,), "host", ns=200_000_000, since=2, until=3),)),
    ],
    ids=lambda job: f"{job.mesh[0][0]}-{job.backend}-{job.kernels}-{len(job.wrong)}",
)
def test_nobody_is_named_whatever_varies(job: Other) -> None:
    assert set(named(job)) <= ({0} if len(job.wrong) == 1 else set())


LATE = ("late_launches", "aten::item")


@pytest.mark.parametrize(
    ("job", "ranks", "why"),
    [
        # late on the host, while kernels take longer or shorter by chance
        (Other(MIXED, kernels=0.2, unequal=0.1, wrong=(Slower((5,), "host", ns=6_000_000),)), (5,), LATE),
        (Other(HYBRID, kernels=0.2, wrong=(Slower((3,), "host", ns=6_000_000),)), (3,), LATE),
        (Other(MIXED, kernels=0.2, unequal=0.1, wrong=(Slower((5,), "input", ns=8_000_000),)), (5,), ("input", None)),
        (
            Other(MIXED, kernels=0.2, unequal=0.1, wrong=(Slower((5,), "allocator", ns=8_000_000),)),
            (5,),
            ("allocator", None),
        ),
        (
            Other(MIXED, kernels=0.1, unequal=0.05, wrong=(Slower((5,), "pause", ns=10_000_000),)),
            (5,),
            ("late_launches", None),
        ),
        # as fast as its launches
        (
            Other((("dp", 8),), wide=True, step_ms=6.0, layers=6, wrong=(Slower((2,), "host", ns=1_500_000),)),
            (2,),
            LATE,
        ),
        # a node
        (
            Other((("tp", 2), ("dp", 8)), kernels=0.2, unequal=0.1, wrong=(Slower(NODE, "input", ns=9_000_000),)),
            NODE,
            ("input", None),
        ),
        (
            Other((("shard", 8), ("replicate", 2)), unequal=0.1, wrong=(Slower(NODE, "gpu", 1.15),)),
            NODE,
            ("slow_compute", None),
        ),
        # from the middle of the recording on
        (Other(MIXED, wrong=(Slower((6,), "gpu", 1.3, since=3),)), (6,), ("slow_compute", None)),
        # more samples, in kernels of more blocks
        (Other(MIXED, kernels=0.1, wrong=(Slower((6,), "batch", 1.3),)), (6,), ("more_work", "aten::mm")),
        # without devices; communication is beside the backward pass
        (Other((("dp", 8),), backend="gloo", wrong=(Slower((6,), "host", ns=12_000_000),)), (6,), LATE),
    ],
    ids=lambda value: f"{value.mesh[0][0]}-{value.backend}" if isinstance(value, Other) else "",
)
def test_a_planted_fault_is_named_and_nothing_else(
    job: Other, ranks: tuple[int, ...], why: tuple[str, str | None]
) -> None:
    assert named(job) == dict.fromkeys(ranks, why)


def test_a_collective_that_one_rank_lacks_is_told() -> None:
    found = reduce_run(summaries(Other(MIXED, wrong=(Left(3, 2, 4),)))).overview
    assert {(each.step, tuple(each.ranks)) for each in found.missing} == {("2", (3,))}


def test_hybrid_sharding_has_shards_and_replicas() -> None:
    job = Other((("tp", 2), ("shard", 4), ("replicate", 2)), steps=3, layers=1)
    found = reduce_run(summaries(job)).overview.layout
    dimensions = [(each.role, each.size, each.groups, each.stride) for each in found.dimensions]
    assert dimensions == [("tp", 2, 8, 1), ("dp", 4, 4, 2), ("dp", 2, 8, 8)]
    assert found.confidence == "high"
