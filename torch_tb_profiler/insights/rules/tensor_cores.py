"""Products of 32 bits, where tensor cores would do those of 16 several times as fast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from torch_tb_profiler.analysis.flops.products import ELEMENTS
from torch_tb_profiler.arrays.types import Float64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import DEVICE, PROPERTIES, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.products import Products, products_of
from torch_tb_profiler.model.kernel_names.family import Kind

Half = Literal["bf16", "fp16"]


def _find(facts: Facts) -> Sequence[Found]:
    products = products_of(facts)
    half = None if products is None else _half_of(products)
    if products is None or half is None:
        return ()
    whole = max(products.time(np.ones(len(products.chosen), np.bool_)), 1)
    wide = products.are("fp32", "tf32")
    undecided = (products.kernels.element[products.chosen] < 0) & ~products.are_of(Kind.GEMV)
    spent = products.time(wide)
    narrow = products.time(products.are("bf16", "fp16", "fp8", "int8"))
    share = spent / products.compute_ns if products.compute_ns else 0.0
    if (
        share < facts.limit("tensor_cores", "least_share")
        or spent < facts.limit("tensor_cores", "least_share_of_products") * whole
        or narrow > facts.limit("tensor_cores", "most_16_bits") * whole
        or products.time(undecided) > facts.limit("tensor_cores", "most_undecided") * whole
    ):
        return ()
    least = products.least_ns(half, size=2) / _expected(facts, products)
    faster = products.faster(
        products.chosen[wide & ~products.is_for_few_rows],
        least,
        facts.limit("tensor_cores", "most_speedup"),
        facts.limit("tensor_cores", "speedup_without_shapes"),
    )
    # what is multiplied as TF32 gains less: it is on tensor cores already
    as_tf32 = products.kernels.element[faster.kernels] == ELEMENTS.index("tf32")
    target = np.where(as_tf32, np.maximum(faster.target_ns, _half_the_time(products, faster.kernels)), faster.target_ns)
    faster = type(faster)(faster.kernels, target.astype(np.int64), faster.by_shape)
    training, twice = facts.is_training, bool(2 * products.time(products.are("tf32")) > spent)
    return (
        Found(
            title="Products are computed in 32 bits",
            detail=(
                f"Kernels that multiply matrices or convolve in 32 bits take {100 * share:.0f} % of the time of "
                f"compute kernels; tensor cores do it in 16 bits {'up to twice' if twice else 'several times'} as fast."
            ),
            advice=_advice(half, training),
            values={"share": share, "half": half, "training": training, "twice": twice},
            rows=products.rows(faster.kernels),
            changes=(products.change(faster),),
            confidence=products.confidence(faster),
            evidence=(
                Evidence("fp32_data", "Products of 32-bit numbers, per step", spent / facts.steps, "ns", "kernels"),
                Evidence("share_of_compute", "Share of the time of compute kernels", share, "fraction", "kernels"),
                Evidence("share_of_products", "Share of the time of products", spent / whole, "fraction", "kernels"),
            ),
            links=(
                Link("mixed_precision", "Automatic mixed precision", "https://docs.pytorch.org/docs/stable/amp.html"),
            ),
        ),
    )


def _expected(facts: Facts, products: Products) -> Float64:
    """Shape (calls,): the part of the peak that each is expected to reach in 16 bits.

    One that reaches more as TF32 does so in 16 bits, too.
    """
    usual = facts.limit("tensor_cores", "efficiency")
    as_tf32 = products.call_element == ELEMENTS.index("tf32")
    return np.where(as_tf32, np.clip(np.nan_to_num(products.efficiency), usual, 1.0), usual)


def _half_of(products: Products) -> Half | None:
    """The 16 bits that all devices multiply on tensor cores: bfloat16 where they can."""
    choices: tuple[Half, ...] = ("bf16", "fp16")
    return next((each for each in choices if all(each in peaks.flops for peaks in products.peaks.values())), None)


def _half_the_time(products: Products, kernels: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Float64:
    half: Float64 = products.kernels.duration[kernels] / 2
    return half


def _advice(half: Half, training: bool) -> str:
    dtype = {"bf16": "bfloat16", "fp16": "float16"}[half]
    if not training:
        convert = f"convert it: `model.to(torch.{dtype})`."
        return f'Run the model under `torch.autocast("cuda", dtype=torch.{dtype})`, or {convert}'
    if half == "fp16":
        return (
            'Run forward and loss under `torch.autocast("cuda", dtype=torch.float16)`, and scale the loss with '
            "`torch.amp.GradScaler()`."
        )
    return 'Run forward and loss under `torch.autocast("cuda", dtype=torch.bfloat16)`; parameters stay in 32 bits.'


RULE = Rule("tensor_cores", "R22", (STEPS, DEVICE, PROPERTIES), _find)
