"""A trace with more different launches than an answer sends at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.events import kernel, launch, op


def many_launches(launches: int, names: int = 3) -> list[dict[str, Any]]:
    """Kernels `gemm_<n>_kernel`, every launch with a grid of its own, from operators that alternate."""
    found: list[dict[str, Any]] = []
    for at in range(launches):
        found += [
            op(("aten::mm", "aten::addmm")[at % 2], 50 * at, 40),
            launch(50 * at + 1, at + 1, 2),
            kernel(
                50 * at + 5, 1 + at % 40, at + 1, f"gemm_{at % names}_kernel", grid=[at + 1, 1, 1], block=[64, 1, 1]
            ),
        ]
    return found


def write_many_launches(path: Path, launches: int, names: int = 3) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": many_launches(launches, names)}))
    return path
