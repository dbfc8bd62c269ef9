"""What it costs to look at something, beside what must be paid in any case."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import CDPSession, Page

from tests.browser.profiler import Grid

FRAMES = 40
#: of a frame of scrolling, beside drawing the same rows anew with nothing behind them
MOST_TIMES_BARE = 1.5

_SCROLL = """async ([grid, frames, rows]) => {
    for (let frame = 0; frame < frames; frame++) {
        grid.scrollTop += 28 * rows;
        await new Promise(requestAnimationFrame);
    }
}"""

# A copy of what is shown, whose rows are thrown away and made again in each frame.
_BARE = """async ([grid, frames]) => {
    const copy = grid.cloneNode(true);
    const box = grid.getBoundingClientRect();
    copy.style.cssText += `;position:fixed;z-index:9;left:${box.left}px;top:${box.top}px;` +
        `width:${box.width}px;height:${box.height}px`;
    grid.parentElement.append(copy);
    const rows = [...copy.children].map((child) => child.cloneNode(true));
    for (let frame = 0; frame < frames; frame++) {
        copy.replaceChildren(...rows.map((row) => row.cloneNode(true)));
        await new Promise(requestAnimationFrame);
    }
    copy.remove();
}"""


def scroll_cost(grid: Grid, rows_a_frame: int, least: int = 4, most: int = 16) -> float:
    """What a frame of scrolling costs the page's main thread, in times of what a bare copy of the rows does.

    Scripts, styles, layout and painting, in processor time; both are measured in turns, and the least of each counts:
    whatever else the machine does, it does to both. That can only add to a cost: one above the limit is measured again,
    up to `most` times.
    """
    page = grid.root.page

    def cost(meter: Meter, script: str, *more: int) -> float:
        before = meter.milliseconds("TaskDuration")
        page.evaluate(script, [grid.root.element_handle(), FRAMES, *more])
        return (meter.milliseconds("TaskDuration") - before) / FRAMES

    bare, scrolled = [], []
    with meter_of(page) as meter:
        while len(bare) < least or (len(bare) < most and min(scrolled) > MOST_TIMES_BARE * min(bare)):
            bare.append(cost(meter, _BARE))
            scrolled.append(cost(meter, _SCROLL, rows_a_frame))
    return min(scrolled) / min(bare)


class Meter:
    """Processor time of the page's main thread."""

    def __init__(self, session: CDPSession) -> None:
        self._session = session

    def milliseconds(self, of: str) -> float:
        """Since the page was opened. `of`: "TaskDuration" for all work, "ScriptDuration" for scripts."""
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return next(float(metric["value"]) for metric in metrics if metric["name"] == of) * 1000


@contextmanager
def meter_of(page: Page) -> Iterator[Meter]:
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    yield Meter(session)
    session.detach()
