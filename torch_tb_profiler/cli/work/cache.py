"""What `torch-tb-profiler cache` does."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import msgspec

from torch_tb_profiler.analysis.shown.values import alone
from torch_tb_profiler.arrays.plain import dumps_indented
from torch_tb_profiler.cli.errors import UserError
from torch_tb_profiler.cli.saying import safe
from torch_tb_profiler.storage import shown
from torch_tb_profiler.workspace.cache import Cache, open_cache
from torch_tb_profiler.workspace.file_names import ANSWERS, COLUMNS, RANK, RESULT, SUMMARY, TIMELINE

#: what each kind of file is, by its ending
_KINDS = {
    COLUMNS: "traces",
    SUMMARY: "summaries",
    ANSWERS: "answers",
    TIMELINE: "timelines",
    RANK: "ranks",
    RESULT: "runs",
}
_OTHERS = "others"
_DAY = 86_400


class KindOfFile(msgspec.Struct, frozen=True, kw_only=True):
    """Files of one kind.

    kind   traces (columns that were read), summaries, answers, timelines, ranks, runs, or others
    files  how many
    bytes  what they take
    """

    kind: str
    files: int
    bytes: int


class CacheContents(msgspec.Struct, frozen=True, kw_only=True):
    """What is in the cache.

    directory     where it is
    shared        the shared place beside it; null without one
    bytes         what all files take
    limit_bytes   what they may take
    unused_days   since when the file was used that was not for the longest time; null if there is none
    removed       bytes that were removed now
    kinds         of each kind of file, the largest first
    """

    directory: str
    shared: str | None
    bytes: int
    limit_bytes: int
    unused_days: float | None
    removed: int
    kinds: list[KindOfFile]


def run(arguments: argparse.Namespace) -> None:
    """Raises UserError."""
    cache = open_cache(arguments.cache_dir)
    try:
        if cache.refused:
            raise UserError(cache.refused)
        before = _contents(cache)
        if arguments.prune:
            cache.sweep()
        if arguments.clear:
            cache.clear()
        after = _contents(cache) if arguments.prune or arguments.clear else before
    finally:
        cache.close()
    found = msgspec.structs.replace(after, removed=max(before.bytes - after.bytes, 0))
    print(dumps_indented(found) if arguments.json else _as_text(found))


def _contents(cache: Cache) -> CacheContents:
    sizes: dict[str, list[int]] = {}
    oldest: float | None = None
    for path in _entries(cache.directory):
        for file in _entries(path) if path.is_dir() and not path.is_symlink() else [path]:
            try:
                status = file.lstat()
            except OSError:  # another process has removed it
                continue
            sizes.setdefault(_KINDS.get(path.suffix, _OTHERS), []).append(status.st_size)
            oldest = status.st_mtime if oldest is None else min(oldest, status.st_mtime)
    kinds = [KindOfFile(kind=kind, files=len(each), bytes=sum(each)) for kind, each in sizes.items()]
    return CacheContents(
        directory=shown(str(cache.directory)),
        shared=shown(cache.shared.place.url) if cache.shared else None,
        bytes=sum(each.bytes for each in kinds),
        limit_bytes=cache.limit,
        unused_days=None if oldest is None else max(time.time() - oldest, 0) / _DAY,
        removed=0,
        kinds=sorted(kinds, key=lambda each: (-each.bytes, each.kind)),
    )


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _as_text(found: CacheContents) -> str:
    lines = [f"cache {safe(found.directory)}: {alone(found.bytes, 'bytes')} of {alone(found.limit_bytes, 'bytes')}"]
    lines += [f"  {each.kind}: {each.files} files, {alone(each.bytes, 'bytes')}" for each in found.kinds]
    if found.unused_days is not None:
        lines.append(f"  least recently used: {found.unused_days:.0f} days")
    if found.shared is not None:
        lines.append(f"  shared: {safe(found.shared)}")
    if found.removed:
        lines.append(f"removed {alone(found.removed, 'bytes')}")
    return "\n".join(lines)
