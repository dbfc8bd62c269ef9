"""What notebooks show, in a page of another origin as a notebook is: cards, tables, the page live and as one file."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import torch_tb_profiler
from tests.browser.conftest import OpenPage, screenshot
from tests.browser.profiler import GPU_RUN
from tests.planted import hostile_events as hostile
from tests.planted import write_events

MARKUP = "<img src=stolen onerror=alert(1)></td></table><script>alert(2)</script>{a|b}"
LOOKS = {"light": "background:#fff;color:#222", "dark": "background:#111;color:#ddd"}

Notebook = Callable[..., Page]


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Requests are not told."""


@pytest.fixture
def notebook(open_page: OpenPage, tmp_path: Path) -> Iterator[Notebook]:
    """`notebook(*outputs, look="light")`: a page with these outputs below one another."""
    folder = tmp_path / "pages"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Silent, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()

    def shown(*outputs: str, look: str = "light") -> Page:
        cells = "".join(f'<section style="margin:12px">{each}</section>' for each in outputs)
        head = '<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,">'
        style = f"{LOOKS[look]};color-scheme:{look};font-family:sans-serif"
        text = f'{head}<title>Notebook</title><body style="{style}">{cells}'
        (folder / f"{look}.html").write_text(text, "utf-8")
        page = open_page(color_scheme=look)
        page.goto(f"http://127.0.0.1:{server.server_port}/{look}.html")
        return page

    yield shown
    server.shutdown()
    server.server_close()
    thread.join(10)


@pytest.mark.parametrize("look", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_cards_and_tables(look: str, notebook: Notebook, samples: Path, tmp_path: Path, output: Path) -> None:
    """Markup in names is text, nothing is wider than the page, and what is said is there."""
    write_events(
        tmp_path / "logs" / "run", [{**each, "name": MARKUP} if "aten" in each["name"] else each for each in hostile()]
    )
    profile = torch_tb_profiler.open(samples, cache_dir=tmp_path / "cache")
    trace = profile.run(GPU_RUN).trace(worker="rank0")
    other = torch_tb_profiler.open(tmp_path / "logs", cache_dir=tmp_path / "cache").trace()
    shown = (profile, trace, trace.operators(), trace.kernels(), other, other.operators())
    page = notebook(*(each._repr_html_() for each in shown), look=look)
    expect(page.get_by_text("The host waits for the device in aten::item")).to_be_visible()
    expect(page.get_by_role("img", name="Where the average step goes")).to_have_count(2)
    assert page.locator("section img, section script").count() == 0
    expect(page.get_by_role("cell", name="onerror=alert(1)").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    screenshot(page, output, f"notebook-cards-{look}")


@pytest.mark.parametrize("look", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_the_page_live_in_a_frame(look: str, notebook: Notebook, samples: Path, tmp_path: Path, output: Path) -> None:
    trace = torch_tb_profiler.open(samples, cache_dir=tmp_path / "cache").run(GPU_RUN).trace(worker="rank0")
    frame = trace.show("kernels", height=600)
    page = notebook(frame._repr_html_(), look=look)
    inside = page.frame_locator("iframe")
    expect(inside.get_by_role("row").filter(has_text="nvjet_tst").first).to_be_visible()
    inside.get_by_role("link", name="Overview").first.click()
    expect(inside.get_by_text("The host waits for the device in aten::item").first).to_be_visible()
    screenshot(page, output, f"notebook-live-{look}")


def test_the_page_as_one_file_in_a_frame(notebook: Notebook, samples: Path, tmp_path: Path, output: Path) -> None:
    trace = torch_tb_profiler.open(samples, cache_dir=tmp_path / "cache").run(GPU_RUN).trace(worker="rank0")
    page = notebook(trace.show(height=700, static=True)._repr_html_())
    inside = page.frame_locator("iframe")
    expect(inside.get_by_text("The host waits for the device in aten::item").first).to_be_visible()
    assert page.locator("iframe").get_attribute("sandbox") == "allow-scripts allow-downloads allow-popups"
    screenshot(page, output, "notebook-one-file")
