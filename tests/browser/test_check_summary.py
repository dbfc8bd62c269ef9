"""The summary that `check` writes, as a browser shows it: names of a trace are text, and the tables are tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tests.browser.conftest import OpenPage
from tests.gate_pairs import KERNEL, config, write
from torch_tb_profiler.cli import main

HOSTILE = "`code` | cell | <script>window.ran = 1</script><img src=x onerror='window.ran = 1'> [a](javascript:1) @all"

STYLE = """<meta charset="utf-8"><style>
:root { color-scheme: light dark; font: 14px sans-serif; background: Canvas; color: CanvasText }
body { max-width: 1000px; margin: 24px auto } table { border-collapse: collapse; margin: 12px 0 }
td, th { border: 1px solid #8888; padding: 4px 8px } code { background: #8883; padding: 1px 4px }
</style>"""


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_a_summary_in_a_browser(
    scheme: str, open_page: OpenPage, tmp_path: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(config(1, steps=11), tmp_path / "base", HOSTILE)
    write(config(3, KERNEL, 1.3, steps=11), tmp_path / "new", HOSTILE)
    assert main(["check", "base", "new", "--cache-dir", "cache", "--format", "markdown", "-o", "summary.md"]) == 1
    # as GitHub does, but with every tag of HTML: the page must be safe without what GitHub removes
    rendered = MarkdownIt("commonmark", {"html": True}).enable("table").render((tmp_path / "summary.md").read_text())
    (tmp_path / "summary.html").write_text(STYLE + rendered, "utf-8")
    page = open_page(color_scheme=scheme)
    page.goto((tmp_path / "summary.html").as_uri())
    assert page.locator("h3").inner_text() == "Performance: failed"
    assert page.locator("table").count() == 3
    assert page.locator("script, img, a").count() == 0
    assert page.evaluate("window.ran") is None
    assert page.locator("code").get_by_text(HOSTILE, exact=True).count() == 1
    assert HOSTILE.replace("@", "@\u200b") in page.locator("p").first.inner_text()
    first = page.locator("table").first.locator("tbody tr").first
    assert first.locator("td").all_inner_texts()[:2] == ["FAIL", "device_busy"]
    page.screenshot(path=output / f"check-summary-{scheme}.png", full_page=True)
