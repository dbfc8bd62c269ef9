"""`torch-tb-profiler check`."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.cli.messages import BAD_INPUT, UNSOUND, UserError
from torch_tb_profiler.cli.parsers import declare_sides, declare_step_choice
from torch_tb_profiler.defaults import declare_cache_dir

if TYPE_CHECKING:
    from torch_tb_profiler.analysis.change.gate import CheckAnswer
    from torch_tb_profiler.cli.work.targets import Target

FORMATS = ("text", "json", "markdown", "junit", "github")

_STDOUT = "-"
#: characters that may be invisible
_UNSEEN = re.compile(r"[^ -~\n]")
_ENDINGS = {".json": "json", ".md": "markdown", ".xml": "junit"}


class _Output(argparse.Action):
    """Pairs --format with -o, in the order given."""

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


class CheckCommand:
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
        declare_step_choice(parser)
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
        from torch_tb_profiler.analysis.change.gate import check
        from torch_tb_profiler.cli.work.check_settings import FILES, rules_of, settings_of
        from torch_tb_profiler.cli.work.outputs import put
        from torch_tb_profiler.cli.work.targets import refuse_same, target_of
        from torch_tb_profiler.cli.work.traces import step_choice
        from torch_tb_profiler.workspace import process
        from torch_tb_profiler.workspace.local_workspace import LocalWorkspace
        from torch_tb_profiler.workspace.recordings import (
            RecordingError,
            Recordings,
            append_to_history,
            recordings_of,
            saved_text,
            why_not_compared,
        )

        process.configure_logging()
        settings = settings_of(arguments)
        saved = None if arguments.save is None else target_of(arguments, arguments.save, also_read=FILES)
        outputs = _outputs(arguments)
        written = [target.path for _, target in outputs if target is not None]
        refuse_same([*written, *(path for path in (arguments.save, arguments.history) if path is not None)])
        keeps = arguments.save is not None or arguments.history is not None
        only_saves = keeps and not arguments.base
        if not arguments.base and not only_saves and len(arguments.paths) < 2:
            raise UserError("a baseline and a new recording are needed: check BASE NEW, or --base BASE and NEW")
        choice = step_choice(arguments)
        first = [] if only_saves or arguments.base else arguments.paths[:1]
        try:
            workspace = LocalWorkspace(arguments.cache_dir, is_alone=True)

            def read(paths: Sequence[str]) -> Recordings:
                return recordings_of(paths, workspace, choice, arguments.worker)

            base = read([*first, *arguments.base])
            new = read(arguments.paths[len(first) :])
            if arguments.history is not None:
                append_to_history(arguments.history, new.recordings)
        except RecordingError as error:
            why = why_not_compared(error, [*first, *arguments.base], arguments.paths[len(first) :])
            raise UserError(why, BAD_INPUT if error.missing else UNSOUND) from None
        if saved is not None:
            put(saved_text(new.recordings), saved)
        if only_saves:
            return 0
        rules = rules_of(settings, sorted({path.run for path in new.recordings}))
        damaged = base.damaged, new.damaged
        result = check(base.recordings, new.recordings, rules, settings.across_devices, settings.strict, damaged)
        for form, target in outputs:
            put(_text(result, form), target)
        return result.exit_code


def _outputs(arguments: argparse.Namespace) -> list[tuple[str, Target | None]]:
    """Pair formats with files; None is stdout. The default is text to stdout. Raises UserError."""
    from torch_tb_profiler.cli.work.check_settings import FILES
    from torch_tb_profiler.cli.work.targets import target_of

    outputs: list[tuple[str, Target | None]] = []
    for form, file in arguments.outputs or [("text", None)]:
        if file in (None, _STDOUT):
            outputs.append((form or "text", None))
            continue
        target = target_of(arguments, file, also_read=FILES)
        outputs.append((form or _ENDINGS.get(target.path.suffix.lower(), "text"), target))
    return outputs


def _text(found: CheckAnswer, form: str) -> str:
    """Return the result in one of `FORMATS`."""
    from torch_tb_profiler.cli.work.check_formats import as_github, as_junit, as_markdown, as_text

    made = {"text": as_text, "json": _as_json, "markdown": as_markdown, "junit": as_junit, "github": as_github}
    return made[form](found)


def _as_json(found: CheckAnswer) -> str:
    """Return JSON with sorted keys, and no time or paths, so that equal input gives equal bytes.

    Invisible characters are escaped, and `##[`, which some CI systems read as a command.
    """
    import msgspec

    text = msgspec.json.format(msgspec.json.encode(found, order="sorted")).decode() + "\n"
    return _UNSEEN.sub(_as_escape, text.replace("##", "\\u0023#"))


def _as_escape(found: re.Match[str]) -> str:
    return found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1]
