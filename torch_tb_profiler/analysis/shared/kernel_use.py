"""How compute kernels use the device, as a whole: tensor cores and occupancy, as shares of their time.

Communication kernels, copies, fills and waits are no part of it: they fill no multiprocessor with work of the program,
and how long a collective runs depends on the other ranks.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Fraction
from torch_tb_profiler.analysis.result import column
from torch_tb_profiler.analysis.shared.device_roles import device_roles
from torch_tb_profiler.analysis.shared.quantities import Role, share
from torch_tb_profiler.analysis.shared.residency import known_occupancy
from torch_tb_profiler.analysis.shared.tensor_cores import Use, use_of_device_work
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model import Model


class TensorCores(msgspec.Struct, frozen=True):
    """Parts of the time of compute kernels, 0…1; what is not None adds up to 1. None if there is no such time.

    yes      part of kernels known to use tensor cores, 0…1; None if it is known of none
    no       part of kernels known not to, 0…1; None if it is known of none
    unknown  part of kernels of which it is not known, 0…1
    """

    yes: Annotated[
        Fraction | None,
        column(
            "Tensor cores used",
            "Duration of the compute kernels known by name to use tensor cores ÷ duration of all compute kernels; "
            "empty if it is known for none of them.",
            unit="fraction",
        ),
    ]
    no: Annotated[
        Fraction | None,
        column(
            "Tensor cores not used",
            "Duration of the compute kernels known by name not to use tensor cores ÷ duration of all compute kernels; "
            "empty if it is known for none of them.",
            unit="fraction",
        ),
    ]
    unknown: Annotated[
        Fraction | None,
        column(
            "Tensor cores unknown",
            "Duration of the compute kernels whose name does not show whether they use tensor cores ÷ duration of all "
            "compute kernels.",
            unit="fraction",
        ),
    ]


class Occupancy(msgspec.Struct, frozen=True):
    """Estimated achieved occupancy of compute kernels, 0…1.

    mean         over the kernels where it is known, weighted by duration, 0…1; None if it is known for none
    known_share  time of these ÷ time of all compute kernels, 0…1; None without compute kernels
    """

    mean: Fraction | None
    known_share: Fraction | None


def is_compute(model: Model) -> Bool:
    """Shape (device work,): the compute kernels."""
    computes: Bool = device_roles(model) == Role.COMPUTE
    return computes


def durations(model: Model, chosen: Bool | Int64 | None = None) -> Int64:
    """Of device work, or of chosen rows of it, ns; 0 where the file has less."""
    row = model.device_work.row if chosen is None else model.device_work.row[chosen]
    return np.maximum(model.trace.events.duration[row], 0)


def tensor_cores(model: Model, chosen: Bool | Int64) -> TensorCores:
    """Of chosen rows of device work (a mask or positions), compute kernels."""
    duration, use = durations(model, chosen), use_of_device_work(model)[chosen]
    whole = int(duration.sum())
    if not whole:
        return TensorCores(None, None, None)
    yes, unknown = (int(duration[use == value].sum()) for value in (Use.YES, Use.UNKNOWN))
    if unknown == whole:
        return TensorCores(None, None, 1.0)
    return TensorCores(yes / whole, (whole - yes - unknown) / whole, unknown / whole)


def occupancy(model: Model, chosen: Bool | Int64) -> Occupancy:
    """Of chosen rows of device work (a mask or positions), compute kernels."""
    duration, percent = durations(model, chosen), known_occupancy(model.trace, model.device_work.take(chosen))
    known = ~np.isnan(percent)
    weights = duration[known]
    weight = int(weights.sum())
    mean = float((percent[known] * weights).sum()) / weight / 100 if weight else None
    return Occupancy(mean, share(weight, int(duration.sum())))
