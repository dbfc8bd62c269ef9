"""What it costs to look at something."""

from __future__ import annotations

from tests.browser.profiler import Grid

FRAMES = 40
MOST_MS_A_FRAME = 20.0

_SCROLL = """async ([grid, frames, rows]) => {
    for (let frame = 0; frame < frames; frame++) {
        grid.scrollTop += 28 * rows;
        await new Promise(requestAnimationFrame);
    }
}"""


def scroll_cost(grid: Grid, rows_a_frame: int, times: int = 4) -> float:
    """Milliseconds a frame that the page's main thread works: scripts, styles, layout, painting; the best of some runs.

    Processor time, which the other work of the machine changes less than the clock.
    """
    page = grid.root.page
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def worked() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(float(metric["value"]) for metric in metrics if metric["name"] == "TaskDuration") * 1000

    costs = []
    for _ in range(times):
        before = worked()
        page.evaluate(_SCROLL, [grid.root.element_handle(), FRAMES, rows_a_frame])
        costs.append((worked() - before) / FRAMES)
    session.detach()
    return min(costs)
