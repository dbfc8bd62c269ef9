"""Pictures of every view for people to look at, in light and dark and two widths, and what a program sees in them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import StartServer, screenshot
from tests.browser.layout import faults
from tests.browser.profiler import CPU_RUN, GPU_RUN, VIEWS, Profiler
from tests.browser.test_themes import has_come, is_dark
from tests.recorded import recorded
from tests.tiny import wait_until

LOOKS: tuple[tuple[Literal["light", "dark"], int], ...] = (("light", 1280), ("dark", 1920))
HEIGHTS = (900, 3000)
"""As high as the view is, within these."""
REAL = [
    "HTA/nccl_a100_rank0_of_2",
    "kineto/resnet50_num_workers_0",
    "TraceLens/bert_small_h100",
    "TraceLens/bert_small_mi300x",
    "param/dlrm_v100_8ranks",
]


def look_at_every_view(profiler: Profiler, name: str, output: Path) -> list[str]:
    """Pictures of what is open, and what is wrong with them."""
    page = profiler.page
    found: list[str] = []
    for view in VIEWS:
        profiler.go_to(view)
        for theme, width in LOOKS:
            page.emulate_media(color_scheme=theme)
            page.set_viewport_size({"width": width, "height": HEIGHTS[0]})
            has_come(profiler, view)
            below = page.locator(".main").evaluate("(main) => main.scrollHeight - main.clientHeight")
            page.set_viewport_size({"width": width, "height": min(HEIGHTS[0] + below, HEIGHTS[1])})
            wait_until(lambda: is_dark(profiler) == (theme == "dark"), f"the {theme} theme")  # noqa: B023
            page.wait_for_timeout(150)  # charts are drawn anew once their place has had its width for a moment
            screenshot(page, output, f"{name}-{view}-{width}-{theme}")
            found += [f"{view} at {width}: {fault}" for fault in faults(profiler.ui)]
    return found


@pytest.mark.long
@pytest.mark.parametrize("run", [GPU_RUN, CPU_RUN])
def test_samples(run: str, on_its_own: Profiler, output: Path) -> None:
    found = look_at_every_view(on_its_own.open(r=run), run, output)
    assert not found, "\n".join(found)


@pytest.mark.long
@pytest.mark.parametrize("folder", REAL)
def test_real_traces(folder: str, start: StartServer, page: Page, output: Path) -> None:
    server = start(Path(folder).name, "torch_tb_profiler", "serve", str(recorded(folder)))
    server.wait_for_traces()
    found = look_at_every_view(Profiler(page, server).open(), Path(folder).name, output)
    assert not found, "\n".join(found)


def test_the_look_sees_what_it_looks_for(on_its_own: Profiler) -> None:
    on_its_own.page.set_viewport_size({"width": 1440, "height": 2600})
    on_its_own.open(r=GPU_RUN, x="all")
    panel = on_its_own.panel("Configuration")
    expect(panel).to_be_visible()
    assert faults(on_its_own.ui) == []
    panel.evaluate(
        """(panel) => {
            const texts = document.createElement("div");
            texts.style.cssText = "height: 60px";
            for (const style of [
                "width: 20px; overflow: hidden; white-space: nowrap; margin: 0",
                "margin: 0",
                "margin: -1em 0 0",
            ]) {
                const text = document.createElement("p");
                text.style.cssText = style;
                text.textContent = `text ${texts.children.length}`;
                texts.append(text);
            }
            panel.querySelector(".panel-body").prepend(texts);
            panel.style.width = "3000px";
        }"""
    )
    found = "\n".join(faults(on_its_own.ui))
    for fault in ("wider than what it is in", 'cut: <p class=""> text 0', 'over "text 1"'):
        assert fault in found
