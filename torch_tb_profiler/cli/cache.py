"""`torch-tb-profiler cache`."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.cli.messages import UserError, safe
from torch_tb_profiler.defaults import declare_cache_dir

if TYPE_CHECKING:
    from torch_tb_profiler.workspace.cache.trace_cache import TraceCache

_DAY = 86_400


class CacheCommand:
    """Show the size of the cache of traces, shrink it, or empty it.

    Everything in it can be made again from the traces. Of a shared place, only the files that were copied to this
    machine count.
    """

    name = "cache"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        what = parser.add_mutually_exclusive_group()
        what.add_argument(
            "--prune", action="store_true", help="remove the least recently used entries until the cache fits its limit"
        )
        what.add_argument("--clear", action="store_true", help="remove everything")
        parser.add_argument("--json", action="store_true", help="as JSON")
        declare_cache_dir(parser)
        parser.epilog = "Example:\n  torch-tb-profiler cache\n  torch-tb-profiler cache --prune"

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.arrays.types import dumps_indented
        from torch_tb_profiler.workspace.cache.trace_cache import open_cache

        cache = open_cache(arguments.cache_dir)
        try:
            if cache.refused:
                raise UserError(cache.refused)
            before = contents_of(cache)
            if arguments.prune:
                cache.sweep()
            if arguments.clear:
                cache.clear()
            after = contents_of(cache) if arguments.prune or arguments.clear else before
        finally:
            cache.close()
        after = after | {"removed": max(before["bytes"] - after["bytes"], 0)}
        print(dumps_indented(after) if arguments.json else _as_text(after))


def contents_of(cache: TraceCache) -> dict[str, Any]:
    """Return what is in the cache, as `--json` prints it.

    directory     where it is
    shared        the shared place beside it; null without one
    bytes         what all files take
    limit_bytes   what they may take
    unused_days   since when the file was used that was not for the longest time; null if there is none
    removed       bytes that were removed now
    kinds         of each kind of file, the largest first: traces (columns that were read), summaries, answers,
                  timelines, ranks, runs, or others; how many files, and what they take
    """
    from torch_tb_profiler.storage import shown
    from torch_tb_profiler.workspace.cache.identity import ANSWERS, COLUMNS, RANK, RESULT, SUMMARY, TIMELINE

    kind_of = {
        COLUMNS: "traces",
        SUMMARY: "summaries",
        ANSWERS: "answers",
        TIMELINE: "timelines",
        RANK: "ranks",
        RESULT: "runs",
    }
    sizes: dict[str, list[int]] = {}
    oldest: float | None = None
    for path in _entries(cache.directory):
        for file in _entries(path) if path.is_dir() and not path.is_symlink() else [path]:
            try:
                status = file.lstat()
            except OSError:  # another process has removed it
                continue
            sizes.setdefault(kind_of.get(path.suffix, "others"), []).append(status.st_size)
            oldest = status.st_mtime if oldest is None else min(oldest, status.st_mtime)
    kinds = [{"kind": kind, "files": len(of_kind), "bytes": sum(of_kind)} for kind, of_kind in sizes.items()]
    return {
        "directory": shown(str(cache.directory)),
        "shared": shown(cache.shared.store.url) if cache.shared else None,
        "bytes": sum(map(sum, sizes.values())),
        "limit_bytes": cache.limit,
        "unused_days": None if oldest is None else max(time.time() - oldest, 0) / _DAY,
        "removed": 0,
        "kinds": sorted(kinds, key=lambda row: (-sum(sizes[str(row["kind"])]), row["kind"])),
    }


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _as_text(contents: dict[str, Any]) -> str:
    from torch_tb_profiler.analysis.text_format import with_unit

    used, limit = with_unit(contents["bytes"], "bytes"), with_unit(contents["limit_bytes"], "bytes")
    lines = [f"cache {safe(contents['directory'])}: {used} of {limit}"]
    lines += [f"  {row['kind']}: {row['files']} files, {with_unit(row['bytes'], 'bytes')}" for row in contents["kinds"]]
    if contents["unused_days"] is not None:
        lines.append(f"  least recently used: {contents['unused_days']:.0f} days")
    if contents["shared"] is not None:
        lines.append(f"  shared: {safe(contents['shared'])}")
    if contents["removed"]:
        lines.append(f"removed {with_unit(contents['removed'], 'bytes')}")
    return "\n".join(lines)
