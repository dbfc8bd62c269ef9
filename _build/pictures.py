"""The pictures of the documentation: python _build/pictures.py FOLDER. A browser looks at a server over the samples.

`make docs` puts them into the site. That of the README is in the repository:
`python _build/pictures.py docs/pictures overview`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

import browser

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parent.parent
SIZE = {"width": 1280, "height": 800}
_BASELINE = "cnn_workers0~worker0~1"
_RANKS = {"v": "distributed", "r": "generated_64gpu"}


class Picture(NamedTuple):
    """state: of the address; seen: what must be seen before it is taken; panel: of this only, else of the window."""

    state: dict[str, str]
    seen: str
    panel: str | None = None

    @property
    def runs(self) -> set[str]:
        """Of samples/ and examples/: the one that is shown, and the one it is compared with."""
        return {self.state["r"], self.state.get("b", self.state["r"]).partition("~")[0]}


PICTURES = {
    "overview": Picture({"r": "generated_4gpu_h100", "k": "rank2"}, "This (run|rank) is"),
    "input-bound": Picture({"r": "cnn_workers0"}, "This run is input-bound"),
    "what-if": Picture({"v": "criticalpath", "r": "cnn_workers0", "w": "data:0"}, "What if", "What if"),
    "loader-in-trace": Picture({"v": "trace", "r": "cnn_workers0", "q": "DataLoader"}, "Timeline"),
    "compared": Picture({"v": "compare", "r": "cnn_workers2", "k": "worker0", "b": _BASELINE}, "Parts"),
    "compute-bound": Picture({"r": "cnn_workers2"}, "This run is compute-bound"),
    "many-ranks": Picture(_RANKS, "2 ranks are slow"),
    "ranks-and-steps": Picture(_RANKS, "Ranks × steps", "Ranks × steps"),
    "pipeline-stages": Picture(_RANKS, "Pipeline stages", "Pipeline stages, step 12"),
    "hang": Picture({"v": "hang", "r": "hang"}, "Rank 2 stopped"),
    "operators": Picture({"v": "operators", "r": "cnn_workers2"}, "aten::"),
}


def names_in(page: str) -> list[str]:
    """The pictures that a page shows."""
    return re.findall(r"!\[[^\]]*\]\([\w/.]*pictures/([\w-]+)\.png\)", page)


@contextmanager
def served(logs: Path, cache: Path) -> Iterator[str]:
    """The address of a server that has read everything."""
    command = [sys.executable, "-u", "-m", "torch_tb_profiler", "serve", str(logs), "--port", "0"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            said = iter(process.stdout.readline, "")
            address = next(found[0] for line in said if (found := re.search(r"http://[\w.:]+/", line)))
            _wait_for_traces(address)
            yield address
        finally:
            process.terminate()


def _wait_for_traces(address: str) -> None:
    end = time.monotonic() + 300
    while time.monotonic() < end:
        with urllib.request.urlopen(f"{address}api/status", timeout=20) as answer:
            runs = json.load(answer)["runs"]
        if runs and all(trace["state"] in {"ready", "failed"} for run in runs for trace in run["traces"]):
            return
        time.sleep(0.2)
    raise TimeoutError("the samples are not read after five minutes")


def take(page: Page, address: str, name: str, folder: Path) -> None:
    """One picture, when all that loads has come."""
    picture = PICTURES[name]
    page.goto("about:blank")
    page.goto(f"{address}#{urlencode(picture.state)}")
    page.get_by_text(re.compile(picture.seen)).first.wait_for(state="visible")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)  # charts are drawn anew when their place has had its width for a moment
    part = page.get_by_role("region", name=picture.panel, exact=True) if picture.panel else page
    part.screenshot(path=folder / f"{name}.png", animations="disabled")


def main() -> int:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    names = sys.argv[2:] or list(PICTURES)
    with tempfile.TemporaryDirectory() as work:
        logs = Path(work) / "samples"
        for run in {run for name in names for run in PICTURES[name].runs}:
            sources = [ROOT / "samples" / run, ROOT / "examples" / run]
            shutil.copytree(next(filter(Path.is_dir, sources)), logs / run)
        with served(logs, Path(work) / "cache") as address, browser.launched([]) as chromium:
            context = chromium.new_context(viewport=SIZE, color_scheme="light", locale="en-US", reduced_motion="reduce")
            page = context.new_page()
            for name in names:
                take(page, address, name, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
