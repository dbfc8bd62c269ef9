"""The documentation as a site: it can be made, every link and anchor leads somewhere, and it fetches nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import pictures
import site_of_docs
from tests.pages import all_pages
from tests.recorded import ROOT

IGNORED_FOLDERS = {"_sources", "_static", "_downloads"}


class Links(HTMLParser):
    """Of one page of HTML: its ids, what it links to, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.ids.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(given["href"])
        elif "src" in given:
            self.loaded.append(given["src"])


@pytest.fixture(scope="session")
def site() -> Path:
    """Made without pictures: that takes a browser. No warning is left over."""
    pytest.importorskip("sphinx")
    command = [sys.executable, "_build/site_of_docs.py", "--no-pictures"]
    done = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return site_of_docs.SITE


@pytest.fixture(scope="session")
def html(site: Path) -> dict[Path, Links]:
    pages = [path for path in site.rglob("*.html") if not IGNORED_FOLDERS & set(path.relative_to(site).parts)]
    return {path: Links(path.read_text("utf-8")) for path in pages}


def test_every_page_is_in_the_site(site: Path) -> None:
    missing = [page for page in all_pages() if not (site / page.relative_to(ROOT)).with_suffix(".html").exists()]
    assert missing == []


def test_every_link_and_anchor_leads_somewhere(html: dict[Path, Links]) -> None:
    broken = []
    for path, page in html.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists() or (
                parts.fragment and target in html and unquote(parts.fragment) not in html[target].ids
            ):
                broken.append((path.name, link))
    assert sum(len(page.links) for page in html.values()) > 1000
    assert broken == []


def test_nothing_is_fetched_from_elsewhere(html: dict[Path, Links], site: Path) -> None:
    assert [url for page in html.values() for url in page.loaded if urlsplit(url).netloc] == []
    styles = "".join(path.read_text("utf-8") for path in (site / "_static").rglob("*.css"))
    assert "url(http" not in styles
    assert "@import" not in styles


def test_pictures_that_pages_show_are_those_that_are_made() -> None:
    shown = set()
    for page in all_pages():
        shown |= set(pictures.names_in(page.read_text("utf-8")))
    assert shown == set(pictures.PICTURES)
    assert [path.stem for path in (ROOT / "docs" / "pictures").iterdir()] == ["overview"]
