"""A shared place as a server sees it: what is in it, and what of that has been copied to the cache of this machine."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import msgspec

from torch_tb_profiler.codec import from_json
from torch_tb_profiler.discovery import Found, Root
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.storage import Entry, StorageError, without_slash
from torch_tb_profiler.workspace.catalog import SUFFIX, Catalog, catalog_name, read_catalog, together
from torch_tb_profiler.workspace.places import Place
from torch_tb_profiler.workspace.protocol import Summary
from torch_tb_profiler.workspace.sealed import unsealed

log = logging.getLogger(__name__)


class SharedCache:
    """Read-only, and thread-safe. What cannot be had from the place is made again, so trouble is only logged.

    made_by: `answers_version` of this code: catalogs of other code have summaries that may lack something
    """

    def __init__(self, place: Place, made_by: str) -> None:
        self.place = place
        self._made_by = made_by
        self._lock = Lock()
        self._names: frozenset[str] = frozenset()
        self._unusable: set[str] = set()
        self._catalogs: dict[str, Catalog] = {}
        self._versions: dict[str, tuple[int, int, str]] = {}
        self._summaries: dict[str, Summary] = {}
        self._keys: dict[tuple[str, tuple[int, int, str]], str] = {}
        self._failures: dict[tuple[str, tuple[int, int, str]], Reason] = {}

    def refresh(self) -> None:
        """List the place, and read the catalogs again."""
        try:
            names = self.place.names()
            versions = {name: self.place.version(name) for name in sorted(names) if name.endswith(SUFFIX)}
            changed = [name for name, version in versions.items() if self._versions.get(name) != version]
            read = {name: catalog for name in changed if (catalog := read_catalog(self.place, name))}
        except (OSError, StorageError) as error:
            log.warning("the shared cache %s cannot be read: %s", self.place.url, error)
            return
        with self._lock:
            self._names, self._versions = names, versions
            self._catalogs = {name: of for name, of in (self._catalogs | read).items() if name in versions}
            for catalog in read.values():
                for trace in catalog.traces():
                    self._keys[trace.of.url, trace.of.file.entry.version] = trace.key
                    if catalog.made_by == self._made_by:
                        self._summaries[trace.key] = trace.summary
                for failed in catalog.failed():
                    self._failures[failed.of.url, failed.of.file.entry.version] = failed.why.reason

    def has(self, name: str) -> bool:
        """Whether a file is there and was not found unusable."""
        with self._lock:
            return name in self._names and name not in self._unusable

    def forget(self, name: str) -> None:
        """It is unusable: from now on it is not there for this process."""
        with self._lock:
            self._unusable.add(name)

    def key_of(self, entry: Entry) -> str | None:
        """The key of a trace in this state, if a catalog has it; the file need not be there."""
        with self._lock:
            return self._keys.get((entry.url, entry.version))

    def failure_of(self, entry: Entry) -> Reason | None:
        """Why a trace in this state could not be read, if a catalog says so."""
        with self._lock:
            return self._failures.get((entry.url, entry.version))

    def summary(self, key: str, name: str) -> Summary | None:
        """Of the catalog, or of the file `name`."""
        with self._lock:
            known = self._summaries.get(key)
        if known is not None or not self.has(name):
            return known
        try:
            return from_json(unsealed(self.place.read(name)) or b"", Summary)
        except (OSError, StorageError, msgspec.DecodeError) as error:
            log.debug("%s of the shared cache cannot be used: %s", name, error)
            return None

    def fetch(self, name: str, target: Path) -> bool:
        """Copy a file to this machine; whether that could be done."""
        if not self.has(name):
            return False
        try:
            self.place.fetch(name, target)
        except (OSError, StorageError) as error:
            log.warning("%s cannot be had from the shared cache %s: %s", name, self.place.url, error)
            return False
        return True

    def is_itself(self, root: Root) -> bool:
        """Whether a log directory is the place, which stands for all that are in it."""
        return without_slash(root.url) == self.place.url

    def found(self, roots: Sequence[Root]) -> Found:
        """What is known of log directories that cannot be listed here."""
        with self._lock:
            wanted = {catalog_name(root.url) for root in roots}
            everything = any(self.is_itself(root) for root in roots)
            return together([of for name, of in sorted(self._catalogs.items()) if everything or name in wanted])
