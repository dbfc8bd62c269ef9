"""Commands that write, with outputs that are named like inputs, like other traces, or lie where there is no room."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import random
import resource
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from tests.snapshots import dumped, random_run
from tests.tiny import write_trace
from tests.unit.test_targets import WAYS
from torch_tb_profiler.cli import main

OLD = b"as it was"


def run(*words: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    logging.getLogger("torch_tb_profiler").handlers.clear()  # the one of an earlier command writes to its stderr
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as error:
            code = int(error.code or 0)
    return code, out.getvalue(), err.getvalue()


@contextlib.contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """No file may become larger, as on a full disk."""
    before, compiles = resource.getrlimit(resource.RLIMIT_FSIZE), sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # Python keeps compiled modules that a limit has cut off
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        sys.dont_write_bytecode = compiles


def prepared(folder: Path) -> dict[Path, bytes]:
    """Two traces of a run, a snapshot, a baseline, a history and a query in `folder`; also what each contains."""
    made = [write_trace(folder / "logs" / "run" / f"{name}.pt.trace.json", steps=5) for name in "ab"]
    made += [folder / "memory.pickle", folder / "base.json", folder / "history.jsonl", folder / "query.sql"]
    made[2].write_bytes(dumped(random_run(1).snapshot()))
    made[5].write_text("select 1 as one")
    assert run("check", str(made[0]), "--save", str(made[3]), "--history", str(made[4]))[0] == 0
    return {path: path.read_bytes() for path in made}


def name_for(path: Path, folder: Path, dice: random.Random) -> str:
    """One of the names of a file."""
    for link, make in (("hard", Path.hardlink_to), ("soft", Path.symlink_to)):
        make(folder / f"{link}-{path.name}", path)
    if not (folder / "elsewhere").exists():
        (folder / "elsewhere").symlink_to(path.parent, target_is_directory=True)
    ways = [str(path), os.path.relpath(path), f"{path.parent}/../{path.parent.name}/{path.name}"]
    return dice.choice(
        [
            *ways,
            *(str(folder / each) for each in (f"hard-{path.name}", f"soft-{path.name}")),
            str(folder / "elsewhere" / path.name),
        ]
    )


def wrong_of(folder: Path, seed: int, times: int) -> list[str]:
    """What went wrong in so many commands."""
    with patch.dict(os.environ, TORCH_TB_PROFILER_CACHE_DIR=str(folder / "cache")):
        return _wrong_of(folder, seed, times)


def _wrong_of(folder: Path, seed: int, times: int) -> list[str]:
    dice, wrong = random.Random(seed), list[str]()
    files = prepared(folder)
    a, b, snapshot, base, history, query = files
    with contextlib.chdir(folder):
        for number in range(times):
            place = folder / f"links{number}"
            place.mkdir()
            source = dice.choice(
                [name_for(a, place, dice), f"file://{a}", str(a.parent), str(a.parents[1]), f"{a.parents[1]}/run~a"]
            )
            way = dice.choice([*WAYS, "compared", "glob", "from history", "query", "to history"])
            target = dice.choice([a, a, b, snapshot, base, history, query, None, None])
            to = str(place / "new.json") if target is None else name_for(target, _fresh(place / "to"), dice)
            words = {
                "compared": ["check", str(base), source, "--format", "json", "-o", to],
                "glob": ["check", f"{a.parent}/*.json", source, "--format", "markdown", "-o", to],
                "from history": ["check", "--base", str(history), source, dice.choice(["--save", "-o"]), to],
                "query": ["sql", source, "-f", str(query), "-o", to],
                "to history": ["check", "--base", str(history), source, "--history", to],
            }.get(way) or WAYS[way](source, to)
            read = {a, *({"compared": [base], "from history": [history], "query": [query]}.get(way, []))}
            code, out, err = run(*words, "-q")
            wrong += [f"{text}: {words} (seed {seed})" for text in _judged(words, code, out, err, target, read, files)]
            for path, content in files.items():
                path.write_bytes(content)
            wrong += [f"{text} (seed {seed})" for text in _no_room(words, to, place, dice)] if target is None else []
            shutil.rmtree(place)
    return wrong


def _fresh(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _judged(
    words: list[str], code: int, out: str, err: str, target: Path | None, read: set[Path], files: dict[Path, bytes]
) -> Iterator[str]:
    a, b, snapshot, *_ = files
    changed = {path for path, content in files.items() if path.read_bytes() != content}
    kept = {a, b, snapshot, *read}
    if "Traceback" in err or code not in (0, 2, 3):
        yield f"ended with {code}, {err[-300:]}"
    elif target in kept and (code, out, len(err.splitlines())) != (2, "", 1):
        yield f"an input is named, which ends with {code}, {err!r}"
    elif target is None and code == 2:
        yield f"a new file is refused: {err!r}"
    elif changed - {target} or changed & kept:
        yield f"changed {changed}"
    elif "--history" in words and target and not target.read_bytes().startswith(files[target]):
        yield "the history lost something"


def _no_room(words: list[str], to: str, place: Path, dice: random.Random) -> Iterator[str]:
    """The same where no file may be so large, and where there is a full device."""
    target = Path(to)
    if not target.is_file():
        yield f"no output of {words}"
        return
    whole = target.read_bytes()
    old = b"" if "--history" in words else OLD
    target.write_bytes(old)
    with files_up_to(dice.randrange(len(whole) + 2)):
        code, _, err = run(*words, "-q")
    now = target.read_bytes()
    if now != old and abs(len(now) - len(whole)) > 64:
        yield f"{len(now)} of {len(whole)} bytes with too little room: {words}"
    if (code == 2) != (now == old) or "Traceback" in err:
        yield f"ended with {code}, {err!r}, with too little room: {words}"
    target.unlink()
    target.symlink_to("/dev/full")
    code, _, err = run(*words, "-q")
    if code != 2 or not target.is_symlink() or "Traceback" in err:
        yield f"/dev/full: ended with {code}, {err!r}: {words}"
    if left := [path.name for path in place.rglob("*") if ".part" in path.name or path.name.startswith(".")]:
        yield f"left {left}: {words}"
