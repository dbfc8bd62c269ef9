"""What profiles and traces add for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

import msgspec

from torch_tb_profiler.api.errors import one_of
from torch_tb_profiler.api.notebook.frame import Frame, check_height
from torch_tb_profiler.discovery import RunFiles
from torch_tb_profiler.workspace.local_workspace import LocalWorkspace

if TYPE_CHECKING:
    from torch_tb_profiler.serving.servers import LiveServer

View = Literal[
    "overview",
    "operators",
    "kernels",
    "trace",
    "memory",
    "modules",
    "stacks",
    "steps",
    "program",
    "roofline",
    "criticalpath",
    "distributed",
    "compare",
    "snapshot",
    "lightning",
    "capture",
]


class NotebookPage(msgspec.Struct, frozen=True):
    """What a page is about.

    path   as it was opened, for people
    runs   that it lists
    first  keys of its address, and what it begins with: r, k and s are run, worker and span
    """

    workspace: LocalWorkspace
    path: str
    runs: Sequence[RunFiles]
    first: dict[str, str]


class InNotebook:
    """`show()`, and a card when the object is the last value of a cell."""

    _live: LiveServer | None = None

    def show(self, view: View = "overview", height: int = 800, static: bool = False) -> Frame:
        """The page in the notebook, as the last value of a cell.

        Live, it is served by this process on loopback, under an address that holds a secret, until the process ends.
        With `static` it is one file within the notebook, which needs no server: 0.6 MB or more, of one run. Raises
        ProfileError.
        """
        # what serves the page is not loaded for those who only want numbers
        from torch_tb_profiler.api.notebook.page import live_page, page_in_one_file  # noqa: PLC0415

        one_of(View, view)
        check_height(height)
        page = self._page()
        if static:
            return Frame("", page_in_one_file(page.workspace, page.path, page.runs), height)
        if self._live is None or not self._live.close.alive:
            self._live = live_page(page.workspace, page.path, page.runs)
        state = {"v": view, **page.first}
        chosen = "&".join(f"{key}={quote(value, safe='')}" for key, value in state.items())
        return Frame(f"{self._live.address}#{chosen}", height=height, kept=self._live)

    def _page(self) -> NotebookPage:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        raise NotImplementedError

    def _as_markdown(self) -> str:
        raise NotImplementedError

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002
        return {"text/html": self._repr_html_(), "text/markdown": self._as_markdown(), "text/plain": repr(self)}
