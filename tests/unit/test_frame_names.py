"""Whose code a Python frame is."""

from __future__ import annotations

import pytest

from torch_tb_profiler.model.event_names import is_own_code


@pytest.mark.parametrize(
    "name",
    [
        "train.py(12): main",
        "/srv/project/logging_utils.py(3): log",
        "src/types.py(3): cast",
        "numpyro/infer.py(3): step",
        "resources/json.py(9): load",
    ],
)
def test_code_of_the_program(name: str) -> None:
    assert is_own_code(name)


@pytest.mark.parametrize(
    "name",
    [
        "torch/nn/modules/linear.py(134): forward",
        "multiprocessing/queues.py(113): get",
        "logging/__init__.py(1477): info",
        "threading.py(1032): _bootstrap",
        "selectors.py(415): select",
        "numpy/core/fromnumeric.py(57): _wrapfunc",
        "/opt/venv/lib/python3.11/site-packages/vllm/engine.py(3): step",
        "/usr/lib/python3.11/random.py(3): choice",
        "<built-in method item of Tensor object at 0x7f>",
        "nn.Module: Linear_0",
    ],
)
def test_code_of_others(name: str) -> None:
    assert not is_own_code(name)
