"""What is measured on one size: every program in fresh processes, one after the other, again and again."""

from __future__ import annotations

import gzip
import json
import shutil
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import data, hostile, servers
from benchmarks.data import Size
from benchmarks.environments import (
    FLOOR,
    HTA,
    OLD,
    OURS,
    PROBES,
    ROOT,
    WORK,
    Environment,
    one_thread,
    routes_of_ours,
    variables,
)
from benchmarks.pages import pages
from benchmarks.processes import Failed, probe, running
from benchmarks.requests import OLD_ROUTES, Request, requests_for, split, visited, without_extra

Measured = dict[str, Any]
Say = Callable[[str], None]

PEER_VERSION = "0.4.3"


def measure(size: Size, say: Say) -> Measured:
    """All programs on the traces of one size. What fails says so in its place."""
    size.make()
    routes = routes_of_ours()
    files = size.files()
    run, workers = size.directory.name, size.workers()
    questions = requests_for(routes, run, workers)
    old_questions = requests_for(set(routes) & set(OLD_ROUTES), run, workers)
    peer_questions = requests_for(OLD_ROUTES, run, workers)
    found: Measured = {"date": today(), "gz": sum(path.stat().st_size for path in files), "files": len(files)}
    rounds: dict[str, list[Measured]] = {}

    def once(nth: int, asked: Sequence[Request]) -> Sequence[Request]:
        """What takes longer than all the rest is asked the first time only."""
        return asked if nth == 0 else without_extra(asked)

    def again(name: str, times: int, nth: int, what: Callable[[], Measured]) -> None:
        if nth >= times or (nth and "failed" in rounds[name][-1]):
            return
        began = time.monotonic()
        try:
            rounds.setdefault(name, []).append(what())
        except Failed as failed:
            rounds.setdefault(name, []).append({"failed": str(failed).splitlines()[-1:] or ["?"]})
        say(f"  {name} {nth + 1}: {time.monotonic() - began:.1f} s")

    for nth in range(max(size.floor_repetitions, size.repetitions)):
        again("L", size.floor_repetitions, nth, lambda: floor("L", files, size.seconds))
        again("J", size.repetitions if size.loads else 0, nth, lambda: floor("J", files, size.seconds))
        again("ours", size.repetitions, nth, partial(ours, size, once(nth, questions)))
        if len(files) == 1:
            again("ingest", size.repetitions, nth, lambda: ingest(files[0], size.seconds))
        again("host", size.host_repetitions, nth, partial(host, OURS, size, once(nth, old_questions)))
        again("host old", size.peer_repetitions, nth, partial(host, OLD, size, once(nth, peer_questions)))
        again("HTA", size.hta_repetitions, nth, lambda: holistic(files, size.seconds))
    served = split(old_questions)["requests"]
    again("serve", 1, 0, lambda: servers.stand_alone(size.directory, 1, visited(questions), size.seconds))
    again("TensorBoard", 1, 0, lambda: servers.tensorboard(OURS, size.directory, served, size.seconds))
    if size.peer_repetitions:
        peer_served = split(peer_questions)["requests"]
        again("TensorBoard old", 1, 0, lambda: servers.tensorboard(OLD, size.directory, peer_served, size.seconds))
    found |= {"text": rounds["L"][0].get("text"), "events": rounds["L"][0].get("events")}
    found["repetitions"] = {name: len(values) for name, values in rounds.items()}
    return found | {name: least(values) for name, values in rounds.items()}


def fixed_costs(say: Say) -> Measured:
    """What both plugins cost on a trace that is next to nothing."""
    data.TINY.make()
    questions = requests_for(OLD_ROUTES, data.TINY.directory.name, data.TINY.workers())
    say("fixed costs")
    return {
        name: least([host(environment, data.TINY, questions) for _ in range(3)])
        for name, environment in (("host", OURS), ("host old", OLD))
    } | {"date": today()}


def least(values: Sequence[Measured]) -> Measured:
    """Of every number the smallest; of what is no number the first. What only the first has is taken as it is."""
    if failed := next((v for v in values if "failed" in v), None):
        return failed
    merged: Measured = {}
    for key, value in values[0].items():
        if isinstance(value, dict):
            merged[key] = least([v[key] for v in values if key in v])
        elif isinstance(value, list) and value and isinstance(value[0], float):
            merged[key] = [min(column) for column in zip(*(v[key] for v in values if key in v), strict=True)]
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            merged[key] = min(v[key] for v in values if key in v)
        else:
            merged[key] = value
    return merged


