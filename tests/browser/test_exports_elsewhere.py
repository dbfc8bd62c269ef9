"""What `export` writes, opened by the programs that it is for."""

from __future__ import annotations

import functools
import json
import os
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import browser as chromium
import torch_tb_profiler
from torch_tb_profiler.cli import main

SPEEDSCOPE = Path(__file__).parents[1] / "storage" / "servers" / "node_modules" / "speedscope" / "dist" / "release"
#: Perfetto's reader; its Python package fetches it from the network
TRACE_PROCESSOR = os.environ.get("TRACE_PROCESSOR_SHELL") or shutil.which("trace_processor_shell")

#: it draws with WebGL, which a machine without a graphics card has in software
DRAWING = ["--use-gl=swiftshader", "--enable-webgl", "--ignore-gpu-blocklist"]


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Silent, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.skipif(not SPEEDSCOPE.is_dir(), reason="make .venv/.stamp-servers installs speedscope")
def test_speedscope_reads_the_stacks(samples: Path, tmp_path: Path, chrome: Browser) -> None:
    """Its table has the frame of each name with the time that the trace says."""
    site = tmp_path / "site"
    shutil.copytree(SPEEDSCOPE, site)
    file = site / "stacks.speedscope.json"
    assert main(["export", str(samples / "cnn_workers0"), "-o", str(file)]) == 0
    found = json.loads(file.read_text("utf-8"))
    profile = found["profiles"][0]
    self_ns: Counter[int] = Counter()
    for sample, weight in zip(profile["samples"], profile["weights"], strict=True):
        self_ns[sample[-1]] += weight
    ((largest, own),) = self_ns.most_common(1)
    total = sum(
        weight for sample, weight in zip(profile["samples"], profile["weights"], strict=True) if largest in sample
    )
    name = found["shared"]["frames"][largest]["name"]
    with served(site) as url, chromium.launched_by(chrome.browser_type, DRAWING) as started:
        page = started.new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.goto(f"{url}/index.html#profileURL=stacks.speedscope.json")
        page.get_by_text("Sandwich").click()
        row = page.get_by_role("row").filter(has=page.get_by_role("cell", name=name, exact=True)).first
        expect(row).to_contain_text(f"{total / 1e6:.2f}ms")
        expect(row).to_contain_text(f"{own / 1e6:.2f}ms")
    assert "Importing as speedscope json file" in said


@pytest.mark.skipif(TRACE_PROCESSOR is None, reason="TRACE_PROCESSOR_SHELL names no trace_processor_shell")
def test_perfetto_reads_a_cut_trace(samples: Path, tmp_path: Path) -> None:
    perfetto = pytest.importorskip("perfetto.trace_processor", reason="the package perfetto is not installed")
    file = tmp_path / "cut.pt.trace.json.gz"
    assert main(["export", str(samples / "cnn_workers0"), "--steps", "3:4", "-o", str(file)]) == 0
    kept = torch_tb_profiler.open(file).trace()
    config = perfetto.TraceProcessorConfig(bin_path=TRACE_PROCESSOR)
    with perfetto.TraceProcessor(trace=str(file), config=config) as read:
        (counted,) = read.query("select count(*) as n from slice where name glob 'aten::*'")
        (broken,) = read.query("select count(*) as n from stats where severity = 'error' and value > 0")
    assert broken.n == 0
    assert counted.n == sum(kept.answer("operators").values["calls"])
