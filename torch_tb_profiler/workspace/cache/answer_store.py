"""Finished answers: packed once, then kept in memory and beside the columns of their trace."""

from __future__ import annotations

import contextlib
import logging
import os
import zlib
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from torch_tb_profiler.codec import from_json
from torch_tb_profiler.trace.unpack import deflate
from torch_tb_profiler.workspace.cache.checksummed import part_of, read_checksummed, touch, write_checksummed
from torch_tb_profiler.workspace.status import OpenTrace

log = logging.getLogger(__name__)

#: shorter answers gain nothing by packing
PACKED_FROM = 1024
#: answers kept of one trace; a question with other parameters is another one
MOST_ANSWERS = 500

#: the first byte of a file, before the body
_PLAIN, _GZIP, _REFUSAL = b"p", b"z", b"r"
_DIGEST = 16


#: an answer before it is packed; a large one comes in pieces, so that it is never whole in memory
Body = bytes | Iterable[bytes]


class Packed(msgspec.Struct, frozen=True):
    """A body as it is sent.

    etag: a digest of the body
    """

    body: bytes
    is_gzip: bool
    etag: str

    @property
    def size(self) -> int:
        """About how many bytes it takes in memory."""
        return len(self.body)

    def plain(self) -> bytes:
        return zlib.decompress(self.body, 31) if self.is_gzip else self.body


class RefusedAnswer(msgspec.Struct, frozen=True):
    """Why a question has no answer; kept instead of one.

    status: of the HTTP response, 400 or more
    message: a sentence for a user
    values: sent beside the message
    """

    status: int
    message: str
    values: dict[str, Any] = {}

    @property
    def size(self) -> int:
        """About how many bytes it takes in memory."""
        return len(self.message)


#: what is kept for a question
StoredAnswer = Packed | RefusedAnswer


def pack(answer: Body) -> Packed:
    if isinstance(answer, bytes) and len(answer) < PACKED_FROM:
        return _packed(answer, is_gzip=False)
    return _packed(b"".join(compressed([answer] if isinstance(answer, bytes) else answer)), is_gzip=True)


def stored(answer: Body | StoredAnswer) -> StoredAnswer:
    """Return an answer as it is kept."""
    return answer if isinstance(answer, Packed | RefusedAnswer) else pack(answer)


def compressed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a body that comes in pieces as gzip."""
    packer = deflate.compressobj(1, deflate.DEFLATED, 31)
    for piece in pieces:
        yield packer.compress(piece)
    yield packer.flush()


def _packed(body: bytes, is_gzip: bool) -> Packed:
    return Packed(body, is_gzip, blake2b(body, digest_size=_DIGEST).hexdigest())


class AnswerFolder:
    """Answers about one trace, a file for each question. Safe under several servers, and when one is killed.

    An answer that cannot be written is not kept, a damaged one is not found.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept: int | None = None
        self._names: dict[str, str] = {}

    def get(self, name: str) -> StoredAnswer | None:
        try:
            content = None if self._path.is_symlink() else read_checksummed(self._path / name)
        except OSError:
            return None
        if content is None:
            return None
        with contextlib.suppress(OSError):
            touch(self._path / name)  # it is forgotten later than others
        return from_file(content)

    def content(self, name: str) -> bytes | None:
        """Return the body of an answer; None if there is none."""
        found = self.get(name)
        return found.plain() if isinstance(found, Packed) else None

    def put(self, name: str, answer: StoredAnswer) -> int:
        """Keep an answer and return how many bytes were written."""
        kind, packed = _as_file(answer)
        path = self._path / name
        try:
            if self._kept is None:
                if self._path.is_symlink():  # nobody writes through it
                    self._path.unlink()
                self._path.mkdir(mode=0o700, exist_ok=True)
                self._kept = sum(1 for _ in os.scandir(self._path))
            if self._kept >= MOST_ANSWERS:
                return 0
            is_linked = self._link(path, answer, packed.etag)
            if not is_linked:
                write_checksummed(path, kind + packed.body)
            self._kept += 1
            self._names[packed.etag] = name
        except OSError as error:
            log.debug("an answer is not kept: %s", error)
            return 0
        return 0 if is_linked else len(packed.body)

    def _link(self, path: Path, answer: StoredAnswer, etag: str) -> bool:
        """Link `path` to a file with an equal answer; return whether there was one, and links are possible."""
        name = self._names.get(etag)
        if name is None or self.get(name) != answer:  # it may have been damaged since
            return False
        part = part_of(path)
        try:
            os.link(self._path / name, part)
            part.replace(path)
        except OSError:
            return False
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)  # it stays when both are names of one file already
        return True


def as_file(answer: StoredAnswer) -> bytes:
    """Return the content of the file of an answer."""
    kind, packed = _as_file(answer)
    return kind + packed.body


def from_file(content: bytes) -> StoredAnswer:
    """Return the answer that `as_file` was given."""
    kind, body = content[:1], content[1:]
    if kind == _REFUSAL:
        return from_json(body, RefusedAnswer)
    return _packed(body, is_gzip=kind == _GZIP)


def packed_of(content: bytes) -> Packed | None:
    """Return the answer that `as_file` was given; None for a refusal."""
    found = from_file(content)
    return found if isinstance(found, Packed) else None


def _as_file(answer: StoredAnswer) -> tuple[bytes, Packed]:
    """Return the kind of a file, and its content."""
    if isinstance(answer, RefusedAnswer):
        return _REFUSAL, _packed(msgspec.json.encode(answer), is_gzip=False)
    return _GZIP if answer.is_gzip else _PLAIN, answer


def answer_name(trace: OpenTrace, question: str) -> str:
    """Return the name of an answer in the folder of its trace. Answers may contain the names of their trace."""
    known_as = f"{trace.run}\0{trace.worker}\0{trace.span}\0{question}"
    return blake2b(known_as.encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
