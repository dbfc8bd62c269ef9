"""`torch-tb-profiler ingest`."""

from __future__ import annotations

import argparse

from torch_tb_profiler.defaults import declare_cache_dir


class Ingest:
    """Read every rank of a job, on this machine or on a Dask cluster, and summarize all ranks together.

    Results are kept in the cache, which may be a folder or an object store that others read, too
    (docs/many-ranks.md). Ranks that are already in it are not read again.
    """

    name = "ingest"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("logdir", metavar="LOGDIR", help="directory with traces, at any depth")
        declare_cache_dir(parser, "; a directory becomes such a place")
        parser.add_argument(
            "--scheduler",
            metavar="ADDRESS",
            help="address of a Dask scheduler, such as tcp://127.0.0.1:8786 (needs the extra `dask`)",
        )
        parser.add_argument(
            "--scheduler-file", metavar="FILE", help="file to which the scheduler has written its address"
        )
        parser.add_argument(
            "--scheduler-lost",
            choices=("local", "stop"),
            default="local",
            help="if the scheduler is lost: read the rest on this machine, or stop (default: %(default)s)",
        )
        parser.add_argument(
            "--workers",
            type=int,
            metavar="N",
            help="processes on this machine (default: as many as processors and memory allow)",
        )
        parser.add_argument("--json", action="store_true", help="end with a line of JSON for each run and span")
        parser.epilog = "Example:\n  torch-tb-profiler ingest LOGDIR --cache-dir DIR"

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.cli.work import ingest

        ingest.run(arguments)
