"""R1 to R6: jobs of many ranks, read by `ingest` on this machine and on a Dask cluster, and shown by `serve`."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from subprocess import PIPE
from typing import Any

from benchmarks import data
from benchmarks.environments import OURS, PROBES, ROOT, WORK, one_thread, variables
from benchmarks.processes import Failed, Tree, probe, read
from tests.cluster import cluster

Measured = dict[str, Any]

#: processes, and workers of the cluster
WORKERS = 2
KILLS = 20
_SECONDS = 600
#: ranks of the larger job that are read alone
_ALONE = 32


def measure(say: Callable[[str], None]) -> Measured:
    """Each once: what they are compared with runs beside them."""
    files = data.make_ranks(*data.JOB)
    found: Measured = {"files": len(files), "bytes": sum(path.stat().st_size for path in files)}
    found["one"], found["one_peak"] = one_rank(files[:8])
    say(f"  one rank: {found['one']:.3f} s")
    logdir = files[0].parent
    for name in ("local", "second"):
        found[name] = ingested(logdir, WORK / "cache-of-ranks", is_first=name == "local")
        say(f"  {name}: {found[name]['cpu']:.2f} s")
    found["dask"] = on_cluster(logdir)
    say(f"  Dask: {found['dask']['cpu']:.2f} s")
    many = data.make_ranks(*data.MANY)
    found["many"] = served(many[0].parent, len(many))
    say(f"  first page of {len(many)} ranks: {found['many']['first']:.1f} s")
    # before and after: what else the machine does changes meanwhile
    before, _ = one_rank(many[:_ALONE], "--kept")
    found["many"] |= {"all": ingested(many[0].parent, WORK / "cache-of-many-ranks")["cpu"], "files": len(many)}
    after, _ = one_rank(many[:_ALONE], "--kept")
    found["many"]["one"] = (before + after) / 2
    say(f"  {len(many)} ranks: {found['many']['all']:.1f} s, one {found['many']['one']:.4f} s")
    found["reduction"] = reduced()
    say(f"  reduction: {found['reduction']['cpu_s']:.2f} s")
    found["kills"] = killed()
    return found


def reduced() -> Measured:
    """CPU seconds and memory of the reduction of summaries that are there."""
    folder = data.DATA / "summaries"
    command = [OURS.python, "-m", "benchmarks.probes.ranks"]
    if not folder.exists():
        subprocess.run([*command, "make", folder], cwd=ROOT, env=variables(), check=True, timeout=_SECONDS)
    runs = [
        json.loads(
            subprocess.run(
                [*command, "reduce", folder], cwd=ROOT, env=one_thread(), check=True, timeout=_SECONDS, stdout=PIPE
            ).stdout
        )
        for _ in range(3)
    ]
    _waited()
    return {name: statistics.median(run[name] for run in runs) for name in ("cpu_s", "peak_mb")}


def one_rank(files: Sequence[Path], *options: str) -> tuple[float, int]:
    """CPU seconds of a rank and the most memory, in as many processes at once as `ingest` has.

    options: of the probe
    Processors share caches and memory: on some machines two that are busy take half as much again for the same work.
    """
    command = [OURS.python, PROBES / "rank.py", *options, *files]
    with ThreadPoolExecutor(WORKERS) as threads:
        said = list(threads.map(lambda _: probe(command, one_thread(), _SECONDS)[0], range(WORKERS)))
    return statistics.median(seconds for each in said for seconds in each["ranks"]), max(each["peak"] for each in said)


def ingested(logdir: Path, place: Path, *options: str, is_first: bool = True) -> Measured:
    """CPU of the command and of the processes that it starts, and the most memory of the command itself."""
    if is_first:
        shutil.rmtree(place, ignore_errors=True)
    command = ["-m", "torch_tb_profiler", "ingest", str(logdir), "--cache-dir", str(place), "--json"]
    workers = [] if options else ["--workers", str(WORKERS)]
    _waited()
    began = time.monotonic()
    process = subprocess.Popen(
        [OURS.python, *command, *workers, *options],
        stdout=PIPE,
        stderr=subprocess.DEVNULL,
        env=variables(),
        cwd=WORK,
    )
    peak = 0
    while process.poll() is None:
        peak = max(peak, _high_water(process.pid))
        time.sleep(0.02)
    assert process.stdout is not None
    told = process.stdout.read().decode()
    usage = _waited()
    if process.returncode:
        raise Failed(f"ingest ended with {process.returncode}")
    return {"cpu": usage, "wall": time.monotonic() - began, "parent": peak, "json": told}


_before = 0.0


def _waited() -> float:
    """CPU seconds of the children that ended since the last time, with those that they waited for."""
    global _before
    times = os.times()
    now = times.children_user + times.children_system
    used, _before = now - _before, now
    return used


def _high_water(process: int) -> int:
    line = next((line for line in read(process, "status").splitlines() if line.startswith("VmHWM")), "VmHWM: 0 kB")
    return int(line.split()[1]) * 1024


def on_cluster(logdir: Path) -> Measured:
    """The same on a cluster whose workers are up; its CPU is that of all its processes meanwhile."""
    folder = WORK / "cluster"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with ExitStack() as stack:
        running = stack.enter_context(cluster(folder, WORKERS, OURS.python, None))
        trees = [Tree(process.pid) for process in (running.scheduler, *running.workers)]
        ingested(
            data.make_ranks(8, 3_000)[0].parent, folder / "first", "--scheduler", running.address
        )  # all are up, and have imported
        before = sum(tree.cpu() for tree in trees)
        found = ingested(logdir, folder / "place", "--scheduler", running.address)
        found["client"] = found["cpu"]
        found["cpu"] += sum(tree.cpu() for tree in trees) - before
    return found


def served(logdir: Path, ranks: int) -> Measured:
    """Wall time from the start of `serve` with an empty cache until the page about the run answers with a rank."""
    cache = WORK / "cache-of-many"
    shutil.rmtree(cache, ignore_errors=True)
    began = time.monotonic()
    process = subprocess.Popen(
        [OURS.python, "-m", "torch_tb_profiler", "serve", logdir, "--port", "0", "--cache-dir", cache],
        stdout=PIPE,
        stderr=subprocess.DEVNULL,
        env=variables(),
        cwd=WORK,
        text=True,
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().split(" at ")[1].split()[0]
        first = _until(lambda: _asked(f"{url}api/ranks?run={logdir.name}")) - began
        return {"first": first, "ranks": ranks}
    finally:
        process.terminate()
        process.wait()
        _waited()


def _asked(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _until(met: Callable[[], bool]) -> float:
    end = time.monotonic() + _SECONDS
    while not met():
        if time.monotonic() > end:
            raise Failed("it takes too long")
        time.sleep(0.02)
    return time.monotonic()


def killed() -> Measured:
    """Whether the result is the same when workers and their children are killed so many times."""
    command = [sys.executable, "-m", "pytest", "-n0", "-q", "tests/integration/test_cluster.py", "-k", "killed"]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "TEST_KILLS": str(KILLS)}, check=False, timeout=_SECONDS
    )
    _waited()
    return {"times": KILLS, "same": done.returncode == 0}
