"""`torch-tb-profiler demo`."""

from __future__ import annotations

import argparse
from pathlib import Path

from torch_tb_profiler.cli.messages import tell
from torch_tb_profiler.cli.serve import ServeCommand, declare_server

_RUN = "ddp_gloo_2ranks"


class DemoCommand:
    """Show a sample profile in a browser: two ranks of a job, of which one is late."""

    name = "demo"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        declare_server(parser)
        parser.epilog = "Example:\n  torch-tb-profiler demo --open"

    def run(self, arguments: argparse.Namespace) -> None:
        path = sample()
        tell(f"The sample is {path}", f"In a terminal: torch-tb-profiler {path}")
        arguments.paths = [str(path)]
        ServeCommand().run(arguments)


def sample() -> Path:
    """Return the folder of the sample: wheels have it in the package (setup.py), a checkout in samples/."""
    package = Path(__file__).parents[1]
    installed = package / "demo" / _RUN
    return installed if installed.is_dir() else package.parent / "samples" / _RUN
