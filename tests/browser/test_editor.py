"""Inside VS Code a frame of a call stack opens in the editor; elsewhere its path can be copied.

VS Code shows TensorBoard in a sandboxed frame of a web view, which listens for messages. A page with the same frame
and the same listener stands in for it here; in the browser's own VS Code such a page has an address of this kind.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, FrameLocator, Page, Route, expect

import browser as chromium
from tests.browser.conftest import CHROMIUM_ARGUMENTS, OpenPage, screenshot
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler
from tests.browser.servers import Server
from tests.browser.watch import Watch

WEB_VIEW = "https://0h1abc.vscode-cdn.net/webview"
OTHER = "https://notebook.example.com/embed"
SANDBOX = "allow-scripts allow-forms allow-same-origin allow-pointer-lock"
OPERATOR = "aten::addmm"


class Embedded(Profiler):
    """The plugin in TensorBoard in a frame of somebody else's page."""

    def __init__(self, page: Page, server: Server) -> None:
        super().__init__(page, server)
        self.ui: FrameLocator = page.frame_locator("#tensorboard").frame_locator("iframe")

    @property
    def messages(self) -> list[Any]:
        found: list[Any] = self.page.evaluate("received")
        return found


@pytest.fixture
def lasting(chrome: Browser, tmp_path: Path, watch: Watch) -> Iterator[BrowserContext]:
    """A profile such as people have, not a private window: there a frame of another site has no storage, and
    TensorBoard does not even start. The check left out is asked of the user, once, by browsers newer than VS Code's.
    """
    context = chrome.browser_type.launch_persistent_context(
        tmp_path / "profile",
        executable_path=chromium.executable(),
        args=[*CHROMIUM_ARGUMENTS, "--disable-features=LocalNetworkAccessChecks"],
        chromium_sandbox=chromium.has_sandbox(),
        viewport={"width": 1440, "height": 900},
    )
    watch.follow(context)
    yield context
    context.close()


@pytest.fixture
def embed(lasting: BrowserContext, tensorboard: Server, watch: Watch, output: Path) -> Iterator[Any]:
    """`embed(address of the page around, **state)`."""

    def open_in(outer: str, **state: str) -> Embedded:
        page = lasting.pages[0]
        page.set_default_timeout(20_000)
        profiler = Embedded(page, tensorboard)
        document = f"""<!doctype html><title>embedder</title>
            <script>
              const received = [];
              const address = {json.dumps(tensorboard.address)};
              addEventListener("message", (event) => {{
                // As the extension does it: from TensorBoard only, and both parts must be there.
                if (!address.startsWith(event.origin)) return;
                const {{ filename, line }} = event.data;
                if (filename && line) received.push({{ filename, line }});
              }});
            </script>
            <iframe id="tensorboard" sandbox="{SANDBOX}" src="{profiler.link(**state).replace("&", "&amp;")}"
                    style="position: fixed; inset: 0; width: 100%; height: 100%; border: 0"></iframe>"""

        def answer(route: Route) -> None:
            route.fulfill(body=document, content_type="text/html")

        page.route(outer, answer)
        page.goto(outer)
        expect(profiler.ui.get_by_role("navigation", name="Views")).to_be_visible()
        return profiler

    yield open_in
    screenshot(lasting.pages[-1], output, "embedded")
    # The page around is not ours, and was never really asked for.
    watch.elsewhere = [url for url in watch.elsewhere if url not in (WEB_VIEW, OTHER)]
    watch.check()


def open_frames(profiler: Profiler) -> None:
    grid = profiler.grid("Operators")
    grid.filter.fill(f'name="{OPERATOR}"')
    grid.first_row.get_by_role("button", name="Show details").click()
    expect(grid.root.get_by_role("heading", name="Call stacks")).to_be_visible()


def recorded_frames(server: Server) -> list[tuple[str, int]]:
    """File and line of the frames of the first stack."""
    rows = server.api("operators/stacks", run=CPU_RUN, worker="worker0", name=OPERATOR)["rows"]
    frames = []
    for text in rows["call_stack"][0].split("\n"):
        head, found, _ = text.partition("): ")
        file, bracket, line = head.rpartition("(")
        if found and bracket and line.isdigit():
            frames.append((file, int(line)))
    return frames


