"""One file decoded by several processes: the column file has the same bytes as when one process decodes it."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path

import msgspec
import pytest

from tests.tracegen import Config, write_run
from torch_tb_profiler.trace import TraceError, collect, read_to_file, text, together
from torch_tb_profiler.trace.batches import Answer, Batch, BatchDecoder, Found

DAMAGED = Path(__file__).parents[1] / "damaged"
ROOT = Path(__file__).parents[2]


class Simulated:
    """Helpers without processes: answers come in any order, after any time, and some never."""

    def __init__(self, seed: int, count: int = 3, losses: float = 0.0) -> None:
        self._random = random.Random(seed)
        self._decoders: dict[int, BatchDecoder] = {source: BatchDecoder() for source in range(count)}
        self._given: dict[int, list[Batch]] = {source: [] for source in self._decoders}
        self._lost: list[Batch] = []
        self._losses = losses
        self.batches = 0
        self.closed = 0

    def have_room(self) -> bool:
        return bool(self._given) and self._random.random() < 0.7

    def are_there(self) -> bool:
        return bool(self._given)

    def give(self, batch: Batch) -> None:
        self.batches += 1
        self._random.choice(list(self._given.values())).append(batch)

    def answers(self, seconds: float) -> Sequence[Answer]:
        if self._given and self._random.random() < self._losses:
            gone = self._random.choice(list(self._given))
            return [Answer(batch.number, gone, None) for batch in self._given.pop(gone)]
        busy = [source for source, batches in self._given.items() if batches]
        if not busy or (not seconds and self._random.random() < 0.5):
            return []
        source = self._random.choice(busy)
        found = self._decoders[source].decode(self._given[source].pop(0))
        # as it comes from a process
        return [Answer(found.number, source, msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=Found))]

    def give_up(self, number: int) -> None:
        raise AssertionError(f"all batches are answered, but {number} was waited for")

    def close(self) -> None:
        self.closed += 1


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that small files have many chunks, batches and row groups."""
    monkeypatch.setattr(text, "CHUNK_BYTES", 4096)
    monkeypatch.setattr(collect, "ROW_GROUP", 300)


def outcome(content: bytes, folder: Path, helpers: Simulated | None) -> bytes:
    """The column file, or why there is none."""
    path = folder / "columns"
    path.unlink(missing_ok=True)
    try:
        read_to_file(BytesIO(content), path, helpers=helpers)
    except TraceError as error:
        return f"{error.reason}".encode()
    return path.read_bytes()


def check(content: bytes, folder: Path, seeds: Sequence[int] = (1, 2), losses: float = 0.0) -> Simulated:
    """Read with and without helpers; the helpers of the last seed."""
    alone = outcome(content, folder, None)
    for seed in seeds:
        helpers = Simulated(seed, 1 + seed % 3, losses)
        assert outcome(content, folder, helpers) == alone
    return helpers


