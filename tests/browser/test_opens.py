"""The page opens: as a tab of TensorBoard, under a path prefix, and on its own."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Keep, StartServer, screenshot
from tests.browser.profiler import GPU_RUN, VIEWS, Profiler
from tests.browser.proxy import behind_a_proxy
from tests.browser.servers import Server
from tests.browser.test_themes import has_come, is_dark
from tests.browser.watch import Watch


def test_tensorboard_lists_the_plugin(tensorboard: Server) -> None:
    plugin = tensorboard.first_answer["pytorch_profiler"]
    assert plugin["enabled"], "must be active before the first scan has ended: TensorBoard asks only once"
    assert plugin["loading_mechanism"]["type"] == "IFRAME"
    assert plugin["tab_name"].upper() == "PYTORCH_PROFILER", "TensorBoard writes it in capitals"


def test_the_tab_is_the_one_that_opens(tensorboard: Server, page: Page, keep: Keep) -> None:
    page.goto(tensorboard.address)
    expect(page.get_by_role("tab", name="PYTORCH_PROFILER")).to_have_attribute("aria-selected", "true")
    profiler = Profiler(page, tensorboard)
    expect(profiler.heading("Overview")).to_be_visible()
    has_come(profiler, "overview")
    keep("tab")


def test_below_a_path_prefix(start: StartServer, samples: Path, page: Page) -> None:
    server = start(
        "prefix",
        "tensorboard.main",
        *("--logdir", str(samples / "cnn_workers2"), "--path_prefix", "/a/b"),
        prefix="/a/b",
    )
    server.wait_for_traces()
    profiler = Profiler(page, server).open()
    expect(profiler.panel("The median step").get_by_role("img")).to_be_visible()
    profiler.go_to("operators")
    expect(profiler.grid("Operators").count).to_be_visible()


@pytest.mark.parametrize("host", ["in_tensorboard", pytest.param("on_its_own", marks=pytest.mark.long)])
def test_behind_a_reverse_proxy(host: str, request: pytest.FixtureRequest, watch: Watch, output: Path) -> None:
    """Every view: what it asks for, and that it keeps to the content security policy, of which the watch tells."""
    direct: Profiler = request.getfixturevalue(host)
    with behind_a_proxy(direct.server) as server:
        profiler = Profiler(direct.page, server).open(r=GPU_RUN)
        for view in VIEWS:
            profiler.go_to(view)
            expect(profiler.ui.get_by_role("main").get_by_role("region").first).to_be_visible()
            profiler.loaded()
            expect(profiler.ui.get_by_role("alert")).to_have_count(0)
            has_come(profiler, view)
            assert not is_dark(profiler)
            screenshot(profiler.page, output, f"{host}-{view}-light")
        profiler.page.goto("about:blank")
    # TensorBoard asks for its own fonts from the root of its host.
    asked = {url for url in watch.requests if url.startswith("http") and "/font-roboto/" not in url}
    assert {url for url in asked if not url.startswith(server.address)} == set()
    paths = {urlsplit(url).path for url in asked}
    assert any(path.endswith("/api/overview") for path in paths)
    # A browser cannot hold the JSON of a large trace; what is asked for is answers about it.
    assert any(path.endswith("/api/kernels") for path in paths)
    assert not {path for path in paths if path.endswith("/trace")}
    assert watch.violations == []


def test_without_tensorboard(on_its_own: Profiler) -> None:
    on_its_own.open()
    expect(on_its_own.page).to_have_title("Overview – PyTorch Profiler")
    expect(on_its_own.panel("The median step").get_by_role("img")).to_be_visible()


@pytest.mark.parametrize("host", ["in_tensorboard", "on_its_own"])
def test_the_watch_sees_what_breaks_the_content_security_policy(
    host: str, request: pytest.FixtureRequest, watch: Watch
) -> None:
    profiler: Profiler = request.getfixturevalue(host)
    profiler.open(r=GPU_RUN)
    expect(profiler.ui.get_by_role("main").get_by_role("region").first).to_be_visible()
    assert watch.violations == []
    profiler.ui.locator("body").evaluate(
        "(body) => body.append(Object.assign(document.createElement('script'), { textContent: 'window.ran = 1' }))"
    )
    profiler.page.wait_for_timeout(100)
    assert any("script-src" in violation for violation in watch.violations)
    assert profiler.ui.locator("body").evaluate("() => window.ran") is None
    watch.violations.clear()


def test_the_page_of_the_server_has_a_strict_policy(alone: Server, page: Page) -> None:
    answer = page.goto(alone.address)
    assert answer is not None
    policy = answer.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe-eval" not in policy
    assert "script-src" not in policy, "scripts are under default-src 'self': no inline script runs"
