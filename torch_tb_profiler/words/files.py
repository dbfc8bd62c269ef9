"""The files of words, as they are written."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from torch_tb_profiler.toml_text import toml_of


@cache
def file(area: str) -> Mapping[str, Any]:
    """Read all sections of an English file. area: its path below the language, without its suffix."""
    return toml_of((Path(__file__).parent / "en" / f"{area}.toml").read_text("utf-8"))
