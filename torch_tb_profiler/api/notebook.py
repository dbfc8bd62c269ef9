"""Notebook support of profiles and traces (docs/notebooks.md): cards, and the page of a profile in a frame.

Does not belong here: any number; IPython, which is not needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

import msgspec

from torch_tb_profiler.api.errors import ProfileError, one_of
from torch_tb_profiler.api.notebook_cards import fenced, trace_card, trace_text, trouble_card
from torch_tb_profiler.discovery import RunFiles
from torch_tb_profiler.insights.summary.summary import SummaryAnswer
from torch_tb_profiler.workspace.local_workspace import LocalTrace, LocalWorkspace

_LEAST, _MOST = 100, 10_000


def check_height(height: int) -> None:
    """Refuse a height that no frame should have. Raises ProfileError."""
    if not _LEAST <= height <= _MOST:
        raise ProfileError(f"height must be from {_LEAST} to {_MOST} pixels")


@dataclass(frozen=True)
class Frame:
    """What `show()` returns; a notebook shows the last value of a cell.

    url       of the page, which ends with the kernel; empty if the page is in the notebook
    document  the page as one file; empty if it is live
    height    pixels
    kept      what has to live as long as this
    """

    url: str
    document: str = field(repr=False, default="")
    height: int = 800
    kept: object = field(repr=False, default=None)

    def _repr_html_(self) -> str:
        style = f'width="100%" height="{self.height}" style="border:1px solid rgba(128,128,128,.45)"'
        if self.document:
            # no allow-same-origin: the contents of a report cannot touch the notebook
            sandbox = 'sandbox="allow-scripts allow-downloads allow-popups"'
            document = escape(self.document, quote=True)
            return f'<iframe title="PyTorch profile" {sandbox} {style} srcdoc="{document}"></iframe>'
        return (
            f'<iframe title="PyTorch profile" {style} src="{escape(self.url, quote=True)}" allow="fullscreen"></iframe>'
        )


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
    "health",
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
        """Show the page in the notebook, as the last value of a cell.

        Live, it is served by this process on loopback, under an address that holds a secret, until the process ends.
        With `static` it is one file within the notebook, which needs no server: 0.6 MB or more, of one run. Raises
        ProfileError.
        """
        # programs that only want numbers do not load the server
        from torch_tb_profiler.api.notebook_page import live_page, page_in_one_file

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

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/markdown": self._as_markdown(), "text/plain": repr(self)}


class TraceInNotebook(InNotebook):
    """A trace whose card is its summary, so showing it reads the trace."""

    source: LocalTrace
    run: str
    worker: str
    span: str

    def summary(self) -> SummaryAnswer:
        """Return the trace in a few stable numbers."""
        raise NotImplementedError

    def _page(self) -> NotebookPage:
        file = self.source.file
        first = {"r": self.run, "k": self.worker, "s": self.span}
        choice = self.source.choice
        if choice is not None:
            # the chosen steps
            first |= {key: value for key, value in (("sr", choice.rule), ("sp", choice.pattern)) if value}
        return NotebookPage(self.source.workspace, file.entry.url, (RunFiles(self.run, (file,)),), first)

    def _repr_html_(self) -> str:
        try:
            return trace_card(self.summary())
        except ProfileError as error:
            return trouble_card(repr(self), str(error))

    def _as_markdown(self) -> str:
        try:
            return trace_text(self.summary())
        except ProfileError as error:
            return fenced(str(error))
