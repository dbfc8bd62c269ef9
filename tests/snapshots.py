"""Memory snapshots for tests, from a small caching allocator that keeps a log of what is true after every record.

The allocator follows the documented rules of c10's: sizes rounded to 512, a pool of small and one of large blocks, best
fit, blocks cut and joined, segments of 2 MiB, 20 MiB or more, everything that is free given back before it gives up.
"""

from __future__ import annotations

import pickle
import random
from dataclasses import dataclass, field
from typing import Any

MiB = 1 << 20
BIRTH = 1_790_000_000_000_000
"""µs since the epoch of the first record."""


@dataclass
class Block:
    address: int
    size: int
    requested: int = 0
    state: str = "inactive"
    frames: Any = None


@dataclass
class Segment:
    address: int
    size: int
    stream: int
    small: bool
    pool: tuple[int, int]
    blocks: list[Block]
    frames: Any


@dataclass
class Truth:
    """What is so after a record: bytes, and the free pieces as (address, size)."""

    requested: int
    allocated: int
    active: int
    reserved: int
    free: frozenset[tuple[int, int]]


@dataclass
class Allocator:
    """record: what the allocator did. log: what was true after each record."""

    capacity: int = 80 << 30
    expandable: bool = False
    segments: list[Segment] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)
    log: list[Truth] = field(default_factory=list)
    annotations: list[dict[str, Any]] = field(default_factory=list)
    live: dict[int, tuple[Segment, Block]] = field(default_factory=dict)
    time: int = BIRTH
    next: int = 0x7F00_0000_0000

    def malloc(
        self, size: int, frames: Any, stream: int = 0, pool: tuple[int, int] = (0, 0), meta: str = ""
    ) -> int | None:
        """The address of a block, None when memory is out."""
        need = max(512, -(-size // 512) * 512)
        small = need <= MiB
        found = self._fit(need, small, stream, pool) or self._grow(need, small, stream, pool, frames)
        if found is None:
            return None
        segment, block = found
        rest = block.size - need
        if rest >= 512 if small or self.expandable else rest > MiB:
            segment.blocks.insert(segment.blocks.index(block) + 1, Block(block.address + need, rest))
            block.size = need
        block.state, block.requested, block.frames = "active_allocated", size, frames
        self.live[block.address] = found
        self._record("alloc", block.address, size, stream, frames, pool, meta)
        return block.address

    def free(self, address: int, frames: Any, completed: bool = True) -> None:
        """Release a block; not completed, another stream still uses it."""
        segment, block = self.live[address]
        block.state = "active_pending_free"
        self._record("free_requested", address, block.requested, segment.stream, frames, segment.pool)
        if completed:
            self.complete(address, frames)

    def complete(self, address: int, frames: Any) -> None:
        segment, block = self.live.pop(address)
        block.state = "inactive"
        size = block.requested
        place = segment.blocks.index(block)
        for other in (place + 1, place - 1):
            if 0 <= other < len(segment.blocks) and segment.blocks[other].state == "inactive":
                first, second = sorted((segment.blocks[other], block), key=lambda b: b.address)
                first.size += second.size
                segment.blocks.remove(second)
                block, place = first, segment.blocks.index(first)
        self._record("free_completed", address, size, segment.stream, frames, segment.pool)

    def empty_cache(self, frames: Any) -> None:
        for segment in [s for s in self.segments if len(s.blocks) == 1 and s.blocks[0].state == "inactive"]:
            self.segments.remove(segment)
            action = "segment_unmap" if self.expandable else "segment_free"
            self._record(action, segment.address, segment.size, segment.stream, frames, segment.pool)

    def note(self, name: str) -> None:
        """An annotation around nothing."""
        for stage in ("START", "END"):
            self.time += 5
            self.annotations.append({"stage": stage, "name": name, "device": 0, "time_us": self.time})

    def _fit(self, need: int, small: bool, stream: int, pool: tuple[int, int]) -> tuple[Segment, Block] | None:
        fitting = [
            (block.size, block.address, segment, block)
            for segment in self.segments
            if (segment.small, segment.stream, segment.pool) == (small, stream, pool)
            for block in segment.blocks
            if block.state == "inactive" and block.size >= need
        ]
        return min(fitting, key=lambda each: each[:2])[2:] if fitting else None

    def _grow(
        self, need: int, small: bool, stream: int, pool: tuple[int, int], frames: Any
    ) -> tuple[Segment, Block] | None:
        size = 2 * MiB if small else 20 * MiB if need < 10 * MiB else -(-need // (2 * MiB)) * 2 * MiB
        if self.reserved + size > self.capacity:
            self.empty_cache(frames)
        if self.reserved + size > self.capacity:
            self._record("oom", self.capacity - self.reserved, need, stream, frames, pool)
            return None
        block = Block(self.next, size)
        segment = Segment(self.next, size, stream, small, pool, [block], frames)
        self.next += size + 2 * MiB
        self.segments.append(segment)
        self._record("segment_map" if self.expandable else "segment_alloc", segment.address, size, stream, frames, pool)
        return segment, block

    @property
    def reserved(self) -> int:
        return sum(segment.size for segment in self.segments)

    def _record(
        self, action: str, address: int, size: int, stream: int, frames: Any, pool: tuple[int, int], meta: str = ""
    ) -> None:
        self.time += 7
        place = "device_free" if action == "oom" else "addr"
        self.records.append(
            {
                "action": action,
                place: address,
                "size": size,
                "stream": stream,
                "time_us": self.time,
                "compile_context": "N/A",
                "user_metadata": meta,
                "pool_id": pool,
                "frames": frames,
            }
        )
        self.log.append(self.truth())

    def truth(self) -> Truth:
        blocks = [block for segment in self.segments for block in segment.blocks]
        used = [block for block in blocks if block.state == "active_allocated"]
        return Truth(
            sum(block.requested for block in used),
            sum(block.size for block in used),
            sum(block.size for block in blocks if block.state != "inactive"),
            self.reserved,
            frozenset((block.address, block.size) for block in blocks if block.state == "inactive"),
        )

    def snapshot(self, last: int | None = None, skip: tuple[str, ...] = ()) -> dict[str, Any]:
        """As torch dumps it: with the last records only, without those of some actions."""
        records = [record for record in self.records if record["action"] not in skip]
        return {
            "segments": [self._dump(segment) for segment in sorted(self.segments, key=lambda s: s.address)],
            "device_traces": [records if last is None else records[len(records) - last :]],
            "allocator_settings": {"max_split_size": -1, "expandable_segments": self.expandable},
            "external_annotations": self.annotations,
        }

    def _dump(self, segment: Segment) -> dict[str, Any]:
        used = [b for b in segment.blocks if b.state == "active_allocated"]
        active = [b for b in segment.blocks if b.state != "inactive"]
        return {
            "device": 0,
            "address": segment.address,
            "total_size": segment.size,
            "allocated_size": sum(b.size for b in used),
            "active_size": sum(b.size for b in active),
            "requested_size": sum(b.requested for b in active),
            "stream": segment.stream,
            "segment_type": "small" if segment.small else "large",
            "segment_pool_id": segment.pool,
            "is_expandable": self.expandable,
            "frames": segment.frames,
            "blocks": [
                {
                    "address": b.address,
                    "size": b.size,
                    "requested_size": b.requested,
                    "state": b.state,
                    "frames": b.frames if b.state != "inactive" else [],
                }
                for b in segment.blocks
            ],
        }


def stack(*functions: str, file: str = "/app/train.py") -> list[dict[str, Any]]:
    """Frames from the innermost outwards, in torch and in a file of the user's."""
    own = [{"name": name, "filename": file, "line": 10 + len(name)} for name in functions]
    return [{"name": "at::empty()", "filename": "??", "line": 0}, *own]


def random_run(seed: int, steps: int = 3, expandable: bool = False, streams: int = 1, pools: int = 1) -> Allocator:
    """A program that allocates and releases at random, with annotations, pending releases and `empty_cache`."""
    rng = random.Random(seed)
    allocator = Allocator(expandable=expandable)
    stacks = [stack(f"layer{i}", "forward", "main") for i in range(6)]
    held: list[int] = []
    pending: list[int] = []
    for step in range(steps):
        for _ in range(rng.randint(5, 40)):
            size = rng.choice((rng.randint(1, 4096), rng.randint(1, 3 * MiB), rng.randint(MiB, 40 * MiB)))
            where = rng.choice(stacks)
            address = allocator.malloc(size, where, rng.randrange(streams), (0, rng.randrange(pools)))
            assert address is not None
            held.append(address)
            while held and rng.random() < 0.45:
                gone = held.pop(rng.randrange(len(held)))
                completed = rng.random() < 0.8
                allocator.free(gone, rng.choice(stacks), completed)
                if not completed:
                    pending.append(gone)
            while pending and rng.random() < 0.3:
                allocator.complete(pending.pop(), stacks[0])
        if rng.random() < 0.4:
            allocator.empty_cache(stacks[0])
        allocator.note(f"ProfilerStep#{step}")
    return allocator


def fragmented(leak: int = 4096, steps: int = 4) -> Allocator:
    """Steps that leave something behind, then pieces of 5 MiB between blocks that stay, then 256 MiB are asked for."""
    allocator = Allocator(capacity=1 << 30)
    for step in range(steps):
        address = allocator.malloc(3 * MiB, stack("act", "forward"))
        allocator.malloc(leak, stack("log", "main"))
        assert address is not None
        allocator.free(address, stack("backward"))
        if step == 0:
            allocator.malloc(2 * MiB, stack("exp_avg", "step", file="/site-packages/torch/optim/adam.py"))
        allocator.note("Optimizer.step#AdamW.step")
    pairs = [(allocator.malloc(5 * MiB, stack("kept")), allocator.malloc(5 * MiB, stack("hole"))) for _ in range(80)]
    assert allocator.malloc(960 * MiB - allocator.reserved, stack("filler")) is not None
    for _, hole in pairs:
        assert hole is not None
        allocator.free(hole, stack("main"))
    assert allocator.malloc(256 * MiB, stack("wanted", "forward")) is None
    return allocator


def dumped(snapshot: Any, protocol: int = 4) -> bytes:
    return pickle.dumps(snapshot, protocol)


def out_of_memory() -> Allocator:
    """The sample `out_of_memory`: a model of four layers is trained, a log keeps something of every step, then an
    evaluation keeps features between the pieces that it needs for a while, and asks for more than any piece has."""
    allocator = Allocator(capacity=1 << 30)
    known: dict[tuple[str, ...], Any] = {}

    def at(*functions: str) -> Any:
        frames = [{"name": name, "filename": _PLACES[name][0], "line": _PLACES[name][1]} for name in functions]
        inner = {"name": "at::detail::empty_cuda", "filename": "??", "line": 0}
        main = {"name": "main", "filename": "/app/train.py", "line": 105}
        return known.setdefault(functions, [inner, *frames, main])

    def hold(size: int, *functions: str) -> int:
        address = allocator.malloc(size, at(*functions))
        assert address is not None
        return address

    for _ in range(4):
        hold(6 * MiB + 4, "build")
    for step in range(5):
        activations = []
        for _ in range(4):
            activations.append(hold(12 * MiB, "Linear.forward", "train_step"))
            inside = ("attention", "Linear.forward", "train_step")
            allocator.free(hold(3 * MiB, *inside), at(*inside))
        hold(1 << 16, "log_batch", "train_step")
        gradients = []
        for _ in range(4):
            gradients.append(hold(6 * MiB + 4, "backward", "train_step"))
            allocator.free(activations.pop(), at("backward", "train_step"))
        for _ in range(8 if step == 0 else 0):
            hold(6 * MiB + 4, "init_state", "train_step")
        allocator.note("Optimizer.step#AdamW.step")
        for gradient in gradients:
            allocator.free(gradient, at("train_step"))
        allocator.note(f"ProfilerStep#{step}")
    pieces = []
    for _ in range(70):
        hold(5 * MiB, "cache_features", "evaluate")
        pieces.append(hold(5 * MiB, "attention", "evaluate"))
    while allocator.capacity - allocator.reserved >= 96 * MiB:
        hold(32 * MiB, "evaluate")
    for piece in pieces:
        allocator.free(piece, at("evaluate"))
    assert allocator.malloc(192 * MiB, at("attention", "evaluate")) is None
    return allocator


_PLACES = {
    "build": ("/app/train.py", 12),
    "train_step": ("/app/train.py", 70),
    "backward": ("/app/train.py", 73),
    "log_batch": ("/app/train.py", 88),
    "evaluate": ("/app/train.py", 97),
    "Linear.forward": ("/app/model.py", 41),
    "attention": ("/app/model.py", 49),
    "cache_features": ("/app/model.py", 64),
    "init_state": ("/app/.venv/lib/python3.12/site-packages/torch/optim/adamw.py", 20),
}


if __name__ == "__main__":
    import sys
    from pathlib import Path

    Path(sys.argv[1]).write_bytes(dumped(out_of_memory().snapshot()))
