"""TOML, written by users or by us."""

from __future__ import annotations

import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class TomlError(Exception):
    """The text is no TOML; the message says why."""


def toml_of(text: str) -> dict[str, Any]:
    """Parse a text. Raises TomlError."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise TomlError("it is nested too deep") from None
    except ValueError as error:  # numbers of thousands of digits, too
        raise TomlError(str(error)) from None
