"""Write a generated job: python -m tests.tracegen.jobs --out logs/job --tp 2 --dp 8 --pp 4 --fault slowgpu:37:1.1"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

from .cluster_writer import write_job
from .job import Fault, FewerSteps, Job, Late, Missing, MoreTokens, SlowGpu, SlowInput

#: by the name in `--fault`; their numbers follow in the order of their fields
FAULTS: dict[str, Callable[..., Fault]] = {
    kind.__name__.lower(): kind for kind in (Late, SlowGpu, MoreTokens, Missing, SlowInput, FewerSteps)
}


def fault_of(text: str) -> Fault:
    name, *numbers = text.split(":")
    if name not in FAULTS:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(sorted(FAULTS))}")
    return FAULTS[name](*(float(number) if "." in number else int(number) for number in numbers))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.tracegen.jobs", description="Write traces of many ranks.")
    parser.add_argument("--out", required=True, type=Path, help="run folder, one file per rank")
    parser.add_argument(
        "--fault", dest="faults", action="append", default=[], type=fault_of, help="see tracegen/job.py"
    )
    for field in fields(Job):
        if isinstance(field.default, bool):
            parser.add_argument(f"--{field.name}", action=argparse.BooleanOptionalAction, default=field.default)
        elif field.name != "faults":
            name = field.name.replace("_", "-")
            parser.add_argument(f"--{name}", type=type(field.default), default=field.default)
    options = vars(parser.parse_args())
    folder, faults = options.pop("out"), tuple(options.pop("faults"))
    run = write_job(Job(**options, faults=faults), folder)
    steps = ", ".join(f"{ns / 1e6:.1f}" for ns in run.truth.step_ns)
    sys.stdout.write(f"{run.job.ranks} ranks, steps of {steps} ms\n")
    for named in run.truth.named:
        sys.stdout.write(f"ranks {', '.join(map(str, named.ranks))}: {named.cause} {named.operator}".rstrip() + "\n")


if __name__ == "__main__":
    main()
