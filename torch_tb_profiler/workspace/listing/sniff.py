"""What the first bytes of files say: read once per state of a file, and kept across restarts for remote files."""

from __future__ import annotations

import io
import itertools
import logging
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

import msgspec

from torch_tb_profiler.codec import from_json
from torch_tb_profiler.discovery import Content, examine, must_be_examined
from torch_tb_profiler.reason import Reason, reason_of
from torch_tb_profiler.storage import Entry, StorageError, storage_for
from torch_tb_profiler.trace.unpack import Limits, StoredFile, is_packed, text_of
from torch_tb_profiler.workspace.cache.checksummed import read_checksummed, write_checksummed

log = logging.getLogger(__name__)


class SniffCache:
    """What `Sniffer` found in remote files, kept in a small file of the cache. Not thread-safe."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._saved: dict[str, Content] = {}
        try:
            self._saved = from_json(read_checksummed(path) or b"", dict[str, Content])
        except (OSError, msgspec.DecodeError):
            log.debug("%s: nothing is known", path)

    def get(self, entry: Entry) -> Content | None:
        """Return what is in a file in this state."""
        return self._saved.get(_name(entry))

    def save(self, found: Iterable[tuple[Entry, Content]]) -> None:
        """Keep these, and only these."""
        known = {_name(entry): content for entry, content in found}
        if known == self._saved:
            return
        self._saved = known
        try:
            write_checksummed(self._path, msgspec.json.encode(known))
        except OSError as error:
            log.warning("%s cannot be written (%s); remote files are looked at again next time", self._path, error)


def _name(entry: Entry) -> str:
    return blake2b(repr((entry.url, entry.version)).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


#: bytes read of a compressed file
STORED_BYTES = 64 * 1024
#: bytes of text looked at
TEXT_BYTES = 256 * 1024

#: seconds after which a step of looking ends
MOST_SECONDS = 0.5

#: remote files looked at in parallel
AT_ONCE = 16
#: seconds before a file that could not be looked at is tried again, doubled every time; at once when it changes
FIRST_RETRY_SECONDS = 10.0
LONGEST_RETRY_SECONDS = 600.0

_Version = tuple[int, int, str]


class Sniffer:
    """Looks into files once per state, and knows what is in them. Not thread-safe."""

    def __init__(self, memory: SniffCache | None = None) -> None:
        self._known: dict[str, tuple[_Version, Content]] = {}
        self._memory = memory
        self._remote: list[Entry] = []
        #: files that could not be looked at: how often, and when they are tried again (monotonic seconds)
        self._failed: dict[str, tuple[int, float]] = {}
        self._captures: dict[str, tuple[_Version, bool]] = {}
        # thousands of files are skipped for the same few reasons
        self._contents: dict[Content, Content] = {}

    @property
    def is_any_due(self) -> bool:
        """Whether a file that could not be looked at is to be tried again now."""
        now = time.monotonic()
        return any(now >= due for _, due in self._failed.values())

    def content_of(self, entry: Entry) -> Content | None:
        """Return what was found when the file was last looked at; None if it never was."""
        known = self._known.get(entry.url)
        return known[1] if known else None

    def has_captures(self, entry: Entry) -> bool:
        """Return whether graphs are captured in a trace, which is read in full for that once; False if it cannot be."""
        known = self._captures.get(entry.url)
        if known is None or known[0] != entry.version:
            known = self._captures[entry.url] = entry.version, _has_captures(entry)
        return known[1]

    def waiting(self, entries: Iterable[Entry]) -> list[Entry]:
        """Return those of all files that must be looked at, the likely traces first; forget all files that are gone."""
        known, failed, waiting, now = self._known, self._failed, [], time.monotonic()
        self._known, self._failed, self._remote = {}, {}, []
        for entry in entries:
            if not must_be_examined(entry):
                continue
            if _is_remote(entry):
                self._remote.append(entry)
            before = known.get(entry.url) or self._remembered(entry)
            if before:
                self._known[entry.url] = before
            if entry.url in failed:
                self._failed[entry.url] = failed[entry.url]
                is_due = now >= failed[entry.url][1]
            else:
                is_due = False
            if not before or before[0] != entry.version or is_due:
                waiting.append(entry)
        waiting.sort(key=lambda entry: "trace" not in entry.path.lower())
        return waiting

    def look(self, entries: Sequence[Entry], most: int | None = None, seconds: float = MOST_SECONDS) -> int:
        """Look at files until `most` of them, or all, are done or the time is over; how many were."""
        end = time.monotonic() + seconds
        done = 0
        entries = entries[:most]
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="torch-profiler-look") as threads:
            while done < len(entries):
                if _is_remote(entries[done]):  # most of the time is waiting
                    batch = list(itertools.takewhile(_is_remote, entries[done : done + AT_ONCE]))
                    contents = threads.map(sniff, batch)
                else:
                    batch = [entries[done]]
                    contents = map(sniff, batch)
                for entry, content in zip(batch, contents, strict=True):
                    self._keep(entry, content)
                done += len(batch)
                if time.monotonic() > end:
                    break
        self._remember()
        return done

    def _remember(self) -> None:
        if self._memory:
            sure = (entry for entry in self._remote if entry.url not in self._failed)
            known = ((entry, self._known.get(entry.url)) for entry in sure)
            self._memory.save((entry, found[1]) for entry, found in known if found and found[0] == entry.version)

    def _keep(self, entry: Entry, found: Content | Reason) -> None:
        if isinstance(found, Content):
            self._failed.pop(entry.url, None)
            content = found
        else:
            content = Content(found)
            tries = self._failed.get(entry.url, (0, 0.0))[0]
            pause = min(FIRST_RETRY_SECONDS * 2**tries, LONGEST_RETRY_SECONDS)
            if not tries and not _is_remote(entry):
                pause = 0.0  # it costs nothing to see whether it was only being replaced
            self._failed[entry.url] = tries + 1, time.monotonic() + pause
        self._known[entry.url] = entry.version, self._contents.setdefault(content, content)

    def _remembered(self, entry: Entry) -> tuple[_Version, Content] | None:
        content = self._memory.get(entry) if self._memory and _is_remote(entry) else None
        return (entry.version, self._contents.setdefault(content, content)) if content else None


def sniff(entry: Entry) -> Content | Reason:
    """Return what is in a file, or why that cannot be said."""
    try:
        with storage_for(entry.url).open(entry, ahead=False) as stream:
            return examine_stream(stream)
    except (StorageError, OSError) as error:
        return error.reason if isinstance(error, StorageError) else _unreadable(reason_of(error))


#: calls around what is captured
_CAPTURE_MARKS = (b"StreamBeginCapture", b"StreamEndCapture")
_BLOCK = 1_048_576


def _has_captures(entry: Entry) -> bool:
    """Return whether the text of a file has the calls around a capture."""
    buffer, missing, before = bytearray(_BLOCK), set(_CAPTURE_MARKS), b""
    try:
        with storage_for(entry.url).open(entry, ahead=False) as stream:
            text = text_of(StoredFile(stream), Limits())
            while missing and (count := text.readinto(memoryview(buffer))):
                block = before + buffer[:count]
                missing = {mark for mark in missing if mark not in block}
                before = block[-max(map(len, _CAPTURE_MARKS)) :]
    except (StorageError, OSError):
        return False
    return not missing


def _is_remote(entry: Entry) -> bool:
    return storage_for(entry.url).is_remote


def examine_stream(stream: BinaryIO) -> Content:
    """Judge a file by its first bytes. Raises OSError."""
    head = stream.read(STORED_BYTES)
    if not is_packed(head):
        head += stream.read(TEXT_BYTES - len(head))
        return examine(head, whole=len(head) < TEXT_BYTES)
    text, broken = _unpack(head)
    cut = len(head) == STORED_BYTES
    if broken and not text:
        return Content(_unreadable(broken))
    return examine(text, whole=not cut and len(text) < TEXT_BYTES)


def _unreadable(why: Reason) -> Reason:
    return replace(why, text=f"cannot be read: {why}")


def _unpack(head: bytes) -> tuple[bytes, Reason | None]:
    """Return as much text as the first bytes of a file give, and why it is not more."""
    buffer = memoryview(bytearray(TEXT_BYTES))
    length, broken = 0, None
    try:
        text = text_of(StoredFile(io.BytesIO(head)), Limits())
        while length < TEXT_BYTES:
            count = text.readinto(buffer[length:])
            if not count:
                break
            length += count
    except OSError as error:
        broken = reason_of(error)
    return bytes(buffer[:length]), broken
