"""The reader under fuzzing: what must hold for any bytes, and a coverage-guided search for bytes for which it does not.

    python -m tests.attack.reader SECONDS [SEED]

With atheris (`pip install atheris`: there are wheels for some Pythons) the search follows coverage; what it finds worth
keeping is added to `.attack/corpus`. Without it the corpus is damaged at random, and that is said.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

CORPUS = Path(__file__).with_name("corpus")
#: of which shapes of text grow
SEEDS = (CORPUS, CORPUS.parents[1] / "damaged")
#: what the search found, not in git
FOUND = Path(".attack") / "corpus"
LONGEST = 60_000
#: of one process of the search: under atheris it holds 70 KB more with every input, which the reader alone does not
PIECE_SECONDS = 120.0
#: a process begins with reading all inputs that it is given; none is started for less time than that may take
LEAST_SECONDS, MOST_INPUTS = 30.0, 100


def check(content: bytes) -> None:
    """Read it. Whatever the bytes: a trace whose columns fit, or a reason; the same from a file and with helpers."""
    from tests.simulated_helpers import Simulated, columns_of, small_pieces
    from torch_tb_profiler.trace import TraceError, column_file, read_to_file, read_trace

    try:
        trace = read_trace(BytesIO(content))
    except TraceError:
        return
    events = trace.events
    assert len(events)
    assert int(events.duration.min()) >= -1
    assert int(events.track.max(initial=0)) < len(trace.tracks)
    assert bool((events.end >= events.start).all())
    assert all(isinstance(trace.strings[code], str) for code in set(events.name.tolist()))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "columns")
        read_to_file(BytesIO(content), path)
        again = column_file.open_trace(path)
        assert again.events.start.tolist() == events.start.tolist()
        assert len(again.notes) == len(trace.notes)
        with small_pieces():
            alone = columns_of(content, path, None)
            assert columns_of(content, path, Simulated(len(content), losses=0.02)) == alone


def seeds() -> list[bytes]:
    return [
        path.read_bytes() for folder in SEEDS for path in sorted(folder.glob("*")) if path.stat().st_size <= LONGEST
    ]


def at_random(seconds: float, seed: int) -> int:
    """How many were tried. The first for which `check` fails is written down and raised."""
    from tests.attack.damage import DAMAGES, damaged
    from tests.attack.values import JSON

    dice = random.Random(seed)
    pool = seeds()
    until = time.monotonic() + seconds
    tried = 0
    while time.monotonic() < until:
        content = dice.choice(pool)
        for _ in range(dice.randrange(1, 4)):
            if dice.random() < 0.3:
                place = dice.randrange(len(content) + 1)
                content = content[:place] + dice.choice(JSON).encode()[:2000] + content[place:]
            else:
                content = damaged(dice.choice(sorted(DAMAGES)), dice, content)
        tried += 1
        _checked(content)
    return tried


def _checked(content: bytes) -> None:
    try:
        check(content)
    except BaseException:
        FOUND.parent.mkdir(exist_ok=True)
        (FOUND.parent / "complaint").write_bytes(content)
        raise


def main() -> None:
    if sys.argv[1] == "--from":
        with_coverage(Path(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
        return
    seconds, seed = float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    if find_spec("atheris") is None:
        print("no atheris for this Python: the corpus is damaged at random, without regard to coverage")
        print(f"{at_random(seconds, seed)} inputs, none of them a fault")
        return
    until, tried = time.monotonic() + seconds, 0
    while not tried or until - time.monotonic() > LEAST_SECONDS:
        tried += in_a_process(min(until - time.monotonic(), PIECE_SECONDS), seed)
        seed += 1
    print(f"{tried} inputs, none of them a fault")


def in_a_process(seconds: float, seed: int) -> int:
    """Search from a part of the corpus and of what was found before. How many inputs that were; ends this process with
    what is said of one that is a fault.
    """
    FOUND.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        known = [path for each in (*SEEDS, FOUND) for path in sorted(each.glob("*")) if path.stat().st_size <= LONGEST]
        for path in random.Random(seed).sample(known, min(MOST_INPUTS, len(known))):
            shutil.copy(path, folder / path.name)
        command = [sys.executable, "-m", "tests.attack.reader", "--from", name, str(int(seconds)), str(seed)]
        ran = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        for path in folder.glob("*"):
            shutil.copy(path, FOUND / path.name)
    if ran.returncode:
        print(ran.stdout + ran.stderr)
        sys.exit(ran.returncode)
    counts = [int(count) for count in re.findall(r"^Done (\d+) runs", ran.stderr, re.MULTILINE)]
    return sum(counts)


def with_coverage(folder: Path, seconds: float, seed: int) -> None:
    """Search from the inputs in a folder, and put others there; ends the process."""
    import atheris

    with atheris.instrument_imports(include=["torch_tb_profiler.trace"]):
        import torch_tb_profiler.trace.reader  # noqa: F401
    options = [
        f"-max_total_time={seconds:.0f}",
        f"-seed={seed}",
        f"-max_len={LONGEST}",
        "-rss_limit_mb=2000",
        "-timeout=60",
    ]
    options.append(f"-artifact_prefix={FOUND.parent}/")
    atheris.Setup([sys.argv[0], str(folder), *options], check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