def generated(folder: Path, style: str = "torch213", **config: bool) -> bytes:
    write_run(Config(steps=2, layers=1, **config), folder, style, compress=False)
    (path,) = folder.iterdir()
    return path.read_bytes()


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Two steps in the text style of torch 2."""
    return generated(tmp_path_factory.mktemp("run"))


def damaged(content: bytes, seed: int) -> bytes:
    """With some of what happens to files."""
    chance = random.Random(seed)
    changed = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(changed))
        length = chance.choice((1, 1, 3, 80, 5000))
        kind = chance.randrange(7)
        if kind == 0:
            del changed[place : place + length]
        elif kind == 1:
            changed[place : place + length] = bytes(length)
        elif kind == 2:
            changed[place : place + length] = changed[:length]
        elif kind == 3:
            changed[place : place + 1] = bytes([chance.randrange(256)])
        elif kind == 4:
            found = re.compile(rb'"dur": ?[\d.]+').search(changed, place)
            if found:
                changed[found.start() : found.end()] = b'"dur": ' + chance.choice((b"NaN", b'"x"', b"[1]", b"1e999"))
        elif kind == 5:
            found = re.compile(rb"\},\s*\{").search(changed, place)
            if found:
                changed[found.start() + 1 : found.start() + 1] = b'], "more": [' + b" " * chance.choice((0, 20_000))
        elif kind == 6 and chance.random() < 0.3:
            del changed[place:]
    return bytes(changed)


def one_line(content: bytes) -> bytes:
    """Without newlines: each cut is a guess. Lists of objects have commas like those of events."""
    read = json.loads(content)
    for number, event in enumerate(read["traceEvents"]):
        if number % 40 == 0:
            event["args"] = {"list": [{"name": "}, {"}, {"a": 1}, {"b": {}}] * (number % 7)}
    return json.dumps(read).encode()


def test_generated_traces(trace: bytes, tmp_path: Path) -> None:
    assert len(trace) > 40 * 4096
    assert check(trace, tmp_path, range(6)).batches > 10
    check(gzip.compress(trace, 1), tmp_path)
    check(generated(tmp_path / "run", legacy=True), tmp_path)


def test_cuts_that_are_guesses(trace: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(one_line(trace), tmp_path, range(6))
    monkeypatch.setattr(together, "MOST_GIVEN_BACK", 10**9)
    assert check(one_line(trace), tmp_path, range(6)).batches > 10


@pytest.mark.parametrize("seed", range(40))
def test_damage(trace: bytes, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if seed % 2:
        monkeypatch.setattr(together, "MOST_GIVEN_BACK", 10**9)
    check(damaged(one_line(trace) if seed % 3 == 0 else trace, seed), tmp_path, (seed, seed + 1))


@pytest.mark.parametrize("name", sorted(path.name for path in DAMAGED.iterdir() if ".json" in path.name))
def test_damaged_files(tmp_path: Path, name: str) -> None:
    check((DAMAGED / name).read_bytes(), tmp_path)


@pytest.mark.parametrize("size", range(4096, 4096 + 40))
def test_cuts_at_every_place(tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "CHUNK_BYTES", size)
    events = [
        {"ph": "X", "cat": "cpu_op", "name": f"op{n % 50}", "pid": n % 3, "tid": "t", "ts": n, "dur": 1}
        for n in range(900)
    ]
    check(json.dumps({"traceEvents": events}, indent=1).encode(), tmp_path, (size,))
    check(json.dumps({"traceEvents": events, "more": [{"a": 1}] * 900}).encode(), tmp_path, (size,))


@pytest.mark.parametrize("seed", range(5))
def test_what_lost_helpers_had_is_decoded_by_the_reader(trace: bytes, tmp_path: Path, seed: int) -> None:
    check(trace, tmp_path, range(seed, seed + 4), losses=0.2)


def test_a_large_vocabulary_is_begun_anew(trace: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch_tb_profiler.trace.batches._MOST_TEXTS", 20)
    check(trace, tmp_path, range(4))


def test_counters_exact_times_and_what_metadata_says(tmp_path: Path) -> None:
    events: list[dict[str, object]] = []
    for n in range(3000):
        events.append(
            {
                "ph": "X",
                "cat": "kernel",
                "name": f"k{n}",
                "pid": n % 7,
                "tid": n,
                "ts": 1720000000000000.25 + n,
                "dur": 1,
            }
        )
        events.append({"ph": "C", "name": "c", "pid": 1, "ts": n, "args": {f"series {n % 90}": n}})
        events.append({"ph": "M", "name": "thread_name", "pid": n % 7, "tid": n % 100, "args": {"name": f"thread {n}"}})
        events.append({"ph": "M", "name": "process_labels", "pid": n % 7, "args": {"labels": f"labels {n}"}})
    assert check(json.dumps({"traceEvents": events}, indent=1).encode(), tmp_path, range(4)).batches > 10


def shared_traces() -> Iterator[Path]:
    folder = ROOT.parent / "shared" / "data" / "traces"
    yield from (
        (path for path in sorted(folder.rglob("*.json*")) if path.stat().st_size < 3 << 20) if folder.is_dir() else ()
    )


@pytest.mark.slow
@pytest.mark.parametrize("path", list(shared_traces()), ids=lambda path: path.name)
def test_real_traces(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "CHUNK_BYTES", 64 * 1024)
    check(path.read_bytes(), tmp_path)
