"""`torch-tb-profiler health`."""

from __future__ import annotations

import argparse

from torch_tb_profiler.cli.options import declare_trace


class Health:
    """List what is wrong with a trace, and the code that records what is missing.

    Examines every trace of a run, or those that --worker and --span choose. The exit code is 3 if there are errors.
    """

    name = "health"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        declare_trace(parser)
        parser.add_argument("--json", action="store_true", help="as JSON: the answer of /api/health for each trace")
        parser.epilog = "Example:\n  torch-tb-profiler health LOGDIR/RUN"

    def run(self, arguments: argparse.Namespace) -> int:
        from torch_tb_profiler.cli.work import health

        return health.run(arguments)
