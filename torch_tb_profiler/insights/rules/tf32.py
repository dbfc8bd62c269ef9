"""Products of 32 bits on plain cores, where tensor cores would multiply them as TF32."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.flops.products import FIRST_WITH_TF32
from torch_tb_profiler.analysis.shared.tensor_cores import Use, nvidia_capability
from torch_tb_profiler.arrays.types import Bool
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import DEVICE, PROPERTIES, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.products import Products, products_of
from torch_tb_profiler.model.kernel_names.family import Kind

#: where the peak is less than this many times that of plain cores, TF32 is nothing to advise
LEAST_RATIO = 2.0


def _find(facts: Facts) -> Sequence[Found]:
    products = products_of(facts)
    if products is None or not _have_tf32(facts, products):
        return ()
    convolves = _is_convolution(products)
    multiplies = products.are_of(Kind.GEMM) & ~convolves
    found = (_of_family(facts, products, multiplies, "matmul"), _of_family(facts, products, convolves, "conv"))
    return [each for each in found if each is not None]


def _have_tf32(facts: Facts, products: Products) -> bool:
    """Whether it is worth something on every device."""
    header = facts.trace.header
    capabilities = [nvidia_capability(header.device(device)) for device in products.peaks]
    return all(each is not None and each >= FIRST_WITH_TF32 for each in capabilities) and all(
        each.flops.get("tf32", 0) >= LEAST_RATIO * each.flops["fp32"] for each in products.peaks.values()
    )


def _is_convolution(products: Products) -> Bool:
    """Which of the chosen kernels convolve, by their kind or as part of a call of a convolution."""
    call = products.kernels.call[products.chosen]
    by_call = np.append(products.of_shapes("batch") == 0, False)[call]
    convolves: Bool = products.are_of(Kind.CONV) | by_call
    return convolves


def _of_family(facts: Facts, products: Products, family: Bool, what: str) -> Found | None:
    slow = family & products.are("fp32") & products.use(Use.NO) & ~products.is_for_few_rows
    spent = products.time(slow)
    share = spent / products.compute_ns if products.compute_ns else 0.0
    # where some are multiplied as TF32 it is on, and libraries chose plain cores for the others
    if share < facts.limit("tf32", "least_share") or products.time(family & products.are("tf32")):
        return None
    faster = products.faster(
        products.chosen[slow],
        products.least_ns("tf32") / facts.limit("tf32", "efficiency"),
        facts.limit("tf32", "most_speedup"),
        facts.limit("tf32", "speedup_without_shapes"),
    )
    advice = {
        "matmul": 'Call `torch.set_float32_matmul_precision("high")` before the model runs: TF32 keeps the range of 32 '
        "bits, with 10 bits of precision.",
        "conv": "Set `torch.backends.cudnn.allow_tf32 = True`, which is torch's default: something in the program has "
        "turned it off.",
    }[what]
    words = {"matmul": "matrix products", "conv": "convolutions"}[what]
    return Found(
        title=f"TF32 is off for {words}",
        detail=(
            f"{100 * share:.1f} % of the time of compute kernels are {words} of 32-bit numbers on plain cores, and "
            "none uses tensor cores, which this GPU has for them."
        ),
        advice=advice,
        values={"what": what, "share": share},
        rows=products.rows(faster.kernels),
        changes=(products.change(faster),),
        confidence=products.confidence(faster),
        evidence=(
            Evidence("fp32_products", "32-bit products on plain cores, per step", spent / facts.steps, "ns", "kernels"),
            Evidence("share_of_compute", "Share of the time of compute kernels", share, "fraction", "kernels"),
        ),
        links=(Link("tf32", "TensorFloat-32", "https://docs.pytorch.org/docs/stable/notes/cuda.html#tf32-on-ampere"),),
    )


RULE = Rule("tf32", "R21", (STEPS, DEVICE, PROPERTIES), _find)
