"""The tab of the plugin opens in TensorBoard."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable

from playwright.sync_api import Page, expect


def test_tensorboard_lists_the_plugin(tensorboard: str) -> None:
    with urllib.request.urlopen(tensorboard + "data/plugins_listing", timeout=20) as answer:
        listing = json.load(answer)
    plugin = listing["pytorch_profiler"]
    assert plugin["enabled"], "must be active before the first scan has ended: TensorBoard asks only once"
    assert plugin["loading_mechanism"]["type"] == "IFRAME"
    assert plugin["tab_name"].upper() == "PYTORCH_PROFILER", "TensorBoard writes it in capitals"


def test_the_tab_shows_the_ui(tensorboard: str, page: Page, keep: Callable[[str], None]) -> None:
    page.goto(tensorboard + "#pytorch_profiler")
    body = page.frame_locator("iframe").locator("body")
    expect(body).to_contain_text("Overview")
    keep("tab")
