"""What pages do behind the back of a test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Page, Request, WebError

_MARK = "content security policy violated: "
REPORT_VIOLATIONS = f"""
addEventListener("securitypolicyviolation", (event) => {{
  console.error("{_MARK}" + event.violatedDirective + " by " + event.blockedURI + " in " + location.href);
}});
"""


@dataclass
class Watch:
    """Collects it from every page of the contexts it follows."""

    elsewhere: list[str] = field(default_factory=list)
    """Requests that leave the machine."""
    errors: list[str] = field(default_factory=list)
    """Errors nobody caught."""
    violations: list[str] = field(default_factory=list)
    """Of a content security policy."""
    dialogs: list[str] = field(default_factory=list)
    """alert() and the like."""
    requests: list[str] = field(default_factory=list)
    """Every address asked for; not judged."""

    def follow(self, context: BrowserContext) -> None:
        """A context with `REPORT_VIOLATIONS` among its scripts."""
        for event, hear in self._heard():
            context.on(event, hear)

    def leave(self, context: BrowserContext) -> None:
        for event, hear in self._heard():
            context.remove_listener(event, hear)

    def check(self) -> None:
        assert not self.elsewhere, "the page asked another machine"
        assert not self.errors, "uncaught errors in the page"
        assert not self.violations, "the page did what its content security policy forbids"
        assert not self.dialogs, "the page opened a dialog"

    def waiting(self, page: Page) -> str:
        """For people who look at a failed test: what was asked and has no answer, one address a line."""
        answered: list[str] = page.evaluate("performance.getEntriesByType('resource').map((each) => each.name)")
        left = Counter(self.requests) - Counter(answered)
        return "".join(f"{url}\n" for url in left.elements())

    def _heard(self) -> tuple[tuple[Any, Callable[..., None]], ...]:
        return (
            ("request", self._asked),
            ("weberror", self._thrown),
            ("console", self._said),
            ("page", self._opened),
        )

    def _opened(self, page: Page) -> None:
        page.on("dialog", self._interrupted)

    def _interrupted(self, dialog: Dialog) -> None:
        self.dialogs.append(f"{dialog.type}: {dialog.message}")
        dialog.dismiss()

    def _thrown(self, thrown: WebError) -> None:
        self.errors.append(str(thrown.error))

    def _asked(self, request: Request) -> None:
        url = request.url
        self.requests.append(url)
        address = urlsplit(url)
        if address.scheme in {"http", "https", "ws", "wss"} and address.hostname != "127.0.0.1":
            self.elsewhere.append(url)

    def _said(self, message: ConsoleMessage) -> None:
        if message.text.startswith(_MARK):
            self.violations.append(message.text.removeprefix(_MARK))
