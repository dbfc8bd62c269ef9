"""Notes on the health of a trace: what was repaired, dropped, missing or could not be computed; one of each kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.reason import Value
from torch_tb_profiler.words import section

Severity = Literal["info", "warning", "error"]


class Note(msgspec.Struct, frozen=True):
    """Something that a user should know about a trace.

    kind          what it is about, of `docs/health.md`
    severity      error: something is lost or wrong; warning: numbers are probably wrong; info: good to know
    text          a sentence
    count         how often it occurred
    touches       the analyses whose numbers it affects
    remedy        the code that would record what is missing
    first_offset  the byte in the uncompressed text where it was first seen
    values        the values in the sentence, for translations
    """

    kind: str
    severity: Severity
    text: str
    count: int = 1
    touches: tuple[str, ...] = ()
    remedy: str | None = None
    first_offset: int | None = None
    values: Mapping[str, Value] = msgspec.field(default_factory=dict)


def note(
    kind: str,
    severity: Severity,
    count: int = 1,
    touches: tuple[str, ...] = (),
    *,
    first_offset: int | None = None,
    remedy: str | None = None,
    values: Mapping[str, Value] | None = None,
    listed: Mapping[str, Sequence[Mapping[str, Value]]] | None = None,
) -> Note:
    """Make one of its words, `words/en/notes.toml`.

    remedy   where it depends on more than `values`
    listed   by the name in the sentence the values of each of several things; in English they are said by `each`
    """
    words = section("notes", kind)
    values = values or {}
    filled = {"count": count, **values}
    for name, things in (listed or {}).items():
        filled[name] = words.say("between", {}).join(words.say("each", thing) for thing in things)
    if remedy is None and "remedy" in words.sentences:
        remedy = words.say("remedy", filled) or None
    return Note(kind, severity, words.say("text", filled), count, touches, remedy, first_offset, values)


class Notes:
    """Collects notes. Several of the same kind become one, with the sum of their counts."""

    def __init__(self, notes: Iterable[Note] = ()) -> None:
        self._by_kind: dict[str, Note] = {}
        for note in notes:
            self.add(note)

    def add(self, note: Note) -> None:
        known = self._by_kind.get(note.kind)
        if known is not None:
            offsets = [n.first_offset for n in (known, note) if n.first_offset is not None]
            note = replace(known, count=known.count + note.count, first_offset=min(offsets, default=None))
        self._by_kind[note.kind] = note

    def __iter__(self) -> Iterator[Note]:
        return iter(self._by_kind.values())

    def __len__(self) -> int:
        return len(self._by_kind)
