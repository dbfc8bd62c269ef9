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
from torch_tb_profiler.workspace.sealed import part_of, read_sealed, touch, write_sealed
from torch_tb_profiler.workspace.status import OpenTrace

log = logging.getLogger(__name__)

#: shorter answers gain nothing by packing
PACKED_FROM = 1024
#: of one trace; each question with other parameters is one
MOST_ANSWERS = 500

#: the first byte of a file; the body is behind it
_PLAIN, _GZIP, _REFUSAL = b"p", b"z", b"r"
_DIGEST = 16


#: an answer before it is packed; one that is large comes in pieces, so that it is never whole in memory
Body = bytes | Iterable[bytes]


class Packed(msgspec.Struct, frozen=True):
    """A body as it is sent.

    etag: changes with the content
    """

    body: bytes
    is_gzip: bool
    etag: str

    @property
    def size(self) -> int:
        """Bytes in memory, about."""
        return len(self.body)

    def plain(self) -> bytes:
        return zlib.decompress(self.body, 31) if self.is_gzip else self.body


class Refusal(msgspec.Struct, frozen=True):
    """Why a question has no answer; kept in its place.

    status: of the HTTP response, 400 or more
    message: a sentence for a user
    values: what stands beside the message in the response
    """

    status: int
    message: str
    values: dict[str, Any] = {}

    @property
    def size(self) -> int:
        """Bytes in memory, about."""
        return len(self.message)


#: what is kept of a question
StoredAnswer = Packed | Refusal


def pack(answer: Body) -> Packed:
    if isinstance(answer, bytes) and len(answer) < PACKED_FROM:
        return _packed(answer, is_gzip=False)
    return _packed(b"".join(compressed([answer] if isinstance(answer, bytes) else answer)), is_gzip=True)


def stored(answer: Body | StoredAnswer) -> StoredAnswer:
    """An answer as it is kept."""
    return answer if isinstance(answer, Packed | Refusal) else pack(answer)


def compressed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Pieces of a body as gzip."""
    packer = deflate.compressobj(1, deflate.DEFLATED, 31)
    for piece in pieces:
        yield packer.compress(piece)
    yield packer.flush()


def _packed(body: bytes, is_gzip: bool) -> Packed:
    return Packed(body, is_gzip, blake2b(body, digest_size=_DIGEST).hexdigest())


class AnswerFolder:
    """Answers about one trace, a file for each question. Safe under several servers, and when one is killed.

    What cannot be written is not kept; what was damaged is not found.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept: int | None = None
        self._names: dict[str, str] = {}

    def get(self, name: str) -> StoredAnswer | None:
        try:
            content = None if self._path.is_symlink() else read_sealed(self._path / name)
        except OSError:
            return None
        if content is None:
            return None
        with contextlib.suppress(OSError):
            touch(self._path / name)  # it is forgotten later than others
        return from_file(content)

    def content(self, name: str) -> bytes | None:
        """The body of an answer; None if there is none."""
        found = self.get(name)
        return found.plain() if isinstance(found, Packed) else None

    def put(self, name: str, answer: StoredAnswer) -> int:
        """Bytes that were written."""
        kind, packed = _as_file(answer)
        path = self._path / name
        try:
            if self._kept is None:
                if self._path.is_symlink():  # nobody writes through it
                    self._path.unlink()
                self._path.mkdir(mode=0o700, exist_ok=True)
                self._kept = len(os.listdir(self._path))  # noqa: PTH208 - names are enough
            if self._kept >= MOST_ANSWERS:
                return 0
            is_linked = self._link(path, answer, packed.etag)
            if not is_linked:
                write_sealed(path, kind + packed.body)
            self._kept += 1
            self._names[packed.etag] = name
        except OSError as error:
            log.debug("an answer is not kept: %s", error)
            return 0
        return 0 if is_linked else len(packed.body)

    def _link(self, path: Path, answer: StoredAnswer, etag: str) -> bool:
        """Whether it is one file with an equal answer now, of several names, as it is where there can be such files."""
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
    """What stands in the file of an answer."""
    kind, packed = _as_file(answer)
    return kind + packed.body


def from_file(content: bytes) -> StoredAnswer:
    """What `as_file` was given."""
    kind, body = content[:1], content[1:]
    if kind == _REFUSAL:
        return from_json(body, Refusal)
    return _packed(body, is_gzip=kind == _GZIP)


def packed_of(content: bytes) -> Packed | None:
    """What `as_file` was given; None for a refusal."""
    found = from_file(content)
    return found if isinstance(found, Packed) else None


def _as_file(answer: StoredAnswer) -> tuple[bytes, Packed]:
    """The kind of a file, and what stands in it."""
    if isinstance(answer, Refusal):
        return _REFUSAL, _packed(msgspec.json.encode(answer), is_gzip=False)
    return _GZIP if answer.is_gzip else _PLAIN, answer


def answer_name(trace: OpenTrace, question: str) -> str:
    """The name of an answer in the folder of its trace. The names of a trace may be part of the answer."""
    known_as = f"{trace.run}\0{trace.worker}\0{trace.span}\0{question}"
    return blake2b(known_as.encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
