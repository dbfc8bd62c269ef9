"""What devices can do at most: multiplications a second by element type, and bytes a second of memory and links.

Values are those of data sheets: dense, at boost clock, with sums in 32 bits (`peaks.toml`). Real programs reach 60 to
90 % of them. A file of the user's has devices of its own, which come first. Trace files name the device and say how
many multiprocessors it has, but not its clock: what a device that is not listed multiplies is estimated from its
architecture, and never used for advice.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

import msgspec

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.toml_text import TomlError, toml_of

log = logging.getLogger(__name__)

#: names the file of the user
VARIABLE = "TORCH_TB_PROFILER_PEAKS"
_OWN = Path(__file__).with_name("peaks.toml")

#: what tensor cores or plain cores multiply; `tf32` is stored in 32 bits, `fp32` is multiplied by plain cores
ElementType = Literal["fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4"]
_TYPES: tuple[ElementType, ...] = get_args(ElementType)
#: where a device has no units for a type it is multiplied as another one
_INSTEAD: Mapping[str, tuple[ElementType, ...]] = MappingProxyType(
    {
        "tf32": ("fp32",),
        "bf16": ("fp32",),
        "fp16": ("fp32",),
        "fp8": ("bf16", "fp16", "fp32"),
        "int8": ("fp16", "fp32"),
        "fp4": ("fp8", "bf16", "fp16", "fp32"),
    }
)
#: how far an estimate from the architecture may be off, either way
SPREAD = 0.15
#: with fewer multiprocessors than this part of the listed ones it is a part of the device (MIG), or another variant
_WHOLE = 0.95

#: names of parts of a device
_SLICE = lazy_pattern(r"\bMIG \d|^GRID ")

Source = Literal["data_sheet", "tables", "user", "architecture"]


class Peaks(msgspec.Struct, frozen=True):
    """The most that a device can do.

    flops      FLOP/s by element type, a multiplication with its addition counting two; a type that the device has no
               units for is not in it
    bandwidth  of its memory, bytes/s
    sure       False where tables differ, where only one has the value, or where it was scaled to a part of a device
    link       to another device, bytes/s in each direction; None: unknown
    host       to the host, bytes/s in each direction; None: unknown
    cache      bytes of the last level; None: unknown
    source     where the values are from
    """

    flops: Mapping[ElementType, float]
    bandwidth: float
    sure: bool
    link: float | None = None
    host: float | None = None
    cache: float | None = None
    source: Source = "data_sheet"


class PeaksError(ValueError):
    """The file of the user cannot be read, or has what no device has. The message is for a person."""


def rate_of(flops: Mapping[ElementType, float], element: str) -> float | None:
    """Return FLOP/s of an element type, or of the one that it is multiplied as instead; None if nothing is known."""
    choices = (element, *_INSTEAD.get(element, ()))
    return next((flops[each] for each in choices if each in flops), None)  # type: ignore[index]


class _Row(msgspec.Struct, frozen=True):
    """One device of a file, as it is written there."""

    match: str
    multiprocessors: int | None
    tflops: Mapping[str, float]
    memory: float
    larger: tuple[float, float] | None
    cache: float | None
    link: float | None
    host: float | None
    source: Source


def peaks_of(device: Mapping[str, Any] | None) -> Peaks | None:
    """Return the peaks of a device; None if it is unknown.

    device   an entry of `deviceProperties`, as in `Trace.header.devices`

    A part of a device (fewer multiprocessors than it should have) has that part of the peaks, and they are not sure.
    """
    if device is None or not isinstance(device.get("name"), str):
        return None
    name, count, memory = device["name"], device.get("numSms"), device.get("totalGlobalMem")
    row = next((row for row in _rows() if re.search(row.match, _unnamed(device) or name, re.IGNORECASE)), None)
    if row is None:
        return None
    part = 1.0
    if _SLICE.search(name) and not isinstance(count, int):
        return None  # the size of the part is unknown
    if row.multiprocessors and isinstance(count, int) and 0 < count < _WHOLE * row.multiprocessors:
        part = count / row.multiprocessors
    gbytes = row.memory
    if row.larger is not None and isinstance(memory, int) and memory > 1e9 * row.larger[0]:
        gbytes = row.larger[1]
    return Peaks(
        flops=MappingProxyType({kind: part * 1e12 * row.tflops[kind] for kind in _TYPES if kind in row.tflops}),
        bandwidth=part * 1e9 * gbytes,
        sure=row.source in ("data_sheet", "user") and part == 1.0,
        link=None if row.link is None else 1e9 * row.link,
        host=None if row.host is None else 1e9 * row.host,
        cache=None if row.cache is None else part * 1e6 * row.cache,
        source=row.source,
    )


def architecture_flops(device: Mapping[str, Any] | None) -> Mapping[ElementType, float] | None:
    """Return FLOP/s of a device by its architecture, number of multiprocessors and usual clock; true within
    `SPREAD`.
    """
    if device is None:
        return None
    capability = [device.get("computeMajor"), device.get("computeMinor")]
    count, warp = device.get("numSms"), device.get("warpSize")
    if not isinstance(count, int) or count <= 0:
        return None
    for each in toml_of(_text(str(_OWN)))["architecture"]:
        if each["capability"] == capability and each["warp"] == warp:
            return {
                kind: count * each["ghz"] * 1e9 * each["per_cycle"][kind]
                for kind in _TYPES
                if kind in each["per_cycle"]
            }
    return None


def _unnamed(device: Mapping[str, Any]) -> str:
    """Guess the name of a device by its size: ROCm may leave the name empty, or general."""
    if device["name"] not in ("", "AMD Radeon Graphics"):
        return ""
    size = (device.get("warpSize"), device.get("computeMajor"), device.get("computeMinor"), device.get("numSms"))
    memory = device.get("totalGlobalMem")
    if not isinstance(memory, int):
        return ""
    if size == (64, 9, 4, 304):
        return "MI300X" if memory < 240e9 else "MI325X"
    if size == (64, 9, 5, 256):
        return "MI35?X"  # MI350X or MI355X: clocks differ
    if size == (64, 9, 0, 104) and memory > 64e9:
        return "MI250"
    return ""


@lru_cache(maxsize=4)
def _text(file: str) -> str:
    return Path(file).read_text("utf-8")


def _rows() -> tuple[_Row, ...]:
    """Return the devices of the user's file, then those of the package. A file that is wrong is logged and left out."""
    own = _read(_text(str(_OWN)), False)
    named = os.environ.get(VARIABLE, "")
    if not named:
        return own
    try:
        return (*_read(_users(named), True), *own)
    except PeaksError as error:
        _warn(str(error))
        return own


