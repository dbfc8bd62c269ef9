"""Random calls of products, convolutions and attention, as torch records them, and what its FlopCounterMode counts.

    python -m tests.flop_cases COUNT

writes tests/golden/flop_cases.json.gz, which tests read where torch is not installed. On the meta device, where nothing
is computed.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

#: made with torch 2.13
KEPT = Path(__file__).with_name("golden") / "flop_cases.json.gz"
#: what FlopCounterMode counts, of what a case may run
WANTED = (
    *("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::convolution", "aten::convolution_backward"),
    *("_flash_attention", "_flash_attention_backward"),
)


def _convolution(torch: Any, rng: random.Random) -> Callable[[], Any]:
    while True:
        spatial, groups, turned = rng.randint(1, 3), rng.randint(1, 4), rng.random() < 0.3
        ends = rng.randint(1, 8), rng.randint(1, 8)
        size = [rng.randint(1, 40 if spatial < 3 else 12) for _ in range(spatial)]
        kernel, stride, pad, spread = (
            [rng.randint(a, b) for _ in range(spatial)] for a, b in ((1, 5), (1, 3), (0, 2), (1, 2))
        )
        sizes = list(zip(size, kernel, stride, pad, spread, strict=True))
        if all(
            ((s - 1) * t - 2 * p + d * (k - 1) if turned else s + 2 * p - d * (k - 1) - 1) >= 0
            for s, k, t, p, d in sizes
        ):
            break
    x = torch.empty(rng.randint(1, 6), ends[0] * groups, *size, device="meta", requires_grad=rng.random() < 0.7)
    kind = getattr(torch.nn, f"Conv{'Transpose' if turned else ''}{spatial}d")
    layer = kind(ends[0] * groups, ends[1] * groups, kernel, stride, pad, dilation=spread, groups=groups, device="meta")

    return lambda: layer(x).sum().backward()


def _attention(torch: Any, rng: random.Random) -> Callable[[], Any]:
    batch, shared, queries, keys = rng.randint(1, 4), rng.randint(1, 4), rng.randint(1, 300), rng.randint(1, 300)
    heads = shared * rng.randint(1, 4)
    size = 8 * rng.randint(1, 16)
    q, k, v = (
        torch.empty(
            batch,
            heads if at == 0 else shared,
            queries if at == 0 else keys,
            size,
            device="meta",
            dtype=torch.bfloat16,
            requires_grad=True,
        )
        for at in range(3)
    )
    causal = rng.random() < 0.4
    flash = torch.ops.aten._scaled_dot_product_flash_attention

    def call() -> None:
        if shared != heads:
            args = (q, k.repeat_interleave(heads // shared, 1), v.repeat_interleave(heads // shared, 1))
        else:
            args = (q, k, v)
        flash(*args, 0.0, causal)[0].sum().backward()

    return call


def _matrices(torch: Any, rng: random.Random) -> Callable[[], Any]:
    m, n, k, b = (rng.randint(1, 500) for _ in range(4))
    kind = rng.choice(("mm", "addmm", "bmm", "baddbmm", "linear", "matmul", "einsum"))

    def new(*dims: int) -> Any:
        return torch.empty(*dims, device="meta", requires_grad=True)

    calls: dict[str, Callable[[], Any]] = {
        "mm": lambda: torch.mm(new(m, k), new(k, n)),
        "addmm": lambda: torch.addmm(new(n), new(m, k), new(k, n)),
        "bmm": lambda: torch.bmm(new(b, m, k), new(b, k, n)),
        "baddbmm": lambda: torch.baddbmm(new(b, m, n), new(b, m, k), new(b, k, n)),
        "linear": lambda: torch.nn.functional.linear(new(b, m, k), new(n, k), new(n)),
        "matmul": lambda: torch.matmul(new(b, 1, m, k), new(3, k, n)),
        "einsum": lambda: torch.einsum("bmk,bnk->bmn", new(b, m, k), new(b, n, k)),
    }
    return lambda: calls[kind]().sum().backward()


CASES = {"convolution": (_convolution, 0.375), "attention": (_attention, 0.3125), "matrices": (_matrices, 0.3125)}


def cases(count: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """So many: the operators that the profiler writes, with their arguments, and FLOP in all. Needs torch."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    rng = random.Random(seed)
    for family, (make, part) in CASES.items():
        for _ in range(round(count * part)):
            call = make(torch, rng)
            with FlopCounterMode(display=False) as counter:
                call()
            yield {"family": family, "flops": counter.get_total_flops(), "operators": _recorded(torch, call)}


def _recorded(torch: Any, call: Callable[[], Any]) -> list[list[Any]]:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True) as profile:
        call()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profile.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
    wanted = [each for each in events if each.get("cat") == "cpu_op" and each["name"].endswith(WANTED)]
    wanted.sort(key=lambda each: (each["ts"], -each["dur"]))
    found, end = [], 0.0
    for each in wanted:
        if each["ts"] >= end:  # on this device addmm may call mm
            found.append(
                [each["name"], *(each["args"].get(key, []) for key in ("Input Dims", "Input type", "Concrete Inputs"))]
            )
            end = each["ts"] + each["dur"]
    return found


if __name__ == "__main__":
    table = json.dumps(list(cases(int(sys.argv[1]))), separators=(",", ":"))
    KEPT.write_bytes(gzip.compress(table.encode(), mtime=0))
