"""`--cache-dir`, which is the same for all commands."""

from __future__ import annotations

import argparse

from torch_tb_profiler.defaults import DIRECTORY_VARIABLE


def declare_cache_dir(parser: argparse.ArgumentParser, also: str = "") -> None:
    """`also`: what the command says besides."""
    parser.add_argument(
        "--cache-dir",
        metavar="DIR",
        help="where traces are cached once they have been read: a directory, or a shared place filled by `ingest`, "
        f"which may be an address such as s3://bucket/folder{also} (default: {DIRECTORY_VARIABLE}, else the cache of "
        "the user)",
    )
