"""How many elements a kernel loads at once, and how many it should: 16 bytes."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.flops.matmuls import ELEMENTS
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.types import Int8, Int64
from torch_tb_profiler.insights.shared.products import Products
from torch_tb_profiler.lazy_pattern import lazy_pattern

_ALIGN = lazy_pattern(r"align_?(\d+)(?!\d)")
#: elements in 16 bytes, by what is multiplied, in the order of ELEMENTS; 0: not looked at
_NEEDED = np.array([{"tf32": 4, "bf16": 8, "fp16": 8, "fp8": 16, "int8": 16}.get(each, 0) for each in ELEMENTS])


def needed_of(element: Int8) -> Int64:
    """How many elements are 16 bytes; 0 for those that are not looked at.

    element   shape (n,): indices into ELEMENTS, -1 for unknown
    Returns shape (n,).
    """
    found: Int64 = np.where(element >= 0, _NEEDED[element], 0)
    return found


def aligned_by_name(products: Products) -> Int64:
    """Shape (products.chosen,): how many elements are loaded at once, by the kernel's name; 0 where it does not say."""
    trace = products.facts.trace
    names = trace.events.name[products.kernels.row[products.chosen]]
    of_code = np.zeros(len(trace.strings), np.int64)
    for code in distinct(names).tolist():
        found = _ALIGN.search(trace.strings[code])
        of_code[code] = int(found[1]) if found else 0
    return of_code[names]


def loads_pieces(products: Products) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Shape (products.chosen,): whether the name says that less than 16 bytes are loaded at once."""
    named = aligned_by_name(products)
    return (named > 0) & (named < needed_of(products.kernels.element[products.chosen]))
