"""What may stand at the end of a packed file, or be missing there, when all of its text can be unpacked."""

from __future__ import annotations

import gzip

import zstandard


def packed_ends(text: bytes) -> dict[str, bytes]:
    """The text of a trace as stored files, by what is special about the end of each."""
    packed, zstd = gzip.compress(text), zstandard.ZstdCompressor(write_checksum=True).compress(text)
    half = len(text) // 2
    return {
        "plain": text,
        "plain and zeros": text + bytes(100),
        "plain and garbage": text + b"garbage",
        "plain with a mark": b"\xef\xbb\xbf" + text,
        "gzip": packed,
        "gzip and zeros": packed + bytes(100),
        "gzip and garbage": packed + b"garbage!" * 3,
        "gzip with a mark": gzip.compress(b"\xef\xbb\xbf" + text),
        "gzip without length": packed[:-4],
        "gzip without trailer": packed[:-8],
        "gzip with a wrong sum": packed[:-8] + bytes(4) + packed[-4:],
        "gzip with a wrong length": packed[:-4] + b"\1\2\3\4",
        "gzip in two members": gzip.compress(text[:half]) + gzip.compress(text[half:]),
        "gzip and an empty member": packed + gzip.compress(b""),
        "gzip and another trace": packed + packed,
        "gzip and the begin of a member": packed + packed[:2],
        "gzip and a cut member": packed + packed[:20],
        "gzip and a damaged member": packed + packed[:10] + b"\xff" * 30,
        "zstd": zstd,
        "zstd and zeros": zstd + bytes(100),
        "zstd and garbage": zstd + b"garbage!" * 3,
        "zstd with a part of its sum": zstd[:-2],
        "zstd without its sum": zstd[:-4],
        "zstd with a wrong sum": zstd[:-4] + bytes(4),
        "zstd in two frames": zstandard.compress(text[:half]) + zstandard.compress(text[half:]),
        "zstd and the begin of a frame": zstd + zstd[:4],
        "zstd and a cut frame": zstd + zstd[:30],
    }
