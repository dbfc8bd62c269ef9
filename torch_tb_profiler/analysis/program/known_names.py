"""Names that mark phases, as data: `known_names.toml`."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from torch_tb_profiler.analysis.program.engine_names import engine_step
from torch_tb_profiler.analysis.program.kinds import ProgramPhase
from torch_tb_profiler.lazy_pattern import lazy_pattern

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FILE = Path(__file__).with_name("known_names.toml")

_PREFIX = lazy_pattern(r"^(?:\[pl\]\[\w+\])?(?:\[param\|(?P<param>.*)\]$)?(?:\[\w+\])?")
_GAPS = lazy_pattern(r"[\s-]+")


class KnownNames(msgspec.Struct, frozen=True):
    """The content of known_names.toml.

    annotations  normalised whole names, and beginnings of names
    torch        whole names, by phase
    frames       the end of `file(line): function`, by phase
    writers      beginnings of names, by who writes them
    """

    annotations: dict[str, ProgramPhase]
    beginnings: tuple[tuple[str, ProgramPhase], ...]
    torch: tuple[tuple[re.Pattern[str], ProgramPhase], ...]
    frames: tuple[tuple[re.Pattern[str], ProgramPhase], ...]
    writers: tuple[tuple[re.Pattern[str], str], ...]

    def by_torch(self, name: str) -> ProgramPhase | None:
        """Return the phase that a range of torch itself marks."""
        return next((phase for pattern, phase in self.torch if pattern.fullmatch(name)), None)

    def by_user(self, name: str) -> ProgramPhase | None:
        """Return the phase that a range of a user, a framework or an engine marks."""
        step = engine_step(name)
        if step is not None:
            return step.phase
        plain = normalised(name)
        found = self.annotations.get(plain)
        if found is not None:
            return found
        return next((phase for text, phase in self.beginnings if plain.startswith(text)), None)

    def by_frame(self, name: str) -> ProgramPhase | None:
        """Return the phase that a Python frame, `file(line): function`, marks."""
        return next((phase for pattern, phase in self.frames if pattern.search(name)), None)

    def writer(self, name: str) -> str:
        """Return who writes ranges of a name: `lightning`, `fsdp`, …; `user` if unknown."""
        return next((who for pattern, who in self.writers if pattern.match(name)), "user")


def normalised(name: str) -> str:
    """Strip from a name what says who wrote it.

    >>> normalised("[pl][profile][Strategy]SingleDeviceStrategy.training_step"), normalised("## Forward-Pass ##")
    ('training_step', 'forward_pass')
    >>> normalised("[param|pytorch.model.alex_net|0|0|measure|forward]")
    'forward'
    """
    found = _PREFIX.match(name)
    if found is not None and found["param"] is not None:
        name = found["param"].rpartition("|")[2]
    elif found is not None:
        name = name[found.end() :]
    name = name.strip("# ").rpartition(".")[2]
    return _GAPS.sub("_", name.strip("# ").lower())


@cache
def known_names() -> KnownNames:
    """Return the table of this version."""
    table: dict[str, Any] = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    annotations = [(text, ProgramPhase(phase)) for phase, texts in table["annotations"].items() for text in texts]
    return KnownNames(
        annotations={text: phase for text, phase in annotations if not text.endswith("*")},
        beginnings=tuple((text[:-1], phase) for text, phase in annotations if text.endswith("*")),
        torch=tuple(_joined(texts, phase) for phase, texts in table["torch"].items()),
        frames=tuple(_frames(texts, phase) for phase, texts in table["frames"].items()),
        writers=tuple((re.compile("|".join(texts)), who) for who, texts in table["writers"].items()),
    )


def _joined(texts: list[str], phase: str) -> tuple[re.Pattern[str], ProgramPhase]:
    return re.compile("|".join(f"(?:{text})" for text in texts)), ProgramPhase(phase)


def _frames(texts: list[str], phase: str) -> tuple[re.Pattern[str], ProgramPhase]:
    parts = []
    for text in texts:
        file, _, function = text.partition(": ")
        parts.append(rf"{re.escape(file)}\(\d+\): {'.*' if function == '*' else re.escape(function)}$")
    return re.compile(rf"(?:^|/)(?:{'|'.join(parts)})"), ProgramPhase(phase)
