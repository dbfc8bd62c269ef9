"""axe-core, which knows the rules of accessibility."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from playwright.sync_api import expect

from tests.browser.profiler import Profiler
from tests.conftest import ROOT
from tests.properties import THOROUGH

AXE = ROOT / "fe" / "node_modules" / "axe-core" / "axe.min.js"


Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
#: what is not broken need not be described; `preload` would fetch style sheets and media again, and pages have no media
_BROKEN = {"resultTypes": ["violations"], "preload": False}
_ALL: dict[str, Any] = _BROKEN
#: themes differ in nothing else (fe/src/ui/theme.css)
_OF_COLOURS = _BROKEN | {"runOnly": ["color-contrast", "link-in-text-block"]}
#: a colour on its way to another is none of the theme's
_STILL = """Promise.all(
    document.getAnimations()
        .filter((animation) => animation.effect.getComputedTiming().endTime !== Infinity)
        .map((animation) => animation.finished.catch(() => undefined)),
)"""


class Axe:
    """Looks at the page whenever it is asked to, the themes by turns, at night both; `check` tells what it found."""

    def __init__(self, profiler: Profiler, both: bool = THOROUGH) -> None:
        self.profiler = profiler
        self._both = both
        self._source = AXE.read_text()
        self._found: list[str] = []
        self._themes = THEMES

    def look(self, where: str, seen: Callable[[Theme], None] = lambda _: None) -> None:
        """seen: called in each theme, before axe looks."""
        self.profiler.loaded()
        for theme, rules in list(zip(self._themes, (_ALL, _OF_COLOURS), strict=True))[: 1 + self._both]:
            self.profiler.page.emulate_media(color_scheme=theme)
            expect(self.profiler.ui.locator("html")).to_have_attribute("data-theme", theme)
            self.profiler.page.evaluate(_STILL)
            seen(theme)
            self._look(f"{where}, {theme}", rules)
        # The next look begins in the theme that the page has.
        self._themes = self._themes[::-1]

    def _look(self, where: str, rules: Any) -> None:
        page = self.profiler.page
        if not page.evaluate("typeof axe === 'object'"):
            page.evaluate(self._source)
        violations = page.evaluate("(rules) => axe.run(document, rules).then((results) => results.violations)", rules)
        for violation in violations:
            nodes = [f"{node['target']}: {node['failureSummary']}" for node in violation["nodes"][:3]]
            self._found.append(f"{where}: {violation['id']}: {violation['help']}\n    " + "\n    ".join(nodes))

    def check(self) -> None:
        assert not self._found, "\n".join(self._found)
