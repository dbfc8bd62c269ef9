"""Bytes in sentences, and what powers of 1024 are called wherever people read them.

KB, MB and GB are decimal wherever they are shown: rates (GB/s) and sizes of files on a disk.
"""

from __future__ import annotations

#: a unit and its bytes, the smallest first: the names of PyTorch's own messages
BYTES_PER = {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "TiB": 1024**4}


def size(count: float) -> str:
    """Bytes as people read them.

    >>> size(5 << 20), size(1536), size(12)
    ('5 MiB', '1.5 KiB', '12 B')
    """
    name = next((unit for unit in reversed(BYTES_PER) if abs(count) >= BYTES_PER[unit]), "B")
    number = count / BYTES_PER[name]
    text = f"{number:.0f}" if name == "B" else f"{number:.2f}".rstrip("0").rstrip(".")
    return f"{text} {name}"
