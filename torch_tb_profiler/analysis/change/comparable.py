"""Whether two sides can be compared: what has to match, and the message when it does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from torch_tb_profiler.analysis.change.figures import RecordingFigures

#: what a difference forbids: every verdict, those of other hardware (allowed by choice), those of host time, or none
Forbids = Literal["all", "across", "host", "nothing"]

#: options that make the host slower
SLOWING = ("record_shapes", "with_stack", "profile_memory")


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is not alike on both sides.

    what     which of the things that have to be alike
    forbids  all: nothing can be judged; across: neither, but for those who ask for it; host: times of the host and of
             steps; nothing
    base     what it is in the baseline
    new      what it is in the new recordings
    text     a sentence
    """

    what: str
    forbids: Forbids
    base: str
    new: str
    text: str


def _devices(each: RecordingFigures) -> str:
    names = [name or "unnamed" for name in each.fingerprint.devices]
    counts = {name: names.count(name) for name in sorted(set(names))}
    return ", ".join(name if count == 1 else f"{count} × {name}" for name, count in counts.items()) or "no device"


def _number(value: int | None) -> str:
    return "unknown" if value is None else str(value)


def _versions(each: RecordingFigures) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(each.fingerprint.versions.items())) or "not recorded"


_RULES: tuple[tuple[str, Forbids, Callable[[RecordingFigures], str], str], ...] = (
    ("step_rule", "all", lambda each: each.fingerprint.step_rule, "Steps were found by different rules"),
    ("basis", "all", lambda each: each.basis, "Kernels of devices were recorded on one side only"),
    ("devices", "across", _devices, "The devices differ"),
    ("world_size", "across", lambda each: _number(each.fingerprint.world_size), "The number of processes differs"),
    ("ranks", "across", lambda each: str(each.ranks), "The number of recorded ranks differs"),
    *(
        (
            option,
            "host",
            lambda each, option=option: "on" if each.fingerprint.options.get(option) else "off",
            f"{option} was on for a part of the recordings only, which makes the host slower",
        )
        for option in SLOWING
    ),
    ("versions", "nothing", _versions, "Versions of drivers or libraries differ"),
)


def differences(base: Sequence[RecordingFigures], new: Sequence[RecordingFigures]) -> list[Difference]:
    """What is not the same in all recordings of both sides, in the order of the rules. Each side has one or more."""
    found = []
    for what, forbids, of, text in _RULES:
        sides = [sorted({of(each) for each in side}) for side in (base, new)]
        if len({*sides[0], *sides[1]}) > 1:
            before, after = (" and ".join(side) for side in sides)
            found.append(
                Difference(
                    what=what,
                    forbids=forbids,
                    base=before,
                    new=after,
                    text=f"{text}: {before} in the baseline, {after} in the new recording{'s' * (len(new) > 1)}.",
                )
            )
    return found
