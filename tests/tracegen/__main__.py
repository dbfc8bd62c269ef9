"""Write a generated run: python -m tests.tracegen --out logs/generated --ranks 4"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .config import Config
from .devices import DEVICES
from .writer import write_run


def main() -> None:
    default = Config()
    parser = argparse.ArgumentParser(prog="python -m tests.tracegen", description="Write generated PyTorch traces.")
    parser.add_argument("--out", required=True, type=Path, help="run folder, one file per rank")
    for name, text in (
        ("ranks", "processes, one device each"),
        ("gpus", "devices listed in each file (default: as many as ranks)"),
        ("steps", "recorded steps"),
        ("first-step", "number of the first step"),
        ("layers", "transformer blocks"),
        ("events", "events per rank, about; sets the number of steps"),
        ("seed", "another seed, other times"),
        ("slow-rank", "rank that loses --slow-ns in aten::nonzero in every step"),
        ("slow-ns", "see --slow-rank"),
        ("skew-ns", "largest clock error of a rank"),
    ):
        parser.add_argument(
            f"--{name}",
            type=int,
            default=getattr(default, name.replace("-", "_")),
            help=f"{text} (default %(default)s)",
        )
    parser.add_argument("--device", choices=DEVICES, default=default.device)
    parser.add_argument(
        "--overlap",
        type=float,
        default=1.0,
        help="share of gradient buckets reduced during the backward pass",
    )
    parser.add_argument("--stream-overlap", action="store_true", help="let kernels of one stream overlap")
    for name in ("stacks", "memory", "shapes"):
        parser.add_argument(f"--no-{name}", dest=name, action="store_false", help=f"leave {name} out")
    parser.add_argument("--legacy", action="store_true", help="the spelling of 2021")
    parser.add_argument(
        "--style",
        choices=("torch213", "lines"),
        default="torch213",
        help="indented as torch writes, or an event per line",
    )
    parser.add_argument("--no-gzip", dest="gzip", action="store_false")
    options = vars(parser.parse_args())
    folder, style, compress = options.pop("out"), options.pop("style"), options.pop("gzip")
    for truth in write_run(Config(**options), folder, style, compress):
        sys.stdout.write(f"rank {truth.rank}: {truth.events} events, {truth.total_device_ns} ns device time\n")


if __name__ == "__main__":
    main()
