"""Find the devices a program runs on, and rewrite advice written for CUDA for the others.

PyTorch has most of what rules advise on every device, under other names: `torch.xpu` for `torch.cuda`, HIP graphs for
CUDA graphs. What a device does not have is left out. Rules write for CUDA; `said_for` is applied to all of them, with
what `words/en/platforms.toml` has for the devices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.insights.rule import Link
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.words.files import platform_clauses, platform_names

Platform = Literal["cuda", "rocm", "xpu", "npu", "other"]

#: how calls of their APIs begin
_CALLS: Mapping[Platform, str] = {
    "cuda": r"cuda[A-Z]|cu[A-Z]",
    "rocm": r"hip[A-Z]|hsa_",
    "xpu": r"(?:ur|ze|zes|pi)[A-Z]",
    "npu": r"acl[A-Z]?|AscendCL@|Ascend|launch\b.*@acl",
}
_OF_CALL = {name: lazy_pattern(rf"^(?:{begin})") for name, begin in _CALLS.items()}
_NAMES: Mapping[Platform, str] = {
    "cuda": r"NVIDIA|GeForce|Tesla|Quadro|\b[AHBVGL]\d{2,3}\b",
    "rocm": r"AMD|Radeon|Instinct|\bMI\d{2,3}|gfx\d",
    "xpu": r"Intel|Data Center GPU|\bArc\b",
    "npu": r"Ascend|\b910",
}
_OF_NAME = {name: lazy_pattern(text) for name, text in _NAMES.items()}

#: pages about what only some devices have
_OF_NVIDIA, _OF_CUDA = lazy_pattern(r"docs\.nvidia\.com"), lazy_pattern(r"notes/cuda\.html|torch\.cuda\.")


@cached
def platform(model: Model) -> Platform:
    """Whose devices work in a trace: by the calls of their API, else by their names. `cuda` where no device does."""
    strings, name = model.trace.strings, model.trace.events.name[model.launches.row]
    counts = {
        each: int(np.count_nonzero(strings.where(pattern.search, name)[name])) for each, pattern in _OF_CALL.items()
    }
    most = max(counts, key=lambda each: counts[each])
    if counts[most]:
        return most
    devices = [str(each.get("name", "")) for each in model.trace.header.devices]
    found = {each for each, pattern in _OF_NAME.items() if any(pattern.search(text) for text in devices)}
    if len(found) == 1:
        return found.pop()
    return "other" if model.has_device_work and (devices or len(name)) else "cuda"


def said_for(where: Platform, text: str) -> str:
    """Rewrite a sentence that was written for CUDA in the terms of another platform."""
    for written, meant in (*platform_clauses(where), *platform_names(where)):
        text = text.replace(written, meant)
    return text


def as_said_for(where: Platform, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Rewrite the fields of a finding in the terms of a platform.

    For other languages its values have the `platform`, and `renamed`: lines of a CUDA name and its name there.
    """
    if where == "cuda":
        return dict(fields)
    texts = {name: said_for(where, fields[name]) for name in ("title", "detail", "advice")}
    renamed = "\n".join("\t".join(pair) for pair in platform_names(where))
    values = {**fields["values"], "platform": where, "renamed": renamed}
    return {**fields, **texts, "values": values, "links": links_for(where, fields["links"])}


def links_for(where: Platform, links: Sequence[Link]) -> tuple[Link, ...]:
    """Select the pages that also cover such devices."""
    apart = () if where == "cuda" else (_OF_NVIDIA,) if where == "rocm" else (_OF_NVIDIA, _OF_CUDA)
    return tuple(each for each in links if not any(pattern.search(each.url) for pattern in apart))
