"""One file decoded by several processes: the column file has the same bytes as when one process decodes it."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.attack.damage import DAMAGES, damaged
from tests.simulated_helpers import Simulated, columns_of, small_pieces
from tests.tracegen import Config, write_run
from torch_tb_profiler.trace import text, together
from torch_tb_profiler.trace.helper import Batch, HelperAnswer

pytestmark = pytest.mark.slow

DAMAGED = Path(__file__).parents[1] / "damaged"
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def small() -> Iterator[None]:
    with small_pieces():
        yield


def check(content: bytes, folder: Path, seeds: Sequence[int] = (1, 2), losses: float = 0.0) -> Simulated:
    """Read with and without helpers; the helpers of the last seed."""
    path = folder / "columns"
    alone = columns_of(content, path, None)
    for seed in seeds:
        helpers = Simulated(seed, 1 + seed % 3, losses)
        assert columns_of(content, path, helpers) == alone
    return helpers


def generated(folder: Path, style: str = "torch213", **config: bool) -> bytes:
    write_run(Config(steps=2, layers=1, **config), folder, style, compress=False)
    (path,) = folder.iterdir()
    return path.read_bytes()


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Two steps in the text style of torch 2."""
    return generated(tmp_path_factory.mktemp("run"))


def changed(content: bytes, seed: int) -> bytes:
    """With some of what happens to files."""
    dice = random.Random(seed)
    for _ in range(dice.randint(1, 3)):
        place = dice.randrange(len(content))
        kind = dice.choice((*sorted(DAMAGES.keys() - {"emptied"}), "value", "end of the list"))
        if kind == "value":
            value = dice.choice((b"NaN", b'"x"', b"[1]", b"1e999"))
            content = content[:place] + re.sub(rb'(?<="dur": )[\d.]+', value, content[place:], count=1)
        elif kind == "end of the list":
            more = b"},\n" + b" " * dice.choice((0, 20_000)) + b'"x": {}], "more": ['
            content = content[:place] + re.sub(rb"\}(?=,\s*\{)", more, content[place:], count=1)
        else:
            content = damaged(kind, dice, content)
    return content


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
    check(changed(one_line(trace) if seed % 3 == 0 else trace, seed), tmp_path, (seed,))


@pytest.mark.parametrize("name", sorted(path.name for path in DAMAGED.iterdir() if ".json" in path.name))
def test_damaged_files(tmp_path: Path, name: str) -> None:
    check((DAMAGED / name).read_bytes(), tmp_path)


@pytest.mark.parametrize("size", range(4096, 4096 + 24))
def test_cuts_at_every_place(tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "CHUNK_BYTES", size)
    events = [
        {"ph": "X", "cat": "cpu_op", "name": f"op{n % 50}", "pid": n % 3, "tid": "t", "ts": n, "dur": 1}
        for n in range(500)
    ]
    check(json.dumps({"traceEvents": events}, indent=1).encode(), tmp_path, (size,))
    check(json.dumps({"traceEvents": events, "more": [{"a": 1}] * 500}).encode(), tmp_path, (size,))


def test_the_list_ends_before_what_was_cut_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands behind the end is no event, however long it is and whatever it looks like."""
    monkeypatch.setattr(text, "MAX_EVENT_BYTES", 16 * 1024)
    monkeypatch.setattr(text, "MAX_HEADER_BYTES", 8 * 1024)
    events = [{"ph": "X", "cat": "cpu_op", "name": f"op{n}", "pid": 1, "tid": 1, "ts": n, "dur": 1} for n in range(400)]
    more = {"more": [{"a": n} for n in range(100)], "text": "x" * 200_000}
    content = json.dumps({"traceEvents": events, **more}, indent=1).encode()
    assert check(content, tmp_path, range(8)).batches > 2
    assert not columns_of(content, tmp_path / "columns", None).startswith(b"has an event longer")


@pytest.mark.parametrize("seed", range(5))
def test_what_lost_helpers_had_is_decoded_by_the_reader(trace: bytes, tmp_path: Path, seed: int) -> None:
    check(trace, tmp_path, range(seed, seed + 4), losses=0.2)


def test_the_last_helper_is_gone_when_it_is_given_something(trace: bytes, tmp_path: Path) -> None:
    class Gone(Simulated):
        def give(self, batch: Batch) -> bool:
            return False

        def answers(self, seconds: float) -> Sequence[HelperAnswer]:
            return []

    path = tmp_path / "columns"
    assert columns_of(trace, path, Gone(1)) == columns_of(trace, path, None)


def test_a_large_vocabulary_is_begun_anew(trace: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch_tb_profiler.trace.helper._MOST_TEXTS", 20)
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
