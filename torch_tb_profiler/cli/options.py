"""Options that several commands have."""

from __future__ import annotations

import argparse

from torch_tb_profiler.defaults import declare_cache_dir


def declare_trace(parser: argparse.ArgumentParser, of_run: bool = False) -> None:
    """Declare the options that choose a trace. of_run: the command is about all ranks of a run."""
    parser.add_argument(
        "path",
        metavar="PATH",
        help="a trace file, a run's directory, a log directory, or LOGDIR/RUN~WORKER~SPAN; - reads a trace from stdin",
    )
    parser.add_argument("--run", help="which run of a log directory")
    if not of_run:
        parser.add_argument("--worker", help="which worker of the run (default: the first)")
    parser.add_argument("--span", help=f"which recording of the {'workers' if of_run else 'worker'}")
    if not of_run:
        declare_steps(parser)
    parser.add_argument("--step-rule", metavar="RULE", help="find steps by this rule (docs/views/steps.md)")
    parser.add_argument(
        "--step-pattern", metavar="REGEX", help="find steps by annotations whose names match this regular expression"
    )
    declare_cache_dir(parser)


def declare_steps(parser: argparse.ArgumentParser) -> None:
    """Declare the options that choose steps."""
    parser.add_argument(
        "--steps", metavar="FIRST[:LAST]", help="only these steps: by name, or by the number that ends the name"
    )


def declare_outputs(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the format of a table; the default is text for people."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--json", action="store_true", help="one JSON object, as in the HTTP interface, with exact numbers"
    )
    form.add_argument("--jsonl", action="store_true", help="one JSON object per line for each row")
    form.add_argument(
        "--csv", action="store_true", help="CSV with a header; cells that a spreadsheet would execute are quoted"
    )
    form.add_argument("--parquet", metavar="FILE", help="write a Parquet file (needs pyarrow or duckdb)")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write to a file; its extension sets the format (json, jsonl, csv, parquet, txt)",
    )
    declare_color(parser)


def declare_color(parser: argparse.ArgumentParser) -> None:
    """Declare the option for colors."""
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colors in text (default: in a terminal; NO_COLOR, FORCE_COLOR and TERM=dumb are respected)",
    )
