"""Histories of `check` that several processes append to, are killed at, have no room for, and that are damaged."""

from __future__ import annotations

import json
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from tests.attack.outputs import run
from tests.gate_pairs import config, recorded
from tests.unit.test_history import appending
from torch_tb_profiler.workspace.recordings import RecordingError, saved_recordings, saved_text

#: more than any process appends before it is killed
TIMES = 50


def wrong_of(folder: Path, seed: int, rounds: int) -> list[str]:
    """What went wrong in so many rounds of appending, reading and damaging one history."""
    dice, wrong = random.Random(seed), []
    folder.mkdir(exist_ok=True)
    source, history = folder / "source.json", folder / "history.jsonl"
    line = saved_text([recorded(config(1, steps=4, layers=1))]).encode()
    source.write_bytes(line)
    history.write_bytes(line)
    for number in range(rounds):
        before = history.read_bytes()
        wrong += _appended(source, history, dice)
        wrong += _readable(history, line, folder / "cache")
        if not history.read_bytes().startswith(before):
            wrong.append("what was there is not there any more")
        if len(before) > 60 * len(line):
            history.write_bytes(line)
        elif number % 2:
            history.write_bytes(_damaged(history.read_bytes(), line, dice))
            wrong += _readable(history, line, folder / "cache")
    return [f"{text} (seed {seed})" for text in wrong]


def _appended(source: Path, history: Path, dice: random.Random) -> Iterator[str]:
    """By one to three processes, some of them killed, some of them with room for half a line or for few of them."""
    size, at_once = history.stat().st_size, dice.randint(1, 3)
    limited = dice.random() < 0.3
    limit = size + dice.randrange(5 * source.stat().st_size) if limited else 0
    killed = dice.random() < 0.7
    processes = [appending(source, history, TIMES if killed or limited else 5, limit) for _ in range(at_once)]
    if killed:
        _wait_for_growth(history, size, limited)
        for process in processes:
            time.sleep(dice.random() * 0.02)
            process.send_signal(signal.SIGKILL)
    for process in processes:
        said = process.communicate(timeout=60)[1].strip()
        allowed = {0, *([-signal.SIGKILL] if killed else []), *([1] if limited else [])}
        if (
            process.returncode not in allowed
            or (said and not (limited and "cannot be written" in said))
            or "\n" in said
        ):
            yield f"appending ended with {process.returncode}: {said[-500:]}"
    records = (history.stat().st_size - size) // source.stat().st_size
    if not killed and not limited and records != 5 * at_once:
        yield f"{records} records of {5 * at_once}"


def _wait_for_growth(history: Path, size: int, limited: bool) -> None:
    until = time.monotonic() + (3 if limited else 20)
    while history.stat().st_size == size and time.monotonic() < until:
        time.sleep(0.001)


def _damaged(content: bytes, line: bytes, dice: random.Random) -> bytes:
    """With its end torn, bytes changed in the middle, a hole, or nothing of a line; the first line stays."""
    at = dice.randrange(len(line), len(content)) if len(content) > len(line) else len(content)
    noise = dice.randbytes(dice.randrange(1, 50)).replace(b"\n", b" ")
    return dice.choice(
        [
            content[:at],
            content[:at] + noise + content[at + len(noise) :],
            content[:at] + bytes(500) + content[at + 500 :],
            content + b"nonsense\n",
            content + line[: dice.randrange(1, len(line))],
        ]
    )


def _readable(history: Path, line: bytes, cache: Path) -> Iterator[str]:
    """Every line that is whole is read; the others are counted, and named by `check`, which judges the others."""
    lines = [each for each in history.read_bytes().split(b"\n") if each.strip(b" \t\r")]
    whole = sum(each == line.rstrip() for each in lines)
    try:
        found = saved_recordings(str(history))
    except RecordingError as error:
        yield f"cannot be read: {error}"
        return
    # a changed digit may leave a record
    if len(found.recordings) < whole or len(found.recordings) + found.damaged != len(lines):
        yield f"{len(found.recordings)} read and {found.damaged} damaged of {len(lines)} lines, {whole} of them whole"
    words = ["check", str(history), str(history), "--format", "json", "--cache-dir", str(cache)]
    code, out, err = run(*words)
    if code not in (0, 1, 3) or "Traceback" in err:
        yield f"check ended with {code}: {err[-500:]}"
    elif found.damaged and ", is " not in err:
        yield f"the damaged line is not named: {err[-500:]}"
    elif out and json.loads(out)["base"]["damaged"] != found.damaged:
        yield f"check counts {json.loads(out)['base']['damaged']} damaged lines of {found.damaged}"
