"""The two sides of a comparison on the command line."""

from __future__ import annotations

import argparse


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
