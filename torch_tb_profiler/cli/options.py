"""Options that several commands have, and which arguments name what is read."""

from __future__ import annotations

import argparse

from torch_tb_profiler.defaults import declare_cache_dir

#: attributes of parsed arguments, each None, a path, or a list of paths; `tests/unit/test_targets.py` compares them
#: with what commands declare
READ = ("path", "paths", "base", "compare", "against", "file", "config", "error", "scheduler_file", "logdir", "root")


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
        parser.add_argument(
            "--steps", metavar="FIRST[:LAST]", help="only these steps: by name, or by the number that ends the name"
        )
    declare_step_choice(parser)
    declare_cache_dir(parser)


def declare_step_choice(parser: argparse.ArgumentParser) -> None:
    """Declare the options that say how steps are found."""
    parser.add_argument("--step-rule", metavar="RULE", help="find steps by this rule; an unknown one is refused")
    parser.add_argument(
        "--step-pattern", metavar="REGEX", help="find steps by annotations whose names match this regular expression"
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


def declare_sides(parser: argparse.ArgumentParser, kinds: str) -> None:
    """Declare the arguments for the baseline and the new recordings. kinds: what a path may be."""
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="+",
        help=f"the baseline, then one or more new recordings: each a trace, a run, {kinds}",
    )
    parser.add_argument(
        "--base",
        metavar="PATH",
        action="append",
        default=[],
        help="a recording of the baseline; may be given several times. Every PATH is then new",
    )


def paths_read(arguments: argparse.Namespace) -> list[str]:
    """Return the paths that a command was given to read, as they were written; `-` is stdin."""
    given = [getattr(arguments, name, None) for name in READ]
    return [str(path) for each in given if each for path in (each if isinstance(each, list) else [each])]
