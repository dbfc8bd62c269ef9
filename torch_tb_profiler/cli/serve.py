"""`torch-tb-profiler serve`."""

from __future__ import annotations

import argparse

from torch_tb_profiler.cli.cache_dir import declare_cache_dir
from torch_tb_profiler.defaults import ANSWER_SECONDS, EXPANSION, EXPANSION_VARIABLE


class Serve:
    """Show the profiles below a directory in a browser, without TensorBoard."""

    name = "serve"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "paths",
            metavar="PATH",
            nargs="*",
            help="directories with traces or memory snapshots, or single files; without any, everything in the "
            "shared --cache-dir is shown",
        )
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
        parser.add_argument(
            "--allow-host",
            action="append",
            default=[],
            metavar="NAME",
            help="another host name under which browsers reach this server, such as that of a proxy; may be "
            "repeated (always allowed: localhost, IP addresses and the name given as --host)",
        )
        parser.add_argument(
            "--port", type=int, default=6007, help="port to listen on, 0 for any (default: %(default)s)"
        )
        parser.add_argument("--open", action="store_true", help="open the page in a browser")
        declare_cache_dir(parser)
        parser.add_argument(
            "--workers", type=int, help="how many processes read traces (default: one per CPU, 4 at most)"
        )

        parser.add_argument(
            "--time-limit",
            type=float,
            default=ANSWER_SECONDS,
            metavar="S",
            help="seconds for computing one answer; a request that takes longer is answered 503 (default: %(default)g)",
        )
        parser.add_argument(
            "--max-expansion",
            type=int,
            metavar="N",
            help="a packed trace is not read beyond N times its size, if that is more than 256 MiB "
            f"(default: {EXPANSION_VARIABLE}, else {EXPANSION})",
        )
        parser.epilog = (
            "Examples:\n  torch-tb-profiler serve LOGDIR --open\n  torch-tb-profiler serve trace.json.gz --port 0"
        )

        parser.add_argument(
            "--sql",
            action="store_true",
            help="add a page for SQL queries (docs/sql.md); only if no other machine can reach the server",
        )

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.cli.work import serve

        serve.run(arguments)