def copy_place(profiler: Profiler) -> str:
    """Clicks on the first frame, which is not a link here; file:line."""
    open_frames(profiler)
    file, line = recorded_frames(profiler.server)[0]
    place = f"{file}:{line}"
    link = profiler.ui.locator("button.frame").first
    expect(link).to_have_attribute("title", f"Copy {place}")
    link.click()
    expect(profiler.ui.get_by_text("Copied", exact=True)).to_be_visible()
    return place


def test_a_frame_opens_in_vs_code(embed: Any, tensorboard: Server) -> None:
    profiler = embed(WEB_VIEW, v="operators", r=CPU_RUN)
    open_frames(profiler)
    recorded = recorded_frames(tensorboard)
    assert len(recorded) > 1
    links = profiler.ui.locator("button.frame[title^='Open ']")
    expect(links.first).to_be_visible()
    for at, (file, line) in enumerate(recorded[:3]):
        links.nth(at).click()
        profiler.page.wait_for_function("(n) => received.length === n", arg=at + 1)
        assert profiler.messages[at] == {"filename": file, "line": max(1, line - 1)}


def test_the_first_line_is_not_lost(embed: Any) -> None:
    """The extension takes line 0 for none and does nothing, so the first line opens at the second."""

    profiler = embed(WEB_VIEW, v="overview", r=CPU_RUN)
    answer = profiler.server.api("operators/stacks", run=CPU_RUN, worker="worker0", name=OPERATOR)
    answer["rows"]["call_stack"][0] = "/src/a.py(1): <module>"
    profiler.page.route("**/api/operators/stacks*", lambda route: route.fulfill(json=answer))
    profiler.go_to("operators")
    open_frames(profiler)
    profiler.ui.get_by_role("button", name="/src/a.py(1): <module>").first.click()
    profiler.page.wait_for_function("received.length === 1")
    assert profiler.messages == [{"filename": "/src/a.py", "line": 1}]


def test_what_the_sandbox_forbids_is_offered_otherwise(embed: Any) -> None:
    profiler = embed(WEB_VIEW, v="operators", r=GPU_RUN)
    grid = profiler.grid("Operators")
    expect(grid.count).to_be_visible()
    grid.panel.get_by_role("button", name="Export").click()
    expect(grid.panel.get_by_role("button", name="Copy as CSV")).to_be_visible()
    expect(grid.panel.get_by_role("button", name="Save as")).to_have_count(0)
    profiler.page.keyboard.press("Escape")
    expect(profiler.panel("Largest operators").get_by_role("button", name="Save as PNG")).to_have_count(0)

    grid.panel.get_by_role("button", name="Copy", exact=True).click()
    expect(grid.panel.get_by_text("rows copied")).to_be_visible()

    # Addresses of other pages: to be read, since no window opens.
    profiler.go_to("overview")
    profiler.choose("Run", CPU_RUN)
    findings = profiler.panel("Most important findings")
    findings.get_by_role("button", name="Details").first.click()
    expect(findings.locator("code").filter(has_text="https://").first).to_be_visible()
    expect(findings.get_by_role("link")).to_have_count(0)

    # The sandbox is no reason not to have a palette, which is a dialog, or links to views.
    profiler.heading("Overview").click()
    profiler.page.keyboard.press("Control+k")
    expect(profiler.ui.get_by_role("combobox", name="Go to or do anything")).to_be_focused()
    profiler.page.keyboard.type("health")
    profiler.page.keyboard.press("Enter")
    expect(profiler.heading("Trace health")).to_be_visible()


def test_in_a_browser_the_place_is_copied(open_page: OpenPage, tensorboard: Server) -> None:
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    profiler = Profiler(page, tensorboard).open(v="operators", r=CPU_RUN)
    place = copy_place(profiler)
    assert page.evaluate("navigator.clipboard.readText()") == place


def test_another_page_around_learns_no_paths(embed: Any) -> None:
    profiler = embed(OTHER, v="operators", r=CPU_RUN)
    copy_place(profiler)
    assert profiler.messages == []