def floor(kind: str, files: Sequence[Path], seconds: float) -> Measured:
    (said,) = probe([FLOOR.python, PROBES / "floor.py", kind, *files], variables(), seconds)
    return said


def ingest(file: Path, seconds: float = 120) -> Measured:
    (said,) = probe([OURS.python, PROBES / "ours.py", "ingest", file], one_thread(), seconds)
    return said


def ours(size: Size, questions: Sequence[Request]) -> Measured:
    """First load into an empty cache, and twice from the full one."""
    cache = WORK / "cache-of-ours"
    shutil.rmtree(cache, ignore_errors=True)
    plan = write_plan({**split(questions), "rounds": 2})
    command = [OURS.python, PROBES / "ours.py"]
    first = probe([*command, "first", size.directory, cache, plan], one_thread(), size.seconds)
    found = together(first) | {"cache": _on_disk(cache)}
    again = probe([*command, "reopen", size.directory, cache, plan], one_thread(), size.seconds)
    return found | {"reopen": together(again)}


def _on_disk(directory: Path) -> int:
    """Bytes of all files; of one with several names once."""
    files = {status.st_ino: status.st_size for status in map(Path.stat, directory.rglob("*"))}
    return sum(files.values())


def host(environment: Environment, size: Size, questions: Sequence[Request]) -> Measured:
    """A plugin from its start to the answers, in a host of nothing but the plugin; the whole process tree."""
    cache = WORK / "cache-of-host"
    shutil.rmtree(cache, ignore_errors=True)
    flags: Measured = {"reload_interval": 5.0}
    if environment is OURS:
        flags |= {"torch_profiler_workers": 2, "torch_profiler_cache_dir": str(cache)}
    plan = write_plan({**split(questions), "rounds": 2, "runs": 1, "seconds": size.seconds, "flags": flags})
    said: list[Measured] = []
    costs: Measured = {}
    with running([environment.python, PROBES / "host.py", size.directory, plan], variables(), size.seconds) as process:
        for item in process.said():
            said.append(item)
            if "views" in item:
                process.tree.sample()
                costs = {"cpu": process.tree.cpu(), "peak": process.tree.peak, "peak_one": process.tree.peak_one}
                _go_on(process.process.stdin)
            if "end" in item:
                break
        else:
            raise Failed(process.errors() or "ended early")
    found = together(said) | costs
    if (found["version"] == PEER_VERSION) != (environment is OLD):
        raise Failed(f"version {found['version']} was measured")
    return found


def _go_on(stdin: Any) -> None:
    stdin.write(b"\n")
    stdin.flush()


def holistic(files: Sequence[Path], seconds: float) -> Measured:
    with running([HTA.python, PROBES / "holistic.py", *files], variables(), seconds) as process:
        said, cpu = [], 0.0
        for item in process.said():
            said.append(item)
            cpu = process.tree.cpu()
        peak = process.tree.peak
        if not said or "peak" not in said[-1]:
            raise Failed(process.errors() or "ended early")
    return together(said) | {"tree_cpu": cpu, "tree_peak": peak}


def together(said: Sequence[Measured]) -> Measured:
    """All lines of a probe in one: `routes` holds seconds of the first and second request, `bad` what was not 200."""
    found: Measured = {}
    routes: dict[str, list[float]] = {}
    bad: dict[str, int] = {}
    for item in said:
        if "round" not in item:
            found |= item
            continue
        variant = item["parameters"].get("group_by")
        label = f"{item['route']} {variant}" if variant else item["route"]
        seconds = routes.setdefault(label, [0.0, 0.0])
        seconds[item["round"]] += item["cpu"]
        if item["status"] != 200:
            bad[label] = item["status"]
    return found | ({"routes": routes, "bad": bad} if routes else {})


def write_plan(plan: Measured) -> Path:
    path = WORK / "plan.json"
    path.write_text(json.dumps(plan))
    return path


def damaged(say: Say) -> Measured:
    """B10 on the trace of 100k events: CPU against the clean trace, events kept, defects reported."""
    size = data.SIZES["100k"]
    size.make()
    clean = WORK / "damaged" / "clean.json"
    clean.parent.mkdir(parents=True, exist_ok=True)
    clean.write_bytes(gzip.decompress(size.files()[0].read_bytes()))
    found: Measured = {"date": today(), "cases": {}}

    def done(item: hostile.Damaged, path: Path) -> None:
        pairs = [(_try(path), ingest(clean)) for _ in range(3)]
        kept = pairs[0][0]
        case: Measured = {"least": item.least}
        if "failed" in kept:
            case |= kept
        else:
            case |= {
                "cpu": min(p["cpu"] for p, _ in pairs),
                "clean": min(p["cpu"] for _, p in pairs),
                "events": kept["events"],
                "noted": not item.noted or bool(kept["notes"]),
            }
        found["cases"][item.name] = case
        say(f"  {item.name}")

    hostile.write_damaged(clean.parent, size.files()[0], done)
    clean.unlink()
    return found


