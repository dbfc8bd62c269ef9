"""Checks that torch's exporter in Python writes the keys that the reader knows: python _build/exporter_keys.py WHEEL.

The wheel is read, not installed: of the exporter (torch/profiler/_cupti*, later _cuspy*) all texts in its modules.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from torch_tb_profiler.trace.vocabulary import (  # noqa: E402
    ARGUMENTS_OF_COPIES,
    BARE_NAMES,
    MEMORY_WORDS,
    ORIGINAL_STREAM,
)

_FOLDER = "torch/profiler/"
_EXPORTERS = ("_cupti", "_cuspy")

#: what the reader looks for in the events that this exporter writes
KEYS = (
    *("ac2g", "cuda_runtime", "gpu_memcpy", "gpu_memset", "graph_event_node", "graph_host_node", "kernel"),
    *("block", "bytes", "correlation", "device", "grid", "registers per thread", "shared memory", "stream"),
    *("graph id", "graph node id", "annotation", ORIGINAL_STREAM),
    *(*ARGUMENTS_OF_COPIES, *BARE_NAMES.values(), *MEMORY_WORDS),
)


def missing(wheel: Path) -> list[str]:
    """The keys that no module of the exporter has. Raises SystemExit when the wheel has no such exporter."""
    with ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(".py") and _is_exporter(name)]
        if not names:
            sys.exit(f"{wheel.name} has no exporter in Python below {_FOLDER}: was it renamed?")
        texts = {text for name in names for text in _texts(archive.read(name))}
    return [key for key in KEYS if key not in texts]


def _is_exporter(name: str) -> bool:
    return name.startswith(tuple(_FOLDER + exporter for exporter in _EXPORTERS))


def _texts(source: bytes) -> set[str]:
    nodes = ast.walk(ast.parse(source))
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


if __name__ == "__main__":
    gone = [f"{wheel}: the exporter no longer writes {key!r}" for wheel in sys.argv[1:] for key in missing(Path(wheel))]
    sys.exit("\n".join(gone) if gone else None)
