"""axe-core, which knows the rules of accessibility."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.profiler import Profiler
from tests.conftest import ROOT

AXE = ROOT / "fe" / "node_modules" / "axe-core" / "axe.min.js"


class Axe:
    """Looks at the page whenever it is asked to; `check` tells at the end what it found, and where."""

    def __init__(self, profiler: Profiler) -> None:
        self.profiler = profiler
        self._source = AXE.read_text()
        self._found: list[str] = []

    def look(self, where: str) -> None:
        page = self.profiler.page
        expect(self.profiler.ui.get_by_label("Loading…")).to_have_count(0)
        if not page.evaluate("typeof axe === 'object'"):
            page.evaluate(self._source)
        violations = page.evaluate("axe.run(document).then((results) => results.violations)")
        for violation in violations:
            nodes = [f"{node['target']}: {node['failureSummary']}" for node in violation["nodes"][:3]]
            self._found.append(f"{where}: {violation['id']}: {violation['help']}\n    " + "\n    ".join(nodes))

    def check(self) -> None:
        assert not self._found, "\n".join(self._found)
