"""The limits of the rules, as data: `thresholds.toml`, and a file of the user's that overrides some of them."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from torch_tb_profiler.toml_text import TomlError, toml_of

log = logging.getLogger(__name__)

#: names the file of the user
VARIABLE = "TORCH_TB_PROFILER_FINDINGS"
_OWN = Path(__file__).with_name("thresholds.toml")


class ThresholdError(ValueError):
    """The file of the user cannot be read, or says something that no rule knows. The message is for a person."""


class Thresholds(msgspec.Struct, frozen=True):
    """Limits by rule and name, and the rules that are not shown.

    digest   of what differs from the limits that come with the package; empty if nothing does
    """

    limits: Mapping[str, Mapping[str, float]]
    mute: frozenset[str]
    digest: str = ""

    def of(self, rule: str, name: str) -> float:
        """Return one limit. Raises KeyError: each is in `thresholds.toml`."""
        return self.limits[rule][name]


def thresholds() -> Thresholds:
    """Return the limits, with those of the file that the environment names. A file that is wrong is logged and left
    out.
    """
    named = os.environ.get(VARIABLE, "")
    if not named:
        return _read("")
    try:
        return thresholds_with(named)
    except ThresholdError as error:
        _warn(str(error))
        return _read("")


def thresholds_digest() -> str:
    """Return `thresholds().digest`, without reading the limits where no file changes them."""
    return thresholds().digest if os.environ.get(VARIABLE, "") else ""


def thresholds_with(file: str | os.PathLike[str]) -> Thresholds:
    """Return the limits, with those of a file. Raises ThresholdError."""
    try:
        text = Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ThresholdError(f"{file} cannot be read: {error}") from error
    return _read(text)


@lru_cache(maxsize=16)
def _warn(text: str) -> None:
    """Log each text once."""
    log.warning("%s=…: %s; the limits of the package are used", VARIABLE, text)


@lru_cache(maxsize=4)
def _read(users: str) -> Thresholds:
    given = toml_of(_OWN.read_text("utf-8"))
    limits: dict[str, dict[str, float]] = {key: value for key, value in given.items() if key != "mute"}
    mute = set(given["mute"])
    if not users:
        return Thresholds(limits, frozenset(mute))
    try:
        changed: dict[str, Any] = toml_of(users)
    except TomlError as error:
        raise ThresholdError(f"The file of thresholds is not valid TOML: {error}") from error
    for section, values in changed.items():
        if section == "mute":
            if not isinstance(values, list) or not all(isinstance(each, str) for each in values):
                raise ThresholdError("mute is a list of ids of rules")
            mute |= set(values)
            continue
        if section not in limits or not isinstance(values, dict):
            raise ThresholdError(f"No rule has the id {section!r}")
        for name, value in values.items():
            if name not in limits[section]:
                raise ThresholdError(f"The rule {section} has no limit {name!r}; it has {', '.join(limits[section])}")
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= sys.float_info.max:
                raise ThresholdError(f"{section}.{name} is a number from 0 on, not {value!r}")
            limits[section] = {**limits[section], name: value}
    digest = hashlib.sha256(users.encode()).hexdigest()[:16]
    return Thresholds(limits, frozenset(mute), digest)
