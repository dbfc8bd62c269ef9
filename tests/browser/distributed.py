"""What tests of the Distributed view share."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Locator, expect

from tests.browser.profiler import GPU_RUN, Profiler

OVERLAP = "Computation/Communication Overview"
WAITS = "Synchronizing/Communication Overview"
OPERATIONS = "Communication Operations Stats"


def chart(profiler: Profiler, title: str = OVERLAP) -> Locator:
    return profiler.panel(title).get_by_role("slider", name=title)


def answer_of(profiler: Profiler, run: str = GPU_RUN) -> dict[str, Any]:
    answer: dict[str, Any] = profiler.server.api("distributed", run=run)
    return answer


def ranks_of(profiler: Profiler, run: str = GPU_RUN) -> dict[str, Any]:
    """The answer of the run page."""
    answer: dict[str, Any] = profiler.server.api("ranks", run=run)
    return answer


def told(profiler: Profiler, title: str) -> list[dict[str, str]]:
    """What a chart says of each column, from left to right: the total and its parts."""
    slider = chart(profiler, title)
    slider.focus()
    profiler.page.keyboard.press("Home")
    found = []
    for at in range(int(slider.get_attribute("aria-valuemax") or 0)):
        if at:
            profiler.page.keyboard.press("ArrowRight")
        expect(slider).to_have_attribute("aria-valuenow", str(at + 1))
        text = slider.get_attribute("aria-valuetext") or ""
        name, total, *parts = re.split(r": |, ", text)
        pairs = [re.fullmatch(r"(.+?) (<?[\d.,]+ \S+)", part) for part in parts]
        found.append({"name": name, "total": total, **{pair[1]: pair[2] for pair in pairs if pair}})
    return found
