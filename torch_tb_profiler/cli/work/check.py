"""What `torch-tb-profiler check` does."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence

import msgspec

from torch_tb_profiler.analysis.change.gate import CheckAnswer, check
from torch_tb_profiler.cli.errors import BAD_INPUT, UNSOUND, UserError
from torch_tb_profiler.cli.work.gate.github import as_github
from torch_tb_profiler.cli.work.gate.junit import as_junit
from torch_tb_profiler.cli.work.gate.markdown import as_markdown
from torch_tb_profiler.cli.work.gate.settings import FILES, rules_of, settings_of
from torch_tb_profiler.cli.work.gate.text import as_text
from torch_tb_profiler.cli.work.one_trace import step_choice
from torch_tb_profiler.cli.work.outputs import put
from torch_tb_profiler.cli.work.targets import Target, refuse_same, target_of
from torch_tb_profiler.workspace import logs
from torch_tb_profiler.workspace.local_workspace import LocalWorkspace
from torch_tb_profiler.workspace.recordings import (
    RecordingError,
    Recordings,
    append_to_history,
    recordings_of,
    saved_text,
    why_not_compared,
)

_STDOUT = "-"
#: what may be a sign that is not seen
_UNSEEN = re.compile(r"[^ -~\n]")
_ENDINGS = {".json": "json", ".md": "markdown", ".xml": "junit"}


def run(arguments: argparse.Namespace) -> int:
    """Run the gate, write its outputs and return the exit code. Raises UserError."""
    logs.configure()
    settings = settings_of(arguments)
    saved = None if arguments.save is None else target_of(arguments, arguments.save, also_read=FILES)
    outputs = _outputs(arguments)
    written = [target.path for _, target in outputs if target is not None]
    refuse_same([*written, *(each for each in (arguments.save, arguments.history) if each is not None)])
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
    rules = rules_of(settings, sorted({each.run for each in new.recordings}))
    damaged = base.damaged, new.damaged
    found = check(base.recordings, new.recordings, rules, settings.across_devices, settings.strict, damaged)
    for form, target in outputs:
        put(_MADE[form](found), target)
    return found.exit_code


def _outputs(arguments: argparse.Namespace) -> list[tuple[str, Target | None]]:
    """Formats and files; None is stdout. The default is text to stdout. Raises UserError."""
    found: list[tuple[str, Target | None]] = []
    for form, file in arguments.outputs or [("text", None)]:
        if file in (None, _STDOUT):
            found.append((form or "text", None))
            continue
        target = target_of(arguments, file, also_read=FILES)
        found.append((form or _ENDINGS.get(target.path.suffix.lower(), "text"), target))
    return found


def _as_json(found: CheckAnswer) -> str:
    """Keys in order, no clock, no paths: equal input is equal bytes.

    What could steer whatever shows it is written as JSON allows: signs that are not seen, and `##[`, which commands
    some CI systems wherever it stands.
    """
    text = msgspec.json.format(msgspec.json.encode(found, order="sorted")).decode() + "\n"
    return _UNSEEN.sub(_as_escape, text.replace("##", "\\u0023#"))


def _as_escape(found: re.Match[str]) -> str:
    return found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1]


_MADE = {"text": as_text, "json": _as_json, "markdown": as_markdown, "junit": as_junit, "github": as_github}
