"""Back and Forward."""

from __future__ import annotations

from playwright.sync_api import Page


def back(page: Page) -> None:
    """As a person goes back, who has seen the page that is left. Returns when the page has heard of it.

    `Page.go_back` asks the browser where it is, and that may not have heard yet of an entry that the page has just
    made: then it goes back by two. What the page asks for comes in its order.
    """
    _go(page, -1)


def forward(page: Page, entries: int = 1) -> None:
    """The other way; see `back`."""
    _go(page, entries)


def _go(page: Page, entries: int) -> None:
    page.evaluate(
        """(entries) => new Promise((gone) => {
            addEventListener("popstate", () => gone(null), { once: true });
            history.go(entries);
        })""",
        entries,
    )
