"""`torch-tb-profiler cache`."""

from __future__ import annotations

import argparse

from torch_tb_profiler.cli.cache_dir import declare_cache_dir


class Cache:
    """Say how large the cache of traces that were read is; make it smaller, or empty it.

    Nothing in it is the only copy of anything: what is missing is read again. Of a shared place only what was copied
    from there to this machine counts.
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
