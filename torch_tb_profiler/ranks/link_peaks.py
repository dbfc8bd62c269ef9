"""What links between devices of a node move at most in one direction, bytes/s, by the name of the device.

Values are those of data sheets: half of the bandwidth of both directions. Links between nodes are not in a trace.
"""

from __future__ import annotations

import re

from torch_tb_profiler.lazy_pattern import lazy_pattern

_PEAKS = tuple(
    (lazy_pattern(pattern, re.IGNORECASE), gigabytes * 1e9)
    for pattern, gigabytes in (
        (r"V100.{0,100}SXM|V100-DGXS", 150.0),
        (r"A800.{0,100}SXM|A800-SXM", 200.0),
        (r"A100.{0,100}SXM", 300.0),
        (r"H800", 200.0),
        (r"H20\b", 450.0),
        (r"GH200|H200(?! NVL)|H100 80GB HBM3|H100.{0,100}SXM", 450.0),
        (r"B200|GB200|B300|GB300", 900.0),
        (r"MI300X|MI325X", 448.0),
    )
)


def link_peak(device: str | None) -> float | None:
    """None if the device is not listed, or has no such links.

    >>> link_peak("NVIDIA H100 80GB HBM3"), link_peak("NVIDIA A100-PCIE-40GB"), link_peak(None)
    (450000000000.0, None, None)
    """
    return next((peak for pattern, peak in _PEAKS if device and pattern.search(device)), None)
