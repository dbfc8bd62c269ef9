"""`torch-tb-profiler check`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from torch_tb_profiler.cli.sides import declare_sides
from torch_tb_profiler.defaults import declare_cache_dir

FORMATS = ("text", "json", "markdown", "junit", "github")


class _Output(argparse.Action):
    """Pairs of --format and -o, in the order in which they were given."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        pairs = [list(each) for each in getattr(namespace, "outputs", None) or []]
        place = 0 if option_string == "--format" else 1
        if place == 1 and pairs and pairs[-1][1] is None:
            pairs[-1][1] = values
        else:
            pairs.append([values, None] if place == 0 else [None, values])
        namespace.outputs = pairs


class Check:
    """Fail when new recordings are slower than a baseline: for continuous integration.

    The exit code is 0 if no rule failed, 1 if a --fail-on rule failed with certainty, 2 for wrong usage, and 3 if the
    recordings cannot be judged: no readable trace, fewer than four steps, different devices, or different rules for
    steps.
    """

    name = "check"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        declare_sides(parser, "RUN~WORKER~SPAN, a log directory, a glob, a baseline saved with --save, or a history")
        parser.add_argument(
            "--fail-on",
            metavar="RULE",
            action="append",
            default=None,
            help="METRIC > NUMBER and a unit, such as 'step_time > 5%%' or 'peak_bytes > 64MiB' (MB is the same here); "
            "may be given several times, and replaces the default rules",
        )
        parser.add_argument("--warn-on", metavar="RULE", action="append", default=None, help="the same for warnings")
        parser.add_argument(
            "--config",
            metavar="FILE",
            help="TOML with rules (default: [tool.torch-tb-profiler.check] of pyproject.toml, else "
            "torch-tb-profiler.toml)",
        )
        parser.add_argument(
            "--format",
            dest="outputs",
            action=_Output,
            choices=FORMATS,
            help="format of the result (default: text); may be given several times, each with its own -o",
        )
        parser.add_argument(
            "-o", "--output", dest="outputs", action=_Output, metavar="FILE", help="the file to write; - is stdout"
        )
        parser.add_argument(
            "--save",
            metavar="FILE",
            help="save the new recordings as a baseline of about ten kilobytes, which needs no traces. Without --base, "
            "every PATH is saved and nothing is compared",
        )
        parser.add_argument(
            "--history",
            metavar="FILE",
            help="append the new recordings to a file of JSON lines, one each; `compare FILE --each` shows their "
            "trend. Without --base, every PATH is appended and nothing is compared",
        )
        parser.add_argument("--worker", help="only this worker of each run (default: all ranks together)")
        parser.add_argument("--step-rule", metavar="RULE", help="find steps by this rule (docs/views/steps.md)")
        parser.add_argument(
            "--step-pattern",
            metavar="REGEX",
            help="find steps by annotations whose names match this regular expression",
        )
        parser.add_argument(
            "--across-devices",
            action="store_true",
            default=None,
            help="compare even if the devices or the number of processes differ",
        )
        parser.add_argument(
            "--strict", action="store_true", default=None, help="exit with 3, not 0, if the result is inconclusive"
        )
        declare_cache_dir(parser)
        parser.epilog = (
            "Examples:\n"
            "  torch-tb-profiler check main/ branch/\n"
            "  torch-tb-profiler check main/* --save base.json\n"
            "  torch-tb-profiler check base.json 'new/*' --fail-on 'device_busy > 2%'\n"
            "  torch-tb-profiler check base.json new/* --format github -o - --format junit -o check.xml"
        )

    def run(self, arguments: argparse.Namespace) -> int:
        from torch_tb_profiler.cli.work import check

        return check.run(arguments)
