"""Digests of every answer about some twenty traces, to see which answers a change of the code changes.

    make answers ANSWERS=before                  # on the old code
    make answers ANSWERS=after AGAINST=before

Asks every route of docs/openapi.json (but for the page, the report and the status) and every command that prints a
table, a summary or a comparison. Each answer has two digests: of its values, and of its texts (labels, sentences).
The folder has them in `digests.json`, and the answers in `answers.zip`; the comparison prints where they differ.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import json
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from werkzeug.test import Client

from tests.openapi_requests import Query, fill, requests_to
from tests.recorded import SHARED
from tests.served import client_of, everything_read
from tests.tiny import wait_until
from tests.tracegen import Config
from tests.tracegen.writer import write_run
from torch_tb_profiler.cli import main as command
from torch_tb_profiler.defaults import DIRECTORY_VARIABLE
from torch_tb_profiler.tables.listing import COMMANDS
from torch_tb_profiler.web.app import ROUTES
from torch_tb_profiler.workspace import Workspace

ROOT = Path(__file__).resolve().parent.parent

#: below these keys strings are texts for people; all other strings are values
TEXT_KEYS = frozenset(
    "advice definitions description detail error help label recommendations refused remedy sentence sentences summary"
    " text title tooltip tooltips".split()
)
#: named after the recording process, so it differs in each
IDENTITY = "version"
#: the page and what is made of the same answers; the state of a server; the file itself
LEFT_OUT = frozenset(("/", "/index.html", "/index.js", "/api/report", "/api/status", "/trace"))

SAMPLES = ("cnn_workers0", "cnn_workers2", "ddp_gloo_2ranks", "generated_4gpu_h100", "out_of_memory")
#: one run of each kind of device and writer; those that are missing are left out
RECORDED = (
    "HTA/nccl_a100_rank0_of_2",
    "TraceLens/bert_small_h100",
    "TraceLens/bert_small_mi300x",
    "TraceLens/vllm_decode_hipgraph_mi300",
    "HTA/alexnet_a100_cuda_sync",
    "program/accumulation",
    "program/lightning",
    "saf/amg_a100_inductor_cudagraph",
    "param/dlrm_v100_8ranks",
    "torch213/extras",
    "torch213/transformer",
    "units/distributed_nccl",
)
GENERATED = {
    "generated_rocm": Config(steps=2, layers=2, device="mi300x"),
    "generated_one_gpu": Config(steps=3, layers=2),
    "generated_overlap": Config(steps=2, layers=2, ranks=2, stream_overlap=True, overlap=0.5),
}


def write_logs(logs: Path) -> None:
    """Copy samples and recorded traces below `logs`, and generate others."""
    for name in SAMPLES:
        shutil.copytree(ROOT / "samples" / name, logs / name)
    for name, config in GENERATED.items():
        write_run(config, logs / name)
    for name in RECORDED:
        if (SHARED / name).is_dir():
            shutil.copytree(SHARED / name, logs / name.replace("/", "_"))
        else:
            print(f"left out: {name} is not below {SHARED}", file=sys.stderr)


def traces_of(client: Client) -> list[Query]:
    """`run`, `worker` and `span` of every trace."""
    return [
        {"run": run, "worker": worker, "span": span}
        for run in client.get("/runs").json["runs"]
        for worker in client.get(f"/workers?{urlencode({'run': run, 'view': 'Overview'})}").json
        for span in client.get(f"/spans?{urlencode({'run': run, 'worker': worker})}").json
    ]


def places_of(client: Client, trace: Query) -> dict[str, str]:
    """What stands for `{row}` and the like in `tests.openapi_requests`: the longest slice of a kind, or row 0."""

    def row(**query: str) -> str:
        answer = settled(client, f"/api/trace/slices?{urlencode(trace | query)}").json
        return str(next(iter(answer.get("rows", {}).get("row", ())), 0))

    return {
        "row": row(category="operator"),
        "kernel": row(category="kernel"),
        "collective": row(name="nccl", category="kernel"),
        "span": trace["span"],
        "shape": "[[2, 2], [2, 2]]",
    }


def settled(client: Client, url: str) -> Any:
    """The response, after what is being read was read."""
    last: list[Any] = []

    def is_settled() -> bool:
        last[:] = [client.get(url)]
        return last[0].status_code != 409

    wait_until(is_settled, url)
    return last[0]


def addresses(client: Client) -> Iterator[str]:
    """Every path with every request of `tests.openapi_requests`, about every trace or run where it names one."""
    traces = traces_of(client)
    places = {trace["run"]: places_of(client, trace) for trace in reversed(traces)}
    for path in sorted(set(ROUTES) - LEFT_OUT):
        urls: dict[str, None] = {}
        for request in requests_to(path):
            for trace in traces if "run" in request else ({},):
                about = {key: value for key, value in trace.items() if key in request or key == "span"}
                if "worker" not in request:
                    about.pop("span", None)
                query = fill(request, places[trace["run"]] if trace else {}) | about
                urls[f"{path}?{urlencode(query)}" if query else path] = None
        yield from urls


def commands(logs: Path) -> Iterator[list[str]]:
    """What is typed behind `torch-tb-profiler`."""
    runs = sorted(path for path in logs.iterdir() if path.is_dir())
    for run in runs:
        if any(run.rglob("*.pickle")):
            yield from (["memory", str(run), *form] for form in ((), ("--json",)))
            continue
        for name in ("summary", "health", *COMMANDS):
            yield from ([name, str(run), *form] for form in ((), ("--json",)))
    for before, after in itertools.pairwise(runs):
        yield ["compare", str(before), str(after), "--json"]


def split(value: Any, texts: list[str], is_text: bool = False) -> Any:
    """`value` without its texts, which are appended to `texts`."""
    if isinstance(value, dict):
        return {
            key: "" if key == IDENTITY else split(part, texts, is_text or key in TEXT_KEYS)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [split(part, texts, is_text) for part in value]
    if isinstance(value, str) and is_text:
        texts.append(value)
        return ""
    return value


def digests(body: bytes) -> tuple[str, str]:
    """Of the values and of the texts; an answer that is not JSON counts as a value as a whole."""
    texts: list[str] = []
    try:
        values = json.dumps(split(json.loads(body), texts)).encode()
    except ValueError:
        values = body
    return _digest(values), _digest("\n".join(texts).encode())


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=8).hexdigest()


def every_answer(workspace: Workspace, logs: Path) -> Iterator[tuple[str, bytes]]:
    """Address or command line, and what it answers, without the folder of this run."""
    client = client_of(workspace)
    for url in addresses(client):
        response = settled(client, url)
        yield url, b"%d " % response.status_code + response.data if response.status_code != 200 else response.data
    for words in commands(logs):
        out, said = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
            code = command([*words, "--quiet"])
        body = out.getvalue() if code == 0 else f"{code} {out.getvalue()}{said.getvalue()}"
        yield " ".join(words).replace(str(logs), "LOGS"), body.replace(str(logs), "LOGS").encode()


def record(out: Path) -> None:
    """Write `digests.json` and `answers.zip`."""
    out.mkdir(parents=True, exist_ok=True)
    recorded: dict[str, tuple[str, str]] = {}
    archive = zipfile.ZipFile(out / "answers.zip", "w", zipfile.ZIP_DEFLATED)
    with tempfile.TemporaryDirectory() as folder, archive:
        logs, cache = Path(folder) / "logs", Path(folder) / "cache"
        write_logs(logs)
        os.environ[DIRECTORY_VARIABLE] = str(cache)
        with everything_read(logs, cache) as workspace:
            for name, body in every_answer(workspace, logs):
                recorded[name] = digests(body)
                archive.writestr(_member(name), body)
    (out / "digests.json").write_text(json.dumps(recorded, indent=0))
    print(f"{len(recorded)} answers: {out}")


def _member(name: str) -> str:
    """Name of an answer in `answers.zip`: an address is no path."""
    return name.replace("/", "\\")


def places_that_differ(before: Any, after: Any, at: str = "") -> Iterator[str]:
    """Paths into two JSON values, with what stands there."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in (key for key in {**before, **after} if key != IDENTITY):
            yield from places_that_differ(before.get(key), after.get(key), f"{at}.{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from places_that_differ(one, other, f"{at}[{number}]")
    elif before != after or type(before) is not type(after):
        yield f"{at or '.'}: {json.dumps(before)[:160]} -> {json.dumps(after)[:160]}"


def compare(before: Path, after: Path, most: int = 4) -> int:
    """Print what differs; how many answers do."""
    old, new = (json.loads((folder / "digests.json").read_text()) for folder in (before, after))
    count = 0
    with zipfile.ZipFile(before / "answers.zip") as first, zipfile.ZipFile(after / "answers.zip") as second:
        for name in {**old, **new}:
            if old.get(name) == new.get(name):
                continue
            count += 1
            if name not in old or name not in new:
                print(f"{name}: only {'before' if name in old else 'after'}")
                continue
            changed = zip(("values", "texts"), old[name], new[name], strict=True)
            print(f"{name}: {' and '.join(kind for kind, was, is_now in changed if was != is_now)}")
            for line in _difference(first.read(_member(name)), second.read(_member(name)))[:most]:
                print(f"    {line}")
    print(f"{count} of {len({**old, **new})} answers differ")
    return count


def _difference(before: bytes, after: bytes) -> list[str]:
    try:
        return list(places_that_differ(json.loads(before), json.loads(after)))
    except ValueError:
        pass
    try:
        pairs = zip(before.decode().splitlines(), after.decode().splitlines(), strict=False)
    except UnicodeDecodeError:
        return [f"{len(before)} and {len(after)} bytes"]
    return [f"{one!r} -> {other!r}" for one, other in pairs if one != other]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--against", type=Path)
    arguments = parser.parse_args()
    record(arguments.out)
    return 1 if arguments.against and compare(arguments.against, arguments.out) else 0


if __name__ == "__main__":
    sys.exit(main())
