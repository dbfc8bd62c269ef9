"""What was found in the first bytes of remote files, kept across restarts: looking again would be a download each."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

import msgspec

from torch_tb_profiler.codec import from_json
from torch_tb_profiler.discovery import Content
from torch_tb_profiler.storage import Entry
from torch_tb_profiler.workspace.sealed import read_sealed, write_sealed

log = logging.getLogger(__name__)


class HeadCache:
    """A small file of the cache; what cannot be read or written of it is looked at again. Not thread-safe."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._saved: dict[str, Content] = {}
        try:
            self._saved = from_json(read_sealed(path) or b"", dict[str, Content])
        except (OSError, msgspec.DecodeError):
            log.debug("%s: nothing is known", path)

    def get(self, entry: Entry) -> Content | None:
        """What is in a file in this state."""
        return self._saved.get(_name(entry))

    def save(self, found: Iterable[tuple[Entry, Content]]) -> None:
        """Keep these, and only these."""
        known = {_name(entry): content for entry, content in found}
        if known == self._saved:
            return
        self._saved = known
        try:
            write_sealed(self._path, msgspec.json.encode(known))
        except OSError as error:
            log.warning("%s cannot be written (%s); remote files are looked at again next time", self._path, error)


def _name(entry: Entry) -> str:
    return blake2b(repr((entry.url, entry.version)).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
