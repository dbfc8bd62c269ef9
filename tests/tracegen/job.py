"""What a generated job of many ranks is: its layout, its sizes, its clocks, and the faults that are planted in it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Late:
    """In every step an operator of one rank's host takes `ns` longer, while its device has nothing to do."""

    rank: int
    ns: int = 7_000_000
    operator: str = "aten::nonzero"


@dataclass(frozen=True)
class SlowGpu:
    """Every compute kernel of one rank takes `factor` times as long."""

    rank: int
    factor: float = 1.07


@dataclass(frozen=True)
class SlowLink:
    """What is moved by a group with both ranks, or between them, takes `factor` times as long."""

    ranks: tuple[int, int]
    factor: float = 3.0


@dataclass(frozen=True)
class MoreTokens:
    """The experts of one rank are sent `factor` times as many tokens; needs `ep` > 1."""

    rank: int
    factor: float = 2.0


@dataclass(frozen=True)
class Missing:
    """The trace of one rank lacks its `nth` operation of a step (from 0): the call and its kernel."""

    rank: int
    step: int
    nth: int = 3


@dataclass(frozen=True)
class SlowInput:
    """On one node every rank that loads data waits `ns` longer for it in each step."""

    node: int
    ns: int = 20_000_000


@dataclass(frozen=True)
class FewerSteps:
    """The trace of one rank begins `steps` steps later."""

    rank: int
    steps: int = 1


Fault = Late | SlowGpu | SlowLink | MoreTokens | Missing | SlowInput | FewerSteps


@dataclass(frozen=True)
class Group:
    """A process group: its name, its description as Megatron writes it, and its ranks in the whole job."""

    name: str
    description: str
    ranks: tuple[int, ...]


@dataclass(frozen=True)
class Job:
    """A transformer on tp × dp × pp ranks. The same job gives the same bytes.

    tp, dp, pp, ep  ranks of a tensor, data and pipeline parallel group; `ep` of the `dp` ranks share the experts
    layers          of one stage
    micro           micro batches of a step, in the order 1F1B
    fsdp            parameters are gathered before a layer and gradients scattered after it, instead of all-reduced
    prefetch        with `fsdp`: the next layer's parameters are gathered while a layer runs
    per_node        ranks of a node, which have one clock
    step_ms         how long the compute kernels of a step last, about
    gpu_sigma, kernel_sigma, load_sigma, hiccup
                    how far devices, kernels and the tokens of experts are from the mean, and the chance that a kernel
                    takes 1 ms longer
    offset_s, drift_ppm  largest error of a node's clock, to either side
    numbers         what names a collective: "seq", "ids" (Seq and Comms Id) or "" as before 2026
    """

    tp: int = 1
    dp: int = 8
    pp: int = 1
    ep: int = 1
    steps: int = 4
    first_step: int = 10
    layers: int = 4
    micro: int = 1
    fsdp: bool = False
    prefetch: bool = True
    per_node: int = 8
    step_ms: float = 40.0
    seed: int = 0
    gpu_sigma: float = 0.006
    kernel_sigma: float = 0.02
    load_sigma: float = 0.15
    hiccup: float = 0.001
    offset_s: float = 3.0
    drift_ppm: float = 20.0
    numbers: str = "seq"
    faults: tuple[Fault, ...] = ()

    @property
    def ranks(self) -> int:
        return self.tp * self.dp * self.pp

    def place(self, rank: int) -> tuple[int, int, int]:
        """Its place in its tensor, data and pipeline parallel group."""
        return rank % self.tp, rank // self.tp % self.dp, rank // (self.tp * self.dp)

    def rank(self, tp: int, dp: int, pp: int) -> int:
        return tp + self.tp * (dp + self.dp * pp)

    def node(self, rank: int) -> int:
        return rank // self.per_node

    def groups_of(self, rank: int) -> dict[str, Group]:
        """The groups with the rank by what they are for: world, tp, dp, pp, ep; those of one rank are left out."""
        tp, dp, pp = self.place(rank)
        first = dp - dp % self.ep
        found = {
            "world": (0, "default_pg", range(self.ranks)),
            "tp": (rank // self.tp, "TENSOR_MODEL_PARALLEL_GROUP", [self.rank(t, dp, pp) for t in range(self.tp)]),
            "dp": (tp + self.tp * pp, "DATA_PARALLEL_GROUP", [self.rank(tp, d, pp) for d in range(self.dp)]),
            "pp": (tp + self.tp * dp, "PIPELINE_MODEL_PARALLEL_GROUP", [self.rank(tp, dp, p) for p in range(self.pp)]),
            "ep": (
                tp + self.tp * (first // self.ep + self.dp // self.ep * pp),
                "EXPERT_MODEL_PARALLEL_GROUP",
                [self.rank(tp, d, pp) for d in range(first, first + self.ep)],
            ),
        }
        # torch numbers groups in the order in which they are made; every rank makes all of them
        counts = {
            "world": 1,
            "tp": self.dp * self.pp,
            "dp": self.tp * self.pp,
            "pp": self.tp * self.dp,
            "ep": self.tp * self.pp * (self.dp // self.ep),
        }
        groups, made = {}, 0
        for use, (number, description, ranks) in found.items():
            if len(ranks) > 1:
                groups[use] = Group(str(made + number), description, tuple(ranks))
                made += counts[use]
        return groups

    def order(self, stage: int) -> list[tuple[str, int]]:
        """("forward" or "backward", micro batch) of a stage in the order 1F1B."""
        warm = min(self.pp - 1 - stage, self.micro)
        order = [("forward", at) for at in range(warm)]
        for at in range(self.micro - warm):
            order += [("forward", warm + at), ("backward", at)]
        return order + [("backward", at) for at in range(self.micro - warm, self.micro)]
