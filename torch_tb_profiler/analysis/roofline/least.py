"""How long a device needs at least."""

from __future__ import annotations

from torch_tb_profiler.analysis.flops.work import Product
from torch_tb_profiler.analysis.shared.peaks import ElementType, Peaks


def minimal_ns(product: Product, peaks: Peaks, multiplied: ElementType, size: int | None = None) -> float | None:
    """For a product, ns: the longer of multiplying and moving. None if the device has no such units.

    multiplied   the element type that it would multiply
    size         bytes that an element would have; by default as it is
    """
    rate = peaks.flops.get(multiplied)
    if rate is None:
        return None
    moved = product.bytes if size is None else size * (product.elements + product.weights)
    return 1e9 * max(product.flops / rate, moved / peaks.bandwidth)
