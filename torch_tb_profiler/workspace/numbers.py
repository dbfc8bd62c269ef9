"""Numbers that the environment says."""

from __future__ import annotations

import logging
import os

log = logging.getLogger(__name__)


def number_from_environment(variable: str, default: int, least: int = 0) -> int:
    """What a variable of the environment says; `default` when it is not set, or no number from `least` up."""
    text = os.environ.get(variable, "")
    if text.isdecimal() and int(text) >= least:
        return int(text)
    if text:
        log.warning("%s=%s is not a number from %d up; %d is used", variable, text, least, default)
    return default
