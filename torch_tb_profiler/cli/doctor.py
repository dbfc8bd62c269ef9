"""`torch-tb-profiler doctor`."""

from __future__ import annotations

import argparse

from torch_tb_profiler.defaults import declare_cache_dir


class Doctor:
    """Print what a bug report needs: versions, files found and skipped, health of traces, cache, storage.

    Shows only environment variables of this program, no credentials in addresses, and not the home directory. The exit
    code is 3 if a trace has errors or cannot be read.
    """

    name = "doctor"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("path", metavar="PATH", nargs="?", help="a log directory, a run's directory, or a file")
        parser.add_argument(
            "--profiler", action="store_true", help="print a profile(...) call that records what all views need"
        )
        parser.add_argument("--json", action="store_true", help="as JSON")
        declare_cache_dir(parser)
        parser.epilog = "Example:\n  torch-tb-profiler doctor LOGDIR\n  torch-tb-profiler doctor --profiler"

    def run(self, arguments: argparse.Namespace) -> int:
        from torch_tb_profiler.cli.work import doctor

        return doctor.run(arguments)
