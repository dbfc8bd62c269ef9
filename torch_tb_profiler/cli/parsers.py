"""Parsers of the program and its commands, and options that several commands have."""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

from torch_tb_profiler import __version__
from torch_tb_profiler.cli.registry import GROUPS, Command
from torch_tb_profiler.defaults import declare_cache_dir

PROGRAM = "torch-tb-profiler"
_DESCRIPTION = "Shows from PyTorch profiler traces why training or serving is slow."


#: columns of help, and where its texts begin
_WIDEST, _TEXT = 100, 18
_EXAMPLES = f"""\
Examples:
  {PROGRAM} logs/my_run                  what is slow, and what to do
  {PROGRAM} serve logs --open            all views in a browser
  {PROGRAM} compare logs/before logs/after

`{PROGRAM} COMMAND --help` describes the options of a command. A PATH without a command is summarized."""


#: options whose values may begin with a hyphen: `--sort -calls` is largest first
_ORDERS = ("--sort",)


class _Help(argparse.HelpFormatter):
    """Fills paragraphs, and leaves lines as they are that begin with two spaces."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = [
            each if each.startswith("  ") else textwrap.fill(each, width, initial_indent=indent)
            for each in _paragraphs(text)
        ]
        return "\n".join(paragraphs)


def _paragraphs(text: str) -> list[str]:
    """Lines that belong together are one; those that begin with two spaces, and empty ones, are their own."""
    paragraphs: list[str] = []
    goes_on = False
    for line in text.splitlines():
        is_plain = bool(line.strip()) and not line.startswith("  ")
        if is_plain and goes_on:
            paragraphs[-1] += f" {line.strip()}"
        else:
            paragraphs.append(line)
        goes_on = is_plain
    return paragraphs


def _docstring(command: Command) -> str:
    """Return the docstring without its indentation; importing `inspect` would take longer than all else here."""
    first, _, rest = (command.__doc__ or "").partition("\n")
    return f"{first}\n{textwrap.dedent(rest)}".strip()


def program_parser() -> argparse.ArgumentParser:
    """Return the parser of the program: it knows the names of the commands, not their arguments."""
    parser = _Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} [-h] [--version] COMMAND ...\n       {PROGRAM} PATH",
        description=_DESCRIPTION,
        epilog=_commands(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.add_argument("command", metavar="COMMAND", help=argparse.SUPPRESS)
    return parser


def _commands() -> str:
    """Return the commands by what they are for, and examples."""
    lines = []
    width, begin = min(shutil.get_terminal_size().columns, _WIDEST), " " * _TEXT
    for group, commands in GROUPS.items():
        lines.append(f"{group}:")
        for name, place in commands.items():
            text = textwrap.wrap(place.help, width - _TEXT)
            lines += [f"  {name:<{_TEXT - 3}} {text[0]}", *(begin + more for more in text[1:])]
        lines.append("")
    return "\n".join([*lines, _EXAMPLES])


class _Parser(argparse.ArgumentParser):
    """Does not take help that could not be written for help that was."""

    def _print_message(self, message: str, file: Any = None) -> None:
        if file is sys.stdout:
            file.write(message)
        else:
            super()._print_message(message, file)


class _Intermixed(_Parser):
    """Takes options between an argument and one after it that may be left out."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        return self.parse_intermixed_args(args, namespace)


def command_parser(command: Command) -> argparse.ArgumentParser:
    """Return the parser of one command with all its arguments."""
    made_by = _Intermixed if getattr(command, "intermixed", False) else _Parser
    parser = made_by(prog=f"{PROGRAM} {command.name}", description=_docstring(command), formatter_class=_Help)
    command.declare(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="print only warnings and errors on stderr")
    return parser


def with_orders(words: Sequence[str]) -> list[str]:
    """Rewrite `--sort -calls` as `--sort=-calls`, which argparse accepts."""
    found: list[str] = []
    for word in words:
        if found and found[-1] in _ORDERS and "--" not in found[:-1] and word[:1] == "-" and word[:2] != "--":
            found[-1] += f"={word}"
        else:
            found.append(word)
    return found


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
