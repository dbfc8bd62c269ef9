"""Real servers over the samples, a Chromium to look at them, and an eye on what the pages do meanwhile.

Every page of every test is watched: it must ask no other machine for anything, raise no uncaught error, open no dialog
and violate no content security policy. Screenshots go to .ci/output/screenshots: one of every page whose test failed,
and with PICTURES=1 in the environment those for people, which a test asks for with `keep(name)`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

import browser as chromium
from tests.browser import bidi
from tests.browser.axe import Axe
from tests.browser.profiler import CPU_RUN, Profiler
from tests.browser.profiles import ARGUMENTS, Profiles, page_of
from tests.browser.servers import Server
from tests.browser.watch import Watch

CHROMIUM_ARGUMENTS = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
    *ARGUMENTS,
]
HERE = Path(__file__).parent
#: whether people want pictures, each of which costs as much as turning to another view
PICTURES = bool(os.environ.get("PICTURES"))
#: themes of a test whose theme is for its pictures alone; what a theme may break, axe and test_pictures look at in both
PICTURED = ["light", "dark"] if PICTURES else ["light"]
# For a busy machine: three times what is usual.
expect.set_options(timeout=15_000)
FAILED = pytest.StashKey[bool]()

StartServer = Callable[..., Server]
OpenPage = Callable[..., Page]
Keep = Callable[[str], None]
Appearances = Iterator[tuple[int, str]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if "axe" in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.axe)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


# ---- servers


@pytest.fixture(scope="session")
def start_for_all(output: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartServer]:
    """`start(name, module, *arguments)`, for servers that live as long as the session; see `servers.Server`."""
    yield from _starter(output, tmp_path_factory.mktemp("cache"))


@pytest.fixture
def start(output: Path, tmp_path: Path) -> Iterator[StartServer]:
    """The same for servers of one test."""
    yield from _starter(output, tmp_path / "cache")


def _starter(output: Path, cache: Path) -> Iterator[StartServer]:
    def start(
        name: str, module: str, *arguments: str, environment: Mapping[str, str] | None = None, **options: Any
    ) -> Server:
        # Traces are really read, not taken from the cache of an earlier run.
        surroundings = {"XDG_CACHE_HOME": str(cache), **(environment or {})}
        server = Server(module, arguments, output / f"{name}.log", surroundings, **options)
        running.callback(server.stop)
        server.start()
        return server

    with ExitStack() as running:
        yield start


@pytest.fixture(scope="session")
def tensorboard(start_for_all: StartServer, samples: Path) -> Server:
    """A TensorBoard over the samples, which are all read."""
    server = start_for_all("tensorboard", "tensorboard.main", "--logdir", str(samples))
    server.wait_for_traces()
    server.run = CPU_RUN
    return server


@pytest.fixture(scope="session")
def alone(start_for_all: StartServer, samples: Path) -> Server:
    """The server without TensorBoard over the samples, which are all read."""
    server = start_for_all("alone", "torch_tb_profiler", "serve", str(samples))
    server.wait_for_traces()
    server.run = CPU_RUN
    return server


@pytest.fixture
def serve_logs(start: StartServer, request: pytest.FixtureRequest) -> Callable[[Path], Server]:
    """`serve_logs(folder)`: a server without TensorBoard over a folder of the test's own."""
    return lambda folder: start(request.node.name, "torch_tb_profiler", "serve", str(folder))


# ---- pages


@pytest.fixture(scope="session")
def chrome() -> Iterator[Browser]:
    with chromium.launched(CHROMIUM_ARGUMENTS) as started:
        yield started


@pytest.fixture(scope="session")
def profiles(chrome: Browser) -> Profiles:
    return Profiles(chrome)


@pytest.fixture
def watch() -> Watch:
    """What the pages of this test did that they must not do; looked at when the test has ended."""
    return Watch()


@pytest.fixture
def open_page(profiles: Profiles, output: Path, watch: Watch, request: pytest.FixtureRequest) -> Iterator[OpenPage]:
    """`open_page(**options)`: a page of a browser profile in which nothing was done; options as of
    `browser.new_context`.
    """
    lent: list[BrowserContext] = []
    pages: list[Page] = []

    def open_one(**options: Any) -> Page:
        context = profiles.lend(**options)
        lent.append(context)
        watch.follow(context)
        pages.append(page_of(context, **options))
        pages[-1].set_default_timeout(20_000)
        return pages[-1]

    yield open_one
    failed = request.node.stash.get(FAILED, False)
    if failed:
        for number, page in enumerate(pages):
            _take(page, output, f"failed-{request.node.name}-{number}")
            (output / f"{file_name(f'failed-{request.node.name}-{number}')}.txt").write_text(watch.waiting(page))
    for context in lent:
        watch.leave(context)
        profiles.give_back(context, watch.requests, not failed)
    watch.check()


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    return open_page()


@pytest.fixture
def in_tensorboard(page: Page, tensorboard: Server) -> Profiler:
    """The plugin in TensorBoard, not opened yet."""
    return Profiler(page, tensorboard)


@pytest.fixture
def on_its_own(page: Page, alone: Server) -> Profiler:
    """The page of the server without TensorBoard, not opened yet."""
    return Profiler(page, alone)


@pytest.fixture
def axe(on_its_own: Profiler) -> Axe:
    """Looks at a page of the server without TensorBoard, not opened yet."""
    return Axe(on_its_own)


@pytest.fixture
def firefox(tmp_path: Path) -> Iterator[bidi.Firefox]:
    """A Firefox of its own, watched as the pages of Chromium are."""
    started = bidi.Firefox(bidi.executable() or "", tmp_path / "profile")
    yield started
    started.close()
    elsewhere = {
        url
        for url in started.requests
        if urlsplit(url).scheme.startswith(("http", "ws")) and urlsplit(url).hostname != "127.0.0.1"
    }
    assert elsewhere == set(), "the page asked another machine"
    assert started.errors == []


def screenshot(opened: Page, output: Path, name: str) -> None:
    """For people, where they want it."""
    if PICTURES:
        _take(opened, output, name)


def _take(opened: Page, output: Path, name: str) -> None:
    folder = output / "screenshots"
    folder.mkdir(exist_ok=True)
    opened.screenshot(path=folder / f"{file_name(name)}.png")


def file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name)


@pytest.fixture
def keep(page: Page, output: Path) -> Keep:
    """`keep(name)`: a picture of the page for people, .ci/output/screenshots/<name>.png; see `screenshot`."""
    return lambda name: screenshot(page, output, name)


@pytest.fixture(params=PICTURED)
def appearances(request: pytest.FixtureRequest, page: Page) -> Appearances:
    """Width and theme in which pictures of a view are taken; the page has them when they come."""

    def all_widths() -> Appearances:
        page.emulate_media(color_scheme=request.param)
        for width in (1280, 1920):
            page.set_viewport_size({"width": width, "height": 1000})
            yield width, request.param

    return all_widths()
