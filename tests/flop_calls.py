"""Calls of operators as a trace has their arguments, for tests of FLOP and bytes."""

from __future__ import annotations

import json
from typing import Any

from torch_tb_profiler.analysis.flops.operators import work_of
from torch_tb_profiler.analysis.flops.work import OperatorWork

BF16, FP8, LONG, INT = "c10::BFloat16", "c10::Float8_e4m3fn", "long int", "int"


def of(
    operator: str, dims: Any, types: Any = "float", concrete: Any = None, strides: Any = None, kernel: str = ""
) -> OperatorWork:
    kinds = [types] * len(dims) if isinstance(types, str) else types
    shapes, types, values, steps = (json.dumps(each) if each else "" for each in (dims, kinds, concrete, strides))
    return work_of(operator, shapes, types, values, steps, kernel)
