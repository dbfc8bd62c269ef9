"""What recorded traces multiply, beside sums by hand, and whether any product is faster than its device can be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.recorded import SHARED, as_parameters, model_of, shared_model_of, short, traces
from torch_tb_profiler.analysis.flops.matmuls import ELEMENTS, matmul_kernels
from torch_tb_profiler.analysis.roofline.roofs import minimal_ns
from torch_tb_profiler.analysis.shared.peaks import peaks_of

FILES = traces(SHARED) if SHARED.is_dir() else []

#: of each image of ResNet-50 the multiplications of its convolutions, of its first one, and of its last layer
RESNET_CONVOLUTIONS, RESNET_FIRST, RESNET_LAST = 4_087_136_256, 112 * 112 * 64 * 3 * 49, 2048 * 1000
#: each product once forward and twice backward, but the first convolution, whose input has no gradient
RESNET_STEP = 2 * 32 * (3 * (RESNET_CONVOLUTIONS + RESNET_LAST) - RESNET_FIRST)
#: 141 tokens, 4 layers of 512 with 2048 between, and a vocabulary of 30522
BERT = 2 * 141 * (4 * (4 * 512 * 512 + 2 * 512 * 2048) + 512 * 512 + 512 * 30522)
#: 8 × 4096 tokens, 4 products of 2048 × 2048 and 3 with 8192
BLOCK = 2 * 8 * 4096 * (4 * 2048 * 2048 + 3 * 2048 * 8192)


@pytest.mark.parametrize(
    ("name", "flops"),
    [
        ("kineto/resnet50_num_workers_0", 6 * RESNET_STEP),
        ("kineto/resnet50_num_workers_4", 6 * RESNET_STEP),
        ("TraceLens/bert_small_h100", BERT),
        ("TraceLens/bert_small_mi300x", BERT),
        ("TraceLens/inductor_triton_mi300x", BLOCK),
        ("TraceLens/vllm_decode_hipgraph_mi300", 2 * 32 * 2880 * 201_088),
    ],
)
def test_flop_are_those_of_the_model(name: str, flops: int) -> None:
    files = sorted((SHARED / name).glob("*.json.gz"))
    if not files:
        pytest.skip(f"{name} of the shared traces is not here")
    calls = matmul_kernels(model_of(files[0])).calls
    assert sum(calls.shapes[shape].flops for shape in calls.shape.tolist()) == flops


@pytest.mark.parametrize("path", as_parameters(FILES), ids=short)
def test_nothing_is_faster_than_its_device(path: Path) -> None:
    """But for convolutions of 32 bits by other algorithms (Winograd), which multiply less than they are counted for."""
    model = shared_model_of(path)
    kernels = matmul_kernels(model)
    calls = kernels.calls
    assert (calls.duration == np.bincount(kernels.call[kernels.call >= 0], kernels.duration[kernels.call >= 0])).all()
    for at in range(len(calls)):
        first = int(calls.first[at])
        peaks = peaks_of(model.trace.header.device(int(model.device_work.device[kernels.place[first]])))
        element, shape = int(kernels.element[first]), calls.shapes[int(calls.shape[at])]
        if peaks is None or element < 0 or ELEMENTS[element] == "fp64":
            continue
        least = minimal_ns(shape, peaks, ELEMENTS[element])  # type: ignore[arg-type]
        most = 4 if shape.batch == 0 and ELEMENTS[element] == "fp32" else 1.05
        assert least is None or least <= most * calls.duration[at], (shape, calls.duration[at])
