"""What the questions about all ranks need of one, kept beside the columns of its trace."""

from __future__ import annotations

from pathlib import Path

from torch_tb_profiler.model import Model
from torch_tb_profiler.ranks.summary import encode_summary, summarize
from torch_tb_profiler.workspace.sealed import write_sealed


def write_rank(model: Model, path: Path) -> None:
    """Raises OSError, and leaves nothing then. Its worker has no name: that is the business of who reads it.

    The tables are decoded when they are used; it is sealed, so that what is damaged is noticed before.
    """
    write_sealed(path, encode_summary(summarize(model, "")))
