"""Kernels that torch.compile generated: what they fuse, how they were configured, where their source is."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category

_GENERATED = lazy_pattern(
    r"(?:graph_[0-9]+_)?(?P<backend>triton|cpp)_(?:(?P<kind>poi|red|per|tem|for)_)?fused_(?P<operators>\w*?)_?(?P<number>[0-9]+)$"
)
_KINDS = {
    "poi": "pointwise",
    "red": "reduction",
    "per": "persistent reduction",
    "tem": "template",
    "for": "foreach",
}


class GeneratedKernels(Result, group="generated"):
    """One row per kernel that a compiler generated, by time, descending."""

    name: tuple[str, ...] = column("Kernel", "Name of the kernel.")
    backend: tuple[str, ...] = column("Language", "triton or cpp.")
    kind: tuple[str | None, ...] = column("Kind", "Kind of Triton kernel; empty if the name does not show it.")
    operators: tuple[str, ...] = column("Fused operators", "The operators in its name, joined by _.")
    calls: Int64 = column("Calls", "How often it ran in the steps.")
    total_ns: Int64 = column("Total", "Σ durations.")
    config: tuple[str | None, ...] = column("Configuration", "Blocks, warps and stages of a Triton kernel.")
    file: tuple[str | None, ...] = column("File", "File that Inductor wrote, if it was recorded.")
    row: Int64 = column("First call", "Event of its first run.", unit=None, hidden=True)


@cached
def generated_kernels(model: Model) -> GeneratedKernels:
    """Kernels of Inductor: on devices, and C++ ones where they are recorded on the host."""
    inside = model.in_steps
    events, strings = model.trace.events, model.trace.strings
    operators = inside.rows_of(Category.OPERATOR)
    kernels = inside.device_work.row[inside.device_category == Category.KERNEL]
    rows = np.concatenate([kernels, operators])
    parsed = {
        code: found
        for code in distinct(events.name[rows]).tolist()
        if (found := _GENERATED.match(strings[code])) is not None
    }
    # a Triton kernel has an operator of its name on the host, which is its launch
    on_host = np.concatenate([np.zeros(len(kernels), np.bool_), np.ones(len(operators), np.bool_)])
    triton = np.array([code for code, found in parsed.items() if found["backend"] == "triton"], np.int64)
    chosen = np.isin(events.name[rows], list(parsed)) & ~(on_host & np.isin(events.name[rows], triton))
    rows = rows[chosen]
    groups = group([events.name[rows].astype(np.int64)])
    total = groups.sum(np.maximum(events.duration[rows], 0))
    order = descending(total, lambda at: strings[int(events.name[rows[groups.first[at]]])])
    first = rows[groups.first[order]]
    configs, files = _told(model, triton)
    matches = [parsed[int(code)] for code in events.name[first]]
    return GeneratedKernels(
        name=tuple(strings.texts(events.name[first])),
        backend=tuple(found["backend"] for found in matches),
        kind=tuple(_KINDS.get(found["kind"] or "") for found in matches),
        operators=tuple(found["operators"] for found in matches),
        calls=groups.count()[order],
        total_ns=total[order],
        config=tuple(configs.get(int(code)) for code in events.name[first]),
        file=tuple(files.get(int(code)) for code in events.name[first]),
        row=first.astype(np.int64),
    )


def _told(model: Model, names: Int64) -> tuple[dict[int, str], dict[int, str]]:
    """By the code of a name: all configurations that the operators of that name say, and the first file."""
    operators, strings = model.trace.operators, model.trace.strings
    at = np.flatnonzero(np.isin(model.trace.events.name[operators.row], names))
    said: dict[int, list[str]] = {}
    files: dict[int, str] = {}
    columns = (operators.kernel_kwargs, operators.num_warps, operators.num_stages, operators.kernel_file)
    keys = [model.trace.events.name[operators.row[at]], *(column[at] for column in columns)]
    for name, blocks, warps, stages, file in np.stack(keys, axis=1)[group(keys).first].tolist() if len(at) else ():
        parts = [
            *([strings[blocks].replace(",", " ")] if strings[blocks] else []),
            *([f"num_warps={warps}"] if warps >= 0 else []),
            *([f"num_stages={stages}"] if stages >= 0 else []),
        ]
        told = " ".join(parts)
        if told and told not in said.setdefault(name, []):
            said[name].append(told)
        if strings[file]:
            files.setdefault(name, strings[file])
    return {name: "; ".join(every) for name, every in said.items() if every}, files
