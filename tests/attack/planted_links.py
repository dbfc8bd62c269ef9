"""Things in a cache that are not the cache's: links, folders and files that another user has put there before."""

from __future__ import annotations

import contextlib
import os
import random
import tempfile
from collections.abc import Callable
from pathlib import Path

from torch_tb_profiler.cli import main
from torch_tb_profiler.storage import StorageError
from torch_tb_profiler.workspace import pack
from torch_tb_profiler.workspace.cache.answer_store import AnswerFolder
from torch_tb_profiler.workspace.cache.checksummed import write_checksummed
from torch_tb_profiler.workspace.cache.stores import FolderStore
from torch_tb_profiler.workspace.cache.trace_cache import TraceCache
from torch_tb_profiler.workspace.process import remove_left_overs
from torch_tb_profiler.workspace.status import TraceSummary

KEYS = [digit * 40 for digit in "0123456789"]
SUMMARY = TraceSummary(events=1, notes=0, warnings=(), views=(), rank=None, world_size=None, host_name="")
OLD = (1e9, 1e9)


def foreign(folder: Path) -> None:
    """Somebody's files, with names of all kinds, also those that a cache gives, and ages."""
    for name in (
        "thesis",
        "notes.txt",
        "left.part",
        f"{KEYS[0]}.columns",
        f"{KEYS[1]}.v.json",
        "a.1-2-3.part",
        "in-use",
    ):
        (folder / name).write_text("mine")
        os.utime(folder / name, OLD)
    for name in (f"{KEYS[2]}.v.answers", "folder"):
        (folder / name).mkdir()
        write_checksummed(folder / name / ("a" * 24), b"mine")
        (folder / name / "b.part").write_text("mine")
        os.utime(folder / name / "b.part", OLD)


def seen(folder: Path) -> dict[str, tuple[bytes, float]]:
    """All that is below a folder: content and time."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime) for path in files}


def plant(cache: TraceCache, target: Path, dice: random.Random) -> None:
    """Links and folders under the names of the cache, and in its folders of answers."""
    targets = [target, *target.iterdir(), Path("/dev/null"), target / "nowhere"]
    for key in KEYS:
        for path in (cache.columns(key), cache.rank(key), cache.timeline(key), cache.answers(key), cache._summary(key)):
            with contextlib.suppress(OSError):
                part = path.with_name(f"{path.name}.1-2-3.part")
                for each in (path, part):
                    if dice.random() < 0.5:
                        each.symlink_to(dice.choice(targets), target_is_directory=True)
                        os.utime(each, OLD, follow_symlinks=False)
        if cache.answers(key).is_symlink() or dice.random() < 0.5:
            continue
        folder = AnswerFolder(cache.answers(key))
        folder.put("a" * 24, pack(b"answer"))
        (cache.answers(key) / "mine.txt").write_text("mine")
        for name in ("b" * 24, "c.1-2-3.part"):
            with contextlib.suppress(OSError):
                (cache.answers(key) / name).symlink_to(dice.choice(targets), target_is_directory=True)


def _left_overs(cache: TraceCache, target: Path, dice: random.Random) -> None:
    """Temporary directories that are links, or whose mark is one."""
    for name, mark in (("torch_tb_profiler-a", None), ("torch_tb_profiler-b", target / "in-use")):
        with contextlib.suppress(OSError):
            path = cache.directory.parent / name
            if mark is None:
                path.symlink_to(target, target_is_directory=True)
            else:
                path.mkdir()
                (path / "in-use").symlink_to(mark)
    before, tempfile.tempdir = tempfile.tempdir, str(cache.directory.parent)
    try:
        remove_left_overs()
    finally:
        tempfile.tempdir = before


def _command(cache: TraceCache, _: Path, dice: random.Random) -> None:
    with contextlib.redirect_stdout(None):
        main(["cache", dice.choice(("--prune", "--clear", "--json")), "--cache-dir", str(cache.directory)])


def _answers(cache: TraceCache, _: Path, dice: random.Random) -> None:
    folder = AnswerFolder(cache.answers(dice.choice(KEYS)))
    for name in ("a" * 24, "d" * 24):
        folder.get(name)
        folder.put(name, pack(b"answer" * 1000))
    cache.added_to(dice.choice(KEYS))


def _writing(cache: TraceCache, _: Path, dice: random.Random) -> None:
    key = dice.choice(KEYS)
    cache.touch(key)
    cache.add(key, SUMMARY)
    cache.find(key)
    cache.keep_result(f"{key}.run", b"x")
    cache.result(f"{key}.run")
    with contextlib.suppress(OSError, StorageError):
        FolderStore(cache.directory, is_private=True, part="ingest-0f-").sweep()


DEEDS: tuple[Callable[[TraceCache, Path, random.Random], object], ...] = (
    lambda cache, _, __: cache.sweep(),
    lambda cache, _, __: cache.clear(),
    lambda cache, _, dice: cache.remove(dice.choice(KEYS)),
    lambda cache, _, __: TraceCache(cache.directory, limit=1).sweep(),
    _left_overs,
    _command,
    _answers,
    _writing,
)


def harmed(folder: Path, seed: int) -> list[str]:
    """What is changed or gone of somebody's files after everything that a cache does, in any order."""
    dice = random.Random(seed)
    target = folder / "somebody"
    target.mkdir(parents=True)
    foreign(target)
    before = seen(target)
    cache = TraceCache(folder / "cache", limit=1)
    plant(cache, target, dice)
    mine = [path for path in cache.directory.rglob("mine.txt") if not path.parent.is_symlink()]
    for _ in range(20):
        deed = dice.choice(DEEDS)
        deed(cache, target, dice)
    after = seen(target)
    wrong = [name for name in before if after.get(name) != before[name]] + [
        name for name in after if name not in before
    ]
    return wrong + [str(path) for path in mine if not path.exists()]
