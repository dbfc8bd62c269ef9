"""Limits, environment variables and the option that the help of commands names. Imports nothing: help is quick."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

#: OpenBLAS starts a thread for each processor when NumPy is loaded, which waits at full speed; no matrix is multiplied
ONE_BLAS_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
#: of the log; with INFO it has a line for each trace that is read
LOG_LEVEL = "TORCH_PROFILER_LOG_LEVEL"
#: where traces that were read once are kept
DIRECTORY_VARIABLE = "TORCH_TB_PROFILER_CACHE_DIR"
#: to how many times its size a packed file may unpack, and the same without the variable
EXPANSION_VARIABLE = "TORCH_TB_PROFILER_MAX_EXPANSION"
EXPANSION = 400
#: seconds for computing one answer; longer than requests wait for one that a worker process has promised
ANSWER_SECONDS = 300.0
#: the most that can be chosen for it
LONGEST_ANSWER_SECONDS = 86_400.0
#: traces of a run that a report holds when none is named: with more it would be larger than people can send
MOST_REPORTED = 8


def declare_cache_dir(parser: argparse.ArgumentParser, also: str = "") -> None:
    """Declare `--cache-dir`, which is the same for all commands. also: what the command says besides."""
    parser.add_argument(
        "--cache-dir",
        metavar="DIR",
        help="where traces are cached once they have been read: a directory, or a shared place filled by `ingest`, "
        f"which may be an address such as s3://bucket/folder{also} (default: {DIRECTORY_VARIABLE}, else the cache of "
        "the user)",
    )
