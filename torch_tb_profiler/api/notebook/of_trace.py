"""A trace in a notebook."""

from __future__ import annotations

from torch_tb_profiler.api.errors import ProfileError
from torch_tb_profiler.api.notebook.card import fenced, trace_card, trace_text, trouble_card
from torch_tb_profiler.api.notebook.notebook import InNotebook, NotebookPage
from torch_tb_profiler.discovery import RunFiles
from torch_tb_profiler.insights.summary.summary import SummaryAnswer
from torch_tb_profiler.workspace.local_workspace import LocalTrace


class TraceInNotebook(InNotebook):
    """A trace whose card is its summary, so showing it reads the trace."""

    source: LocalTrace
    run: str
    worker: str
    span: str

    def summary(self) -> SummaryAnswer:
        """The trace in a few stable numbers."""
        raise NotImplementedError

    def _page(self) -> NotebookPage:
        file = self.source.file
        first = {"r": self.run, "k": self.worker, "s": self.span}
        choice = self.source.choice
        if choice is not None:
            # steps as they were chosen
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
