"""What devices can do at most: multiplications a second by element type, and bytes a second of their memory.

Values are those of data sheets: dense, at boost clock, with sums in 32 bits. Real programs reach 60 to 90 % of them.
Trace files name the device and say how many multiprocessors it has, but not its clock, so a device that is not listed
has no peaks: nothing is guessed from its architecture.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal

#: what tensor cores or plain cores multiply; `tf32` is stored in 32 bits, `fp32` is multiplied by plain cores
ElementType = Literal["fp32", "tf32", "bf16", "fp16", "fp8", "int8"]
_TYPES: tuple[ElementType, ...] = ("fp32", "tf32", "bf16", "fp16", "fp8", "int8")


@dataclass(frozen=True)
class Peaks:
    """The most that a device can do.

    flops      FLOP/s by element type, a multiplication with its addition counting two; a type that the device has no
               units for is not in it
    bandwidth  of its memory, bytes/s
    sure       False where tables differ, where only one has the value, or where it was scaled to a part of a device
    """

    flops: Mapping[ElementType, float]
    bandwidth: float
    sure: bool


@dataclass(frozen=True)
class _Row:
    """One device. TFLOP/s in the order of `_TYPES`, 0 for none; GB/s; multiprocessors of the whole device."""

    name: str
    multiprocessors: int
    tflops: tuple[float, float, float, float, float, float]
    gbytes: float
    sure: bool = True


# The first pattern that is found in the name decides, so that longer names stand before shorter ones.
_DEVICES = (
    _Row(r"P100.*PCIE", 56, (9.3, 0, 0, 0, 0, 0), 732, sure=False),
    _Row(r"P100", 56, (10.6, 0, 0, 0, 0, 0), 732, sure=False),
    _Row(r"GP100", 56, (10.3, 0, 0, 0, 0, 0), 717, sure=False),
    _Row(r"V100S", 80, (16.4, 0, 0, 130, 0, 0), 1134),
    _Row(r"V100.*PCIE", 80, (14, 0, 0, 112, 0, 0), 900),
    _Row(r"V100", 80, (15.7, 0, 0, 125, 0, 0), 900),
    _Row(r"Tesla T4|^T4$", 40, (8.1, 0, 0, 65, 0, 130), 320),
    _Row(r"RTX 2080 Ti", 68, (13.4, 0, 0, 53.8, 0, 215), 616),
    _Row(r"A100[ -].*80GB.*PCIe|A100.*PCIe?-80GB", 108, (19.5, 156, 312, 312, 0, 624), 1935),
    _Row(r"A100.*80GB|A800", 108, (19.5, 156, 312, 312, 0, 624), 2039),
    _Row(r"A100", 108, (19.5, 156, 312, 312, 0, 624), 1555),
    _Row(r"A30\b", 56, (10.3, 82, 165, 165, 0, 330), 933),
    _Row(r"A10G\b", 80, (31.2, 35, 70, 70, 0, 140), 600, sure=False),
    _Row(r"A10\b", 72, (31.2, 62.5, 125, 125, 0, 250), 600),
    _Row(r"A40\b", 84, (37.4, 74.8, 149.7, 149.7, 0, 299), 696),
    _Row(r"RTX A6000", 84, (38.7, 77.4, 154.8, 154.8, 0, 310), 768),
    _Row(r"RTX A5000", 64, (27.8, 55.6, 111.1, 111.1, 0, 222), 768, sure=False),
    _Row(r"RTX 3090 Ti", 84, (40, 40, 80, 80, 0, 320), 1008, sure=False),
    _Row(r"RTX 3090", 82, (35.6, 35.6, 71, 71, 0, 284), 936),
    _Row(r"RTX 3080(?! Ti| Laptop)", 68, (29.8, 29.8, 59.5, 59.5, 0, 238), 760, sure=False),
    _Row(r"L40S\b", 142, (91.6, 183, 362, 362, 733, 733), 864),
    _Row(r"L40\b", 142, (90.5, 90.5, 181, 181, 362, 362), 864),
    _Row(r"L20\b", 92, (59.8, 59.8, 119.5, 119.5, 239, 239), 864, sure=False),
    _Row(r"L4\b", 58, (30.3, 60, 121, 121, 242, 242), 300),
    _Row(r"RTX 6000 Ada", 142, (91.1, 182, 364, 364, 728, 728), 960, sure=False),
    _Row(r"RTX 4090 D", 114, (73.5, 73.5, 147, 147, 294, 294), 1008, sure=False),
    _Row(r"RTX 4090(?! Laptop)", 128, (82.6, 82.6, 165, 165, 330, 330), 1008),
    _Row(r"RTX 4080(?! SUPER| Laptop)", 76, (48.7, 48.7, 97.5, 97.5, 195, 195), 717, sure=False),
    _Row(r"H100 PCIe", 114, (51.2, 378, 756, 756, 1513, 1513), 2039),
    _Row(r"H100 NVL", 132, (60, 417, 835, 835, 1671, 1671), 3938),
    _Row(r"H200 NVL", 132, (60, 417, 835, 835, 1671, 1671), 4800, sure=False),
    _Row(r"GH200", 132, (66.9, 494.7, 989.4, 989.4, 1978.9, 1978.9), 4000, sure=False),  # 4900 with 144 GB
    _Row(r"H200", 132, (66.9, 494.7, 989.4, 989.4, 1978.9, 1978.9), 4800),
    _Row(r"H100|H800", 132, (66.9, 494.7, 989.4, 989.4, 1978.9, 1978.9), 3350),
    _Row(r"H20\b", 78, (44, 74, 148, 148, 296, 296), 4000, sure=False),  # 4800 with 141 GB
    _Row(r"GB300", 148, (80, 1250, 2500, 2500, 5000, 165), 8000, sure=False),
    _Row(r"GB200", 148, (80, 1250, 2500, 2500, 5000, 5000), 8000, sure=False),
    _Row(r"B300", 148, (77, 1250, 2500, 2500, 5000, 150), 8000, sure=False),
    _Row(r"B200", 148, (80, 1125, 2250, 2250, 4500, 4500), 8000),
    _Row(r"RTX 5090(?! D| Laptop)", 170, (104.8, 104.8, 209.5, 209.5, 419, 419), 1792, sure=False),
    _Row(r"RTX 5080(?! Laptop)", 84, (56.3, 56.3, 112.6, 112.6, 225, 225), 960, sure=False),
    _Row(r"RTX PRO 6000 Blackwell(?!.*Max-Q)", 188, (126, 252, 504, 504, 1007, 1007), 1792, sure=False),
    # Matrix cores of AMD multiply 32 bits, too: `fp32` is theirs. A device is one die of MI250.
    _Row(r"MI100", 120, (46.1, 0, 92.3, 184.6, 0, 184.6), 1229, sure=False),
    _Row(r"MI210", 104, (45.3, 0, 181, 181, 0, 181), 1638),
    _Row(r"MI250X", 110, (47.9, 0, 191.5, 191.5, 0, 191.5), 1638),
    _Row(r"MI250", 104, (45.3, 0, 181, 181, 0, 181), 1638),
    _Row(r"MI300A", 228, (122.6, 490, 980.6, 980.6, 1961, 1961), 5300),
    _Row(r"MI300X", 304, (163.4, 653.7, 1307.4, 1307.4, 2614.9, 2614.9), 5300),
    _Row(r"MI325X", 304, (163.4, 653.7, 1307.4, 1307.4, 2614.9, 2614.9), 6000),
    _Row(r"MI350X", 256, (144, 0, 2310, 2310, 4614, 4614), 8000),
    _Row(r"MI355X", 256, (157, 0, 2517, 2517, 5033, 5033), 8000),
)
#: with fewer multiprocessors than this part of the listed ones it is a part of the device (MIG), or another variant
_WHOLE = 0.95


@lru_cache(maxsize=64)
def _row_of(name: str) -> _Row | None:
    return next((row for row in _DEVICES if re.search(row.name, name, re.IGNORECASE)), None)


def peaks_of(device: Mapping[str, Any] | None) -> Peaks | None:
    """The peaks of a device; None when it is not known.

    device   an entry of `deviceProperties`, as in `Trace.header.devices`

    A part of a device (fewer multiprocessors than it should have) has that part of the peaks, and they are not sure.
    """
    if device is None:
        return None
    name, count = device.get("name"), device.get("numSms")
    row = _row_of(name or _unnamed(device)) if isinstance(name, str) else None
    if row is None:
        return None
    part = 1.0
    if isinstance(count, int) and 0 < count < _WHOLE * row.multiprocessors:
        part = count / row.multiprocessors
    return Peaks(
        flops=MappingProxyType(
            {kind: part * 1e12 * peak for kind, peak in zip(_TYPES, row.tflops, strict=True) if peak}
        ),
        bandwidth=part * 1e9 * row.gbytes,
        sure=row.sure and part == 1.0,
    )


def _unnamed(device: Mapping[str, Any]) -> str:
    """ROCm may leave the name empty: what has the size of only one device is that one."""
    size = (device.get("warpSize"), device.get("computeMajor"), device.get("computeMinor"), device.get("numSms"))
    memory = device.get("totalGlobalMem")
    if size == (64, 9, 4, 304) and isinstance(memory, int):
        return "MI300X" if memory < 240e9 else "MI325X"
    return ""
