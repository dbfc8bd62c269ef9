"""A frame of a notebook with the page in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

from torch_tb_profiler.api.errors import ProfileError

_LEAST, _MOST = 100, 10_000


def check_height(height: int) -> None:
    """Raises ProfileError."""
    if not _LEAST <= height <= _MOST:
        raise ProfileError(f"height must be from {_LEAST} to {_MOST} pixels")


@dataclass(frozen=True)
class Frame:
    """What `show()` gives: the last value of a cell is shown.

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
            # no allow-same-origin: what stands in a report cannot touch the notebook
            sandbox = 'sandbox="allow-scripts allow-downloads allow-popups"'
            document = escape(self.document, quote=True)
            return f'<iframe title="PyTorch profile" {sandbox} {style} srcdoc="{document}"></iframe>'
        return (
            f'<iframe title="PyTorch profile" {style} src="{escape(self.url, quote=True)}" allow="fullscreen"></iframe>'
        )
