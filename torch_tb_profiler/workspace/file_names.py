"""What the files of a trace are called, in a cache and in a shared place."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from torch_tb_profiler.analysis.shared.peaks import peaks_digest
from torch_tb_profiler.analysis.shared.thresholds import thresholds_digest
from torch_tb_profiler.defaults import EXPANSION
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.workspace.identity import RANKS, answers_version, fingerprint

COLUMNS, SUMMARY, ANSWERS, TIMELINE, RANK = ".columns", ".json", ".answers", ".timeline", ".rank"
#: of what the ranks of a run say together
RESULT = ".run"
#: of the first bytes of remote files
CONTENTS = ".contents"

#: a key has the digits of 20 bytes; files that `ingest` has begun have a prefix, and others an ending
_OWN = lazy_pattern(
    r"(?:ingest-[0-9a-f]+-)?[0-9a-f]{40}(?:-x\d+)?"
    r"(?:\.columns|\.run|\.contents|\.\w+\.(?:json|answers|timeline|rank))(?:[\w.-]*\.part)?"
)


#: of the content of a trace
_KEY = lazy_pattern(r"[0-9a-f]{40}")


def is_key(text: str) -> bool:
    """Whether it can be the key of a trace."""
    return _KEY.fullmatch(text) is not None


def is_own_name(name: str) -> bool:
    """Whether a file can be one of a cache: no other is ever removed, wherever a user puts the cache."""
    return _OWN.fullmatch(name) is not None


class Shared(NamedTuple):
    """The files of a trace that a shared place has; who finds the summary finds all."""

    columns: str
    rank: str
    summary: str


class FileNames:
    """Names of what this code makes.

    expansion: what was read with another than the usual is not found: it may be cut off
    version: of the code that makes answers and of the limits of rules; None for those in use
    """

    def __init__(self, expansion: int, version: str | None = None) -> None:
        self._read_with = "" if expansion == EXPANSION else f"-x{expansion}"
        self.version = answers_version() + thresholds_digest() + peaks_digest() if version is None else version

    def of(self, key: str, suffix: str) -> str:
        """The file of a trace with this content key."""
        version = "" if suffix == COLUMNS else fingerprint(RANKS).hex() if suffix == RANK else self.version
        return f"{key}{self._read_with}{f'.{version}' if version else ''}{suffix}"

    def shared(self, key: str) -> Shared:
        return Shared(self.of(key, COLUMNS), self.of(key, RANK), self.of(key, SUMMARY))


def result_name(ranks: Sequence[tuple[str, str]], failed: Sequence[str], answer: Sequence[str] = ()) -> str:
    """The file of what the ranks of a run say together.

    ranks: worker and content key of each
    failed: files that could not be read
    answer: for the file of an answer about the run, what else that depends on: version, run, span and question
    """
    told = repr((answer or fingerprint(RANKS), sorted(ranks), sorted(failed)))
    return blake2b(told.encode("utf-8", "surrogateescape"), digest_size=20).hexdigest() + RESULT
