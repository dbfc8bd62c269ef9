"""Commands where the system gives little, or odd things: no home, closed streams, few handles, little memory."""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.snapshots import dumped, random_run
from tests.tiny import write_trace

#: those of docs/command-line.md, but that of a fault of the program
CODES = {0, 1, 2, 3, 141}
SECONDS = 120
MB = 1 << 20

VARIABLES: dict[str, tuple[str | None, ...]] = {
    "HOME": (None, "", "/nowhere", "relative", "/dev/null", "/root/\udcff"),
    "XDG_CACHE_HOME": (None, "", "relative", "/proc", "/dev/full"),
    "TORCH_TB_PROFILER_CACHE_DIR": (None, "", "/dev/null", "nowhere\n", "s3:", "file://"),
    "TMPDIR": (None, "", "/nowhere"),
    "LANG": (None, "C", "tr_TR.UTF-8", "nonsense"),
    "LC_ALL": (None, "C", "POSIX", "\udcff"),
    "PYTHONIOENCODING": (None, "ascii", "utf-16"),
    "PYTHONUTF8": (None, "0"),
    "PYTHONUNBUFFERED": (None, "1"),
    "COLUMNS": (None, "1", "0", "-5", "x", "99999999"),
    "LINES": (None, "1", "x"),
    "TERM": (None, "dumb", "nonsense", ""),
    "FORCE_COLOR": (None, "1"),
    "TZ": (None, "", "nonsense", "XXX-99:99", ":/etc/passwd", "UTC+14"),
    "OPENBLAS_NUM_THREADS": ("1", "x", "0"),
    "PATH": (os.environ.get("PATH"), "", None),
}
LIMITS: tuple[tuple[int, tuple[int, ...]], ...] = (
    (resource.RLIMIT_NOFILE, (12, 16, 24, 40)),
    (resource.RLIMIT_FSIZE, (0, 1000, 20_000)),
    (resource.RLIMIT_AS, (200 * MB, 300 * MB, 400 * MB, 600 * MB)),
)
COMMANDS = (
    "summary {t}", "summary {t} --json", "steps {t}", "operators {l} --csv", "kernels {t} --limit all --json",
    "check {t} {t}", "check {t} --save {o}", "check {t} --history {o}", "compare {t} {t}", "report {t} -o {o}",
    "export {t} -o {o}", "health {l}", "doctor {l}", "traces {l}", "cache", "memory {s}", "sql {t} select(1)",
    "ingest {l} --workers 1", "completion bash", "mcp --skill", "mcp {l}", "summary -", "--help", "--version",
)  # fmt: skip


def environment(place: Path, dice: random.Random) -> dict[str, str]:
    """The one of this process, with a home of its own, and with odd values of some variables."""
    found = {**os.environ, "HOME": str(place), "TMPDIR": str(place / "temporary")}
    found |= {"XDG_CACHE_HOME": str(place / "cache"), "PYTHONPATH": os.pathsep.join([str(Path.cwd()), *sys.path])}
    found["PYTHONDONTWRITEBYTECODE"] = "1"  # Python keeps compiled modules that a limit has cut off
    for name in ("TORCH_TB_PROFILER_CACHE_DIR", "PYTHONUNBUFFERED"):
        found.pop(name, None)
    for name in dice.sample(sorted(VARIABLES), dice.randint(1, 6)):
        found.pop(name, None)
        if (value := dice.choice(VARIABLES[name])) is not None:
            found[name] = value
    return found


def before_it_starts(dice: random.Random) -> tuple[str, Callable[[], None]]:
    """Closed streams and limits: what is said of them, and what makes them in the new process."""
    closed = [number for number in (0, 1, 2) if dice.random() < 0.15]
    limits = [(name, dice.choice(sizes)) for name, sizes in LIMITS if dice.random() < 0.3]

    def make() -> None:
        for number in closed:
            os.close(number)
        for name, size in limits:
            resource.setrlimit(name, (size, size))

    return f"closed {closed}, limits {limits}", make


def wrong_of(folder: Path, seed: int, times: int) -> list[str]:
    """What went wrong in so many commands."""
    dice, wrong = random.Random(seed), []
    trace = write_trace(folder / "logs" / "run" / "a.pt.trace.json", steps=5)
    snapshot = folder / "memory.pickle"
    snapshot.write_bytes(dumped(random_run(1).snapshot()))
    inputs = {path: path.read_bytes() for path in (trace, snapshot)}
    for number in range(times):
        place = folder / str(number)
        for name in ("here", "temporary"):
            (place / name).mkdir(parents=True)
        output = place / "here" / "o.json"
        words = dice.choice(COMMANDS).format(t=trace, l=trace.parents[1], s=snapshot, o=output).split()
        variables = environment(place, dice)
        what, make = before_it_starts(dice)
        if dice.random() < 0.2:
            (place / "here").chmod(0o500)
        outlet = dice.choices(("file", "no reader", "full", "all full"), (14, 3, 2, 1))[0]
        what += f", stdout {outlet}"
        code, err = _run(words, variables, place / "here", make, outlet)
        odd = {name: variables.get(name) for name in VARIABLES if variables.get(name) != os.environ.get(name)}
        if code not in CODES or b"Traceback" in err or b"a fault of this program" in err:
            wrong.append(f"ended with {code}: {words}, {what}, {odd}: {err[-1500:].decode(errors='replace')}")
        (place / "here").chmod(0o700)
        if left := [*place.rglob("*.part"), *place.rglob("torch_tb_profiler-*")]:
            wrong.append(f"left {left}: {words}, {what}, {odd}")
        if any(path.read_bytes() != content for path, content in inputs.items()):
            wrong.append(f"changed an input: {words}")
    return [f"{text} (seed {seed})" for text in wrong]


def _run(
    words: list[str], variables: dict[str, str], where: Path, make: Callable[[], None], outlet: str
) -> tuple[int, bytes]:
    """Exit code and stderr; stdin is empty. outlet: what stdout is; stderr is a full disk where all is."""
    with (
        (where.parent / "out").open("wb") as out,
        (where.parent / "err").open("w+b") as err,
        Path("/dev/full").open("wb") as full,
    ):
        reader, writer = os.pipe()
        os.close(reader)
        try:
            process = subprocess.run(
                [sys.executable, "-m", "torch_tb_profiler", *words],
                env=variables, cwd=where, stdin=subprocess.DEVNULL,
                stdout={"file": out, "no reader": writer}.get(outlet, full),
                stderr=full if outlet == "all full" else err,
                preexec_fn=make, timeout=SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return 999, b"no end"
        finally:
            os.close(writer)
        err.seek(0)
        return process.returncode, err.read()
