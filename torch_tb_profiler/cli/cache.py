"""`torch-tb-profiler cache`."""

from __future__ import annotations

import argparse

from torch_tb_profiler.defaults import declare_cache_dir


class Cache:
    """Show the size of the cache of traces, shrink it, or empty it.

    Everything in it can be made again from the traces. Of a shared place, only the files that were copied to this
    machine count.
    """

    name = "cache"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        what = parser.add_mutually_exclusive_group()
        what.add_argument(
            "--prune", action="store_true", help="remove the least recently used entries until the cache fits its limit"
        )
        what.add_argument("--clear", action="store_true", help="remove everything")
        parser.add_argument("--json", action="store_true", help="as JSON")
        declare_cache_dir(parser)
        parser.epilog = "Example:\n  torch-tb-profiler cache\n  torch-tb-profiler cache --prune"

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.cli.work import cache

        cache.run(arguments)
