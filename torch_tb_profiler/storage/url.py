"""Schemes of log directories."""

from __future__ import annotations

import re

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")  # two letters at least: C:\ is a drive


def scheme_of(url: str) -> str:
    """The scheme in lower case; empty for a plain path."""
    match = _SCHEME.match(url)
    return match[1].lower() if match else ""