def _try(path: Path) -> Measured:
    try:
        return ingest(path)
    except Failed as failed:
        return {"failed": str(failed).splitlines()[-1:]}


def exact(say: Say) -> Measured:
    """B11 on the generated trace of 100k events and on the recorded samples of this repository."""
    size = data.SIZES["100k"]
    size.make()
    say("exactness")
    samples = [path for path in sorted((ROOT / "samples").rglob("*.pt.trace.json*")) if path.is_file()]
    said = probe([OURS.python, PROBES / "exact.py", ROOT, *size.files(), *samples], variables(), 600)
    return {"date": today(), **said[-1]}


def huge(say: Say) -> Measured:
    """B9: 10 GB of JSON into a column file."""
    say(data.HUGE)
    path = data.make_huge()
    columns = WORK / "huge.columns"
    (said,) = probe([OURS.python, PROBES / "ours.py", "stream", path, columns], one_thread(), 3600)
    columns.unlink()
    return {"date": today(), "gz": path.stat().st_size, **said}


def timeline(say: Say) -> Measured:
    """T1–T8, U1: 10M slices on 60 lanes, read, built, asked for as a page of 1,600 px does, and looked at."""
    say(data.TIMELINE)
    path = data.make_wide()
    columns, built = WORK / "wide.columns", WORK / "wide.timeline"
    command = [OURS.python, PROBES / "timeline.py"]
    found: Measured = {"date": today(), "gz": path.stat().st_size}
    for mode, files in (("build", [path, columns, built]), ("serve", [columns, built])):
        for said in probe([*command, mode, *files], one_thread(), 1200):
            found |= said
    columns.unlink()
    built.unlink()
    logdir, runs = data.make_pages()
    say("the timeline and a table in a browser")
    found["pages"], found["table"] = pages(logdir, runs, 1800)
    return found


def replay(say: Say) -> Measured:
    """E1 to E4: the replay of 1M events, and of 8 ranks of 100k together."""
    say("replay")
    found: Measured = {"date": today()}
    for key, name, modes in (("one", "1M", ("one", "held")), ("ranks", "8x100k", ("together",))):
        size = data.SIZES[name]
        size.make()

        def said(mode: str, size: Size = size) -> list[Measured]:
            return probe([OURS.python, PROBES / "engine.py", mode, *size.files()], one_thread(), size.seconds)

        found[key] = least([together([each for mode in modes for each in said(mode)]) for _ in range(3)])
    return found


def flops(say: Say) -> Measured:
    """F1: FLOP and the roofline of 1M events."""
    say("flops")
    size = data.SIZES["1M"]
    size.make()
    command = [OURS.python, PROBES / "flops.py", *size.files()]
    return {"date": today()} | least([together(probe(command, one_thread(), size.seconds)) for _ in range(3)])


def program(say: Say) -> Measured:
    """P1: what a training of 1.2M events did."""
    say("program")
    path = WORK / "program.json"
    if not path.exists():
        probe([OURS.python, PROBES / "program.py", "make", path], one_thread(), 600)
    runs = [probe([OURS.python, PROBES / "program.py", "ask", path], one_thread(), 600) for _ in range(3)]
    return {"date": today()} | least([together(run) for run in runs])


def sql(say: Say) -> Measured:
    """Q1: SQL over 1M events."""
    say("SQL")
    size = data.SIZES["1M"]
    size.make()
    command = [OURS.python, PROBES / "sql.py", *size.files()]
    return {"date": today()} | least([together(probe(command, one_thread(), size.seconds)) for _ in range(3)])


def memory(say: Say) -> Measured:
    """M1 to M3: memory snapshots of 100 MB and of 5M records."""
    say("memory")
    found: Measured = {"date": today()}
    for mode, records in (("read", 726_000), ("ask", 5_000_000)):
        path = WORK / f"snapshot-{records}.pickle"
        if not path.exists():
            probe([OURS.python, PROBES / "snapshots.py", "make", path, str(records)], one_thread(), 600)
        runs = [probe([OURS.python, PROBES / "snapshots.py", mode, path], one_thread(), 600) for _ in range(3)]
        found[mode] = least([together(run) for run in runs])
    return found


def today() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%d")
