"""A real TensorBoard over the samples and a Chromium to look at it.

`page` fails its test when the page asked another machine for something. Screenshots go to
.ci/output/screenshots: those a test asks for with `keep(name)`, and one of every page whose test failed.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

import browser as chromium

CHROMIUM_ARGUMENTS = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
]
HERE = Path(__file__).parent
FAILED = pytest.StashKey[bool]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until_up(url: str, process: subprocess.Popen[bytes], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with exit status {process.returncode}; see .ci/output")
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise TimeoutError(f"{url} did not answer within {seconds} s; see .ci/output")


@pytest.fixture(scope="session")
def serve(output: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str]]:
    """Start a server: `serve(name, module, *arguments)` runs `python -m module arguments --host … --port …`.

    It gives the address back once the server answers; its log is .ci/output/<name>.log.
    """
    running: list[subprocess.Popen[bytes]] = []
    # Traces are really read, not taken from the cache of an earlier run.
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}

    def start(name: str, module: str, *arguments: str, probe: str = "") -> str:
        port = free_port()
        command = [sys.executable, "-m", module, *arguments, "--host", "127.0.0.1", "--port", str(port)]
        with (output / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
        running.append(process)
        address = f"http://127.0.0.1:{port}/"
        wait_until_up(address + probe, process)
        return address

    yield start
    for process in running:
        process.terminate()
    for process in running:
        process.wait(20)


@pytest.fixture(scope="session")
def tensorboard(serve: Callable[..., str], samples: Path) -> str:
    """Address of a TensorBoard over the samples."""
    return serve("tensorboard", "tensorboard.main", "--logdir", str(samples), probe="data/plugins_listing")


@pytest.fixture(scope="session")
def chrome() -> Iterator[Browser]:
    os.environ.update(chromium.playwright_settings())
    with sync_playwright() as playwright:
        sandbox = not hasattr(os, "geteuid") or os.geteuid() != 0
        started = playwright.chromium.launch(
            executable_path=chromium.executable(), args=CHROMIUM_ARGUMENTS, chromium_sandbox=sandbox
        )
        yield started
        started.close()


@pytest.fixture
def page(chrome: Browser, output: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A fresh page; its test fails on uncaught errors in it and on requests that leave the machine."""
    context = chrome.new_context(viewport={"width": 1440, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(20_000)
    elsewhere: list[str] = []
    errors: list[str] = []

    def watch(url: str) -> None:
        if urlsplit(url).scheme in {"http", "https", "ws", "wss"} and urlsplit(url).hostname != "127.0.0.1":
            elsewhere.append(url)

    opened.on("request", lambda asked: watch(asked.url))
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    if request.node.stash.get(FAILED, False):
        screenshot(opened, output, "failed-" + request.node.name)
    context.close()
    assert not elsewhere, "the page asked another machine"
    assert not errors, "uncaught errors in the page"


def screenshot(opened: Page, output: Path, name: str) -> None:
    folder = output / "screenshots"
    folder.mkdir(exist_ok=True)
    opened.screenshot(path=folder / (re.sub(r"[^\w.-]+", "-", name) + ".png"))


@pytest.fixture
def keep(page: Page, output: Path) -> Callable[[str], None]:
    """`keep(name)` keeps a screenshot of the page as .ci/output/screenshots/<name>.png."""
    return lambda name: screenshot(page, output, name)
