"""The Chromium of the browser tests: the one that is there, else the system's package, else Playwright's own.

`python _build/browser.py` makes sure that there is one; `executable()` says which. One without windows, the headless
shell, comes first: a page costs a fifth less there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from environment import apt_install
from frontend import any_node

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserType

#: what Debian calls the package of the headless shell, and where that puts it
SHELL = "chromium-headless-shell"
SHELL_PLACE = "/usr/lib/chromium/chromium-headless-shell"
NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]
PLACES = [
    "/usr/lib/chromium/chromium",
    "/opt/google/chrome/chrome",
    "/snap/bin/chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
]


def starts(path: str) -> bool:
    """False for the stand-ins some distributions put in the place of a browser."""
    try:
        return subprocess.run([path, "--version"], capture_output=True, check=False, timeout=30).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def executable() -> str | None:
    """Path of a Chromium of this machine, or None for Playwright's own. CHROMIUM=PATH decides it."""
    if chosen := os.environ.get("CHROMIUM"):
        return chosen
    candidates = [SHELL_PLACE, *map(shutil.which, NAMES), *PLACES]
    return next((path for path in candidates if path and Path(path).exists() and starts(path)), None)


def playwright_settings() -> dict[str, str]:
    """The environment of Playwright: our Node, and its browser kept inside the virtual environment.

    The Node that Playwright brings needs libatomic, which a bare Debian does not have.
    """
    return {
        "PLAYWRIGHT_NODEJS_PATH": any_node().node,
        "PLAYWRIGHT_BROWSERS_PATH": str(Path(sys.prefix) / "browsers"),
    }


@contextmanager
def launched(arguments: Sequence[str]) -> Iterator[Browser]:
    """A Chromium without a window, driven by Playwright."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 `main` runs before it is installed

    os.environ.update(playwright_settings())
    with sync_playwright() as playwright, launched_by(playwright.chromium, arguments) as started:
        yield started


@contextmanager
def launched_by(kind: BrowserType, arguments: Sequence[str]) -> Iterator[Browser]:
    """The same, of a Playwright that runs already: a thread has only one."""
    started = kind.launch(executable_path=executable(), args=arguments, chromium_sandbox=has_sandbox())
    yield started
    started.close()


def has_sandbox() -> bool:
    """Chromium does without for the superuser only."""
    return not hasattr(os, "geteuid") or os.geteuid() != 0


def apt_has(package: str) -> bool:
    """Whether the package lists at hand name it."""
    try:
        return subprocess.run(["apt-cache", "show", package], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def main() -> int:
    if not os.environ.get("CHROMIUM") and not Path(SHELL_PLACE).exists() and apt_has(SHELL):
        apt_install(SHELL)
    if executable() is None and not apt_install(SHELL) and not apt_install("chromium"):
        print("Installing the Chromium of Playwright", flush=True)
        command = [sys.executable, "-m", "playwright", "install", "chromium"]
        run = subprocess.run(command, env={**os.environ, **playwright_settings()}, check=False)
        if run.returncode != 0:
            print("\nThe browser tests need a Chromium: install one, or set CHROMIUM to the path of yours.")
            return run.returncode
    print(f"Browser for the tests: {executable() or 'the Chromium of Playwright'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
