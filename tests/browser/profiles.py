"""Browser profiles that are as new for every test, at a third less than what a new one costs.

A new profile starts a process, and compiles the page again. So one is kept for each set of options, with a page that
keeps its process; all that a test left in it is taken away when the test has ended. What the browser has cached stays:
the next server may have the same port, and says itself what of it is still right.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser.watch import REPORT_VIOLATIONS

#: one process for all pages of a profile that come from this machine, whatever their ports, and that are still blank
ARGUMENTS = ["--process-per-site", "--renderer-process-limit=1"]
VIEWPORT = {"width": 1440, "height": 900}
#: options that are those of a page, or can be taken back
_OF_PAGE = {"viewport", "color_scheme", "permissions"}


class Profiles:
    """Lends profiles of a browser; what is lent twice at a time is two profiles."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._kept: dict[str, BrowserContext] = {}
        self._keepers: dict[BrowserContext, Page] = {}
        self._lent: set[BrowserContext] = set()

    def lend(self, **options: Any) -> BrowserContext:
        """Without pages of its own; options as of `browser.new_context`."""
        lasting = {name: value for name, value in options.items() if name not in _OF_PAGE}
        key = repr(sorted(lasting.items()))
        context = self._kept.get(key)
        if context is None or context in self._lent:
            context = self._browser.new_context(viewport=VIEWPORT, **lasting)
            context.add_init_script(REPORT_VIOLATIONS)
            if key not in self._kept:
                self._kept[key] = context
                self._keepers[context] = _keeper(context)
        self._lent.add(context)
        if options.get("permissions"):
            context.grant_permissions(options["permissions"])
        return context

    def give_back(self, context: BrowserContext, addresses: Iterable[str], whole: bool) -> None:
        """addresses: all that was asked for; whole: the test passed, there is nothing odd in the profile."""
        self._lent.discard(context)
        keeper = self._keepers.get(context)
        if keeper is None or not whole:
            self._kept = {key: kept for key, kept in self._kept.items() if kept is not context}
            self._keepers.pop(context, None)
            context.close()
            return
        for page in context.pages:
            if page is not keeper:
                page.close()
        context.unroute_all()
        context.clear_cookies()
        context.clear_permissions()
        session = context.new_cdp_session(keeper)
        for origin in {f"{parts.scheme}://{parts.netloc}" for parts in map(urlsplit, addresses)}:
            if origin.startswith(("http", "file")):
                session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        session.detach()


def page_of(context: BrowserContext, **options: Any) -> Page:
    """A new page of a profile, with what `options` say of pages."""
    page = context.new_page()
    if "viewport" in options:
        page.set_viewport_size(options["viewport"])
    if "color_scheme" in options:
        page.emulate_media(color_scheme=options["color_scheme"])
    return page


def _keeper(context: BrowserContext) -> Page:
    """A page of this machine, of which no server knows."""
    page = context.new_page()
    page.route("**/*", lambda route: route.fulfill(body="", content_type="text/html"))
    page.goto("http://127.0.0.1/")
    page.unroute_all()
    return page
