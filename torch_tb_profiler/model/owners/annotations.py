"""Whom the annotation of a graph's node names.

A program that annotates what it captures (`torch.cuda.graph_annotations.mark_kernels`) has its words written to every
replay of the node, under keys that it chooses.
"""

from __future__ import annotations

from typing import Any

import msgspec

#: what names the module, the surest first; `name` is how torch keeps an annotation that is only a text
KEYS = ("module_fqn", "fqn", "module", "name")


def named_by(annotation: str) -> str | None:
    """What a text of `DeviceWork.annotation` names; None for nothing."""
    try:
        said: Any = msgspec.json.decode(annotation) if annotation.startswith("{") else {}
    except (msgspec.DecodeError, RecursionError):
        return None
    return next((said[key] for key in KEYS if isinstance(said.get(key), str) and said[key]), None)
