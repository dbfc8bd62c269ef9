"""On which devices a program runs, and how advice that names things of CUDA is said for the others.

PyTorch has most of what rules advise on every device, under other names: `torch.xpu` for `torch.cuda`, HIP graphs for
CUDA graphs. What a device does not have is left out. Rules write for CUDA; `said_for` is applied to all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from torch_tb_profiler.analysis.remember import remembered
from torch_tb_profiler.insights.rule import Link
from torch_tb_profiler.late_pattern import late_pattern
from torch_tb_profiler.model import Model

Platform = Literal["cuda", "rocm", "xpu", "npu", "other"]

#: how calls of their APIs begin
_CALLS: Mapping[Platform, str] = {
    "cuda": r"cuda[A-Z]|cu[A-Z]",
    "rocm": r"hip[A-Z]|hsa_",
    "xpu": r"(?:ur|ze|zes|pi)[A-Z]",
    "npu": r"acl[A-Z]?|AscendCL@|Ascend|launch\b.*@acl",
}
_OF_CALL = {name: late_pattern(rf"^(?:{begin})") for name, begin in _CALLS.items()}
_NAMES: Mapping[Platform, str] = {
    "cuda": r"NVIDIA|GeForce|Tesla|Quadro|\b[AHBVGL]\d{2,3}\b",
    "rocm": r"AMD|Radeon|Instinct|\bMI\d{2,3}|gfx\d",
    "xpu": r"Intel|Data Center GPU|\bArc\b",
    "npu": r"Ascend|\b910",
}
_OF_NAME = {name: late_pattern(text) for name, text in _NAMES.items()}

_Words = tuple[tuple[str, str], ...]
#: names in code and of programs: what is written, and what is meant there; longer ones before what is in them
NAMES: Mapping[Platform, _Words] = {
    "cuda": (),
    "rocm": (
        ("CUDA_DEVICE_MAX_CONNECTIONS", "GPU_MAX_HW_QUEUES"),
        ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF"),
        ("nvidia-smi -q -d CLOCK,TEMPERATURE,PERFORMANCE", "amd-smi metric --clock --temperature"),
        ("nvidia-smi nvlink -s", "amd-smi topology"),
        ("nvidia-smi nvlink -e", "amd-smi xgmi"),
        ("nvidia-smi topo -m", "amd-smi topology"),
        ("nccl-tests", "rccl-tests"),
    ),
    "xpu": (
        ("nvidia-smi -q -d CLOCK,TEMPERATURE,PERFORMANCE", "xpu-smi stats"),
        ("nvidia-smi nvlink -s", "xpu-smi topology -m"),
        ("nvidia-smi nvlink -e", "xpu-smi stats"),
        ("nvidia-smi topo -m", "xpu-smi topology -m"),
        ("NCCL_DEBUG=INFO", "CCL_LOG_LEVEL=info"),
        ("torch.cuda.", "torch.xpu."),
        ('autocast("cuda"', 'autocast("xpu"'),
        ("ProfilerActivity.CUDA", "ProfilerActivity.XPU"),
    ),
    "npu": (
        ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_NPU_ALLOC_CONF"),
        ("PYTORCH_NO_CUDA_MEMORY_CACHING", "PYTORCH_NO_NPU_MEMORY_CACHING"),
        ("nvidia-smi -q -d CLOCK,TEMPERATURE,PERFORMANCE", "npu-smi info"),
        ("nvidia-smi nvlink -s", "npu-smi info -t topo"),
        ("nvidia-smi nvlink -e", "npu-smi info"),
        ("nvidia-smi topo -m", "npu-smi info -t topo"),
        ("torch.cuda.", "torch.npu."),
        ('autocast("cuda"', 'autocast("npu"'),
        ("ProfilerActivity.CUDA", "ProfilerActivity.NPU"),
    ),
    "other": (),
}
_NO_LOADING: _Words = (
    (", or load all when it starts: `CUDA_MODULE_LOADING=EAGER`", ""),
    (", or set `CUDA_MODULE_LOADING=EAGER`", ""),
)
_NO_GRAPHS: _Words = (
    (
        '`torch.cuda.set_sync_debug_mode("warn")` names each line that waits.',
        "`with_stack=True` shows the lines that wait.",
    ),
    (
        '`torch.compile(model, mode="reduce-overhead")` launches them as CUDA graphs.',
        "`torch.compile(model, fullgraph=True)` compiles all of it, or says why not.",
    ),
    (
        "instantiate a CUDA graph once for each shape, before the loop, and only `graph.replay()` in it",
        "instantiate a graph once for each shape, before the loop, and only launch it there",
    ),
)
_EXPANDABLE = "`PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`"
#: the same of clauses
CLAUSES: Mapping[Platform, _Words] = {
    "cuda": (),
    "rocm": (*_NO_LOADING, ("CUDA graph", "HIP graph"), ("tensor cores", "matrix cores")),
    "xpu": (
        *_NO_LOADING,
        *_NO_GRAPHS,
        (f"try {_EXPANDABLE}, then a smaller", "try a smaller"),
        (
            f"Set {_EXPANDABLE} before the program starts, so that free memory is not fragmented. If that does not "
            "help, memory is nearly full: a",
            "Memory is nearly full, or fragmented: pad sizes to a few, then a",
        ),
        (f"Set {_EXPANDABLE} before the program starts. Where", "Where"),
        (f"{_EXPANDABLE} avoids allocations in steps.", "it may be nearly full."),
        ("tensor cores", "matrix engines"),
    ),
    "npu": (*_NO_LOADING, *_NO_GRAPHS, ("tensor cores", "cube units")),
    "other": (*_NO_LOADING, *_NO_GRAPHS),
}


#: pages about what only some devices have
_OF_NVIDIA, _OF_CUDA = late_pattern(r"docs\.nvidia\.com"), late_pattern(r"notes/cuda\.html|torch\.cuda\.")


@remembered
def platform(model: Model) -> Platform:
    """Whose devices work in a trace: by the calls of their API, else by their names. `cuda` where no device does."""
    strings, name = model.trace.strings, model.trace.events.name[model.launches.row]
    counts = {
        each: int(np.count_nonzero(strings.where(pattern.search, name)[name])) for each, pattern in _OF_CALL.items()
    }
    most = max(counts, key=lambda each: counts[each])
    if counts[most]:
        return most
    names = [str(each.get("name", "")) for each in model.trace.header.devices]
    found = {each for each, pattern in _OF_NAME.items() if any(pattern.search(text) for text in names)}
    if len(found) == 1:
        return found.pop()
    return "other" if model.has_device_work and (names or len(name)) else "cuda"


def said_for(where: Platform, text: str) -> str:
    """A sentence that was written for CUDA, as it is said for other devices."""
    for written, meant in (*CLAUSES[where], *NAMES[where]):
        text = text.replace(written, meant)
    return text


def as_said_for(where: Platform, said: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a finding that a rule wrote, as they are said for such devices.

    For other languages its values have the `platform`, and what is `renamed`: lines of a name and that which is meant.
    """
    if where == "cuda":
        return dict(said)
    texts = {name: said_for(where, said[name]) for name in ("title", "detail", "advice")}
    renamed = "\n".join("\t".join(pair) for pair in NAMES[where])
    values = {**said["values"], "platform": where, "renamed": renamed}
    return {**said, **texts, "values": values, "links": links_for(where, said["links"])}


def links_for(where: Platform, links: Sequence[Link]) -> tuple[Link, ...]:
    """Those pages that are about such devices, too."""
    apart = () if where == "cuda" else (_OF_NVIDIA,) if where == "rocm" else (_OF_NVIDIA, _OF_CUDA)
    return tuple(each for each in links if not any(pattern.search(each.url) for pattern in apart))