def peaks_digest() -> str:
    """Return the digest of the user's file; empty without. Answers that were made with another one are not used."""
    named = os.environ.get(VARIABLE, "")
    try:
        return hashlib.sha256(_users(named).encode()).hexdigest()[:16] if named else ""
    except PeaksError:
        return ""


def _users(file: str) -> str:
    try:
        return Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PeaksError(f"{file} cannot be read: {error}") from error


@lru_cache(maxsize=16)
def _warn(text: str) -> None:
    """Log each text once."""
    log.warning("%s=…: %s; the devices of the package are used", VARIABLE, text)


@lru_cache(maxsize=4)
def _read(text: str, of_user: bool) -> tuple[_Row, ...]:
    try:
        devices = toml_of(text).get("device", [])
    except TomlError as error:
        raise PeaksError(f"The file of peaks is not valid TOML: {error}") from error
    if not isinstance(devices, list):
        raise PeaksError("device is a list of tables: [[device]]")
    return tuple(_row(each, of_user) for each in devices)


def _row(given: Mapping[str, Any], of_user: bool) -> _Row:
    try:
        match = given["match"]
        if of_user:
            re.compile(match)
        tflops = {name: _positive(value) for name, value in given["tflops"].items()}
        memory = _positive(given["memory"])
    except (KeyError, TypeError, AttributeError, re.error, RecursionError, OverflowError) as error:
        raise PeaksError(f"A device needs match, tflops and memory: {error}") from error
    unknown = tflops.keys() - set(_TYPES)
    if unknown:
        raise PeaksError(f"There is no element type {unknown.pop()!r}; there are {', '.join(_TYPES)}")
    larger = given.get("larger")
    return _Row(
        match=match,
        multiprocessors=given.get("multiprocessors"),
        tflops=tflops,
        memory=memory,
        larger=(_positive(larger[0]), _positive(larger[1])) if isinstance(larger, list) and len(larger) == 2 else None,
        cache=None if "cache" not in given else _positive(given["cache"]),
        link=None if "link" not in given else _positive(given["link"]),
        host=None if "host" not in given else _positive(given["host"]),
        source="user" if of_user else given["source"],
    )


def _positive(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= sys.float_info.max:
        raise PeaksError(f"A peak is a number above 0, not {value!r}")
    return float(value)
