"""The commands and the code of a page of the documentation, run as a reader would, from the top.

What a fenced block of a page is, its first word says:

``console``   Lines that begin with ``$ `` are commands (one that ends in a backslash goes on in the next line); what
              stands below one is what it prints: ``…`` stands for anything. Without output any will do.
``python``    Code. All of a page is one program, in the folder where the commands run.
``sh``        Commands with servers beside them: of docs/storage.md, see tests/storage/test_docs.py.

A block that cannot be run here says why, for the reader of the source: ``console not-run="takes a GPU"``. The folder
has copies of samples/ and examples/. `make` is asked whether it has the target, and `pip install` whether this package
has the extra; servers (`serve`, `tensorboard`) are started, asked for a page and ended.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.metadata import metadata
from pathlib import Path
from typing import Any
from unittest import mock

from tests.recorded import ROOT
from tests.tiny import free_port, wait_until
from torch_tb_profiler.cli import main

_FENCE = re.compile(r"^( *)```(?P<info>[^\n`]*)\n(?P<text>.*?)^\1```$", re.MULTILINE | re.DOTALL)
_OPTION = re.compile(r'([\w-]+)=("[^"]*"|\S+)')
#: names that begin a command which every page writes in a console block
PROGRAMS = (
    "torch-tb-profiler",
    "python",
    "pip",
    "make",
    "tensorboard",
    "docker",
    "git",
    "npm",
    "curl",
    "torchrun",
    "dask",
)
_SERVERS = re.compile(r"^(tensorboard |torch-tb-profiler (serve|demo)( |$))")
#: what a server says when it takes requests
_ADDRESS = re.compile(r" at (http://\S+/)")
_SECONDS = 300
#: what a shell reads in a command, outside of quotation marks
_QUOTED, _SHELL = re.compile(r"'[^']*'|\"[^\"$`]*\""), re.compile(r"[|<>;&$`~*?{}\"']")


@dataclass(frozen=True)
class Command:
    """text: as the shell takes it; output: what the page says that it prints, None where it says nothing."""

    text: str
    output: str | None


@dataclass(frozen=True)
class Block:
    """language: the first word of the fence, empty where there is none; line: of the fence, from 1."""

    page: Path
    line: int
    language: str
    options: dict[str, str]
    text: str

    @property
    def is_run(self) -> bool:
        """Recipes name their file, and are applied by tests/recipes."""
        return self.language in ("console", "python") and not self.options.keys() & {"not-run", "file"}

    @property
    def commands(self) -> list[Command]:
        """Of a console block."""
        found: list[tuple[str, list[str]]] = []
        goes_on = False
        for line in self.text.splitlines():
            if goes_on:
                found[-1] = (f"{found[-1][0]}\n{line}", [])
            elif line.startswith("$ "):
                found.append((line[2:], []))
            else:
                assert found, f"{self.place}: the block begins with no command ($ …)"
                found[-1][1].append(line)
            goes_on = line.endswith("\\")
        return [Command(text, "\n".join(output).strip() or None) for text, output in found]

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def all_pages() -> list[Path]:
    """Every page that users read."""
    of_root = (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "samples/README.md", "examples/README.md"))
    return [*of_root, *sorted((ROOT / "docs").rglob("*.md"))]


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page, from the top."""
    return blocks_in(page.read_text("utf-8"), page)


def blocks_in(text: str, page: Path) -> list[Block]:
    """The same of a text that is, or would be, that of the page."""
    found = []
    for match in _FENCE.finditer(text):
        language, _, rest = match["info"].strip().partition(" ")
        line = text.count("\n", 0, match.start()) + 1
        found.append(
            Block(page, line, language, {key: value.strip('"') for key, value in _OPTION.findall(rest)}, match["text"])
        )
    return found


def torch_python() -> str | None:
    """A Python that has torch: this one, or that of the variable TORCH_PYTHON."""
    has_torch = "import sys, importlib.util as u; sys.exit(u.find_spec('torch') is None)"
    for python in (os.environ.get("TORCH_PYTHON"), sys.executable):
        if python and subprocess.run([python, "-c", has_torch], check=False).returncode == 0:
            return python
    return None


@dataclass
class Reader:
    """Somebody who reads a page and tries what stands there.

    folder  where: with copies of samples/ and examples/
    cache   of the traces that are read, may be shared by several readers
    torch   the Python for programs that import torch; None skips these, and `skipped` says where they stand
    """

    folder: Path
    cache: Path
    torch: str | None = None
    skipped: list[str] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})

    def __post_init__(self) -> None:
        for name in ("samples", "examples"):
            shutil.copytree(ROOT / name, self.folder / name, ignore=shutil.ignore_patterns("__pycache__"))

    def follow(self, blocks: list[Block]) -> None:
        """Run all blocks that can be run."""
        for block in blocks:
            if not block.is_run:
                continue
            if block.language == "python":
                self._code(block)
                continue
            for command in block.commands:
                self._command(command, block.place)
                if block.place in self.skipped:
                    break  # what follows uses what it would have recorded

    def _code(self, block: Block) -> None:
        if re.search(r"^\s*(?:import|from) torch\b", block.text, re.MULTILINE):
            self._with_torch([self.torch or "", "-c", block.text], block.place)
            return
        code = compile("\n" * block.line + block.text, str(block.page), "exec")
        # in a thread of its own: the browser of other tests has an event loop in this one
        with _in_folder(self.folder), ThreadPoolExecutor(1) as thread:
            thread.submit(exec, code, self.names).result()

    def _with_torch(self, command: list[str], place: str) -> None:
        if self.torch is None:
            self.skipped.append(place)
            return
        self._run(command, place)

    def _command(self, command: Command, place: str) -> None:
        words = shlex.split(command.text.replace("\\\n", " "), comments=True)
        if words[0] == "make":
            _has_targets(words, place)
        elif words[:2] == ["pip", "install"]:
            _has_extras(words[2:], place)
        elif words[0] == "python" and words[1].startswith("examples/") and _imports_torch(ROOT / words[1]):
            self._with_torch([self.torch or "", *words[1:]], place)
        elif _SERVERS.match(command.text):
            self._serve(words, place)
        else:
            takes_a_shell = words[0] != "torch-tb-profiler" or _SHELL.search(_QUOTED.sub("", command.text))
            bash = ["bash", "-c", f"set -e -o pipefail\n{command.text}"]
            printed, told = self._run(bash, place) if takes_a_shell else self._run_here(words, place)
            # a page may show what a terminal shows, or the output alone
            if command.output is not None and not agrees(printed, command.output):
                assert agrees(printed + told, command.output), f"{place}: {command.text} prints\n{printed}{told}"

    def _expanded(self, word: str) -> list[str]:
        return [str(path.relative_to(self.folder)) for path in self.folder.glob(word)] if "*" in word else [word]

    def _surroundings(self) -> dict[str, str]:
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        # A copy of the repository is what is tried, wherever the package is installed from. No browser is opened.
        own = {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(self.cache), "BROWSER": "true", "COLUMNS": "120"}
        # As torchrun starts a single process.
        rank = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1"}
        return {**os.environ, **own, **rank, "MASTER_PORT": str(free_port()), "PATH": path}

    def _run(self, command: list[str], place: str) -> tuple[str, str]:
        """What it printed on stdout and on stderr."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self._surroundings(),
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        had_enough = done.returncode == 141 and "| head" in command[-1]
        assert done.returncode == 0 or had_enough, (
            f"{place}: {command[-1]}\nexit status {done.returncode}\n{done.stdout}{done.stderr}"
        )
        return done.stdout, done.stderr

    def _run_here(self, words: list[str], place: str) -> tuple[str, str]:
        """The same of this program, in this process: to start one takes longer than most commands."""
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
        with (
            mock.patch.dict(os.environ, self._surroundings()),
            mock.patch.object(logging.getLogger("torch_tb_profiler"), "handlers", []),
            _in_folder(self.folder),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                code = main(words[1:])
            except SystemExit as end:
                code = int(end.code or 0)
        printed, told = (stream.buffer.getvalue().decode() for stream in (out, err))  # type: ignore[attr-defined]
        assert code == 0, f"{place}: {shlex.join(words)}\nexit status {code}\n{printed}{told}"
        return printed, told

    def _serve(self, words: list[str], place: str) -> None:
        """Start, ask for the first page, end."""
        module = "tensorboard.main" if words[0] == "tensorboard" else "torch_tb_profiler"
        arguments = [word for each in words[1:] for word in self._expanded(each)]
        if "--port" in arguments:
            at = arguments.index("--port")
            del arguments[at : at + 2]
        log = self.folder / "server.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments, "--port", "0"],
                cwd=self.folder,
                env=self._surroundings(),
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        try:

            def address() -> re.Match[str] | None:
                assert process.poll() is None, f"{place}: {log.read_text()}"
                return _ADDRESS.search(log.read_text())

            wait_until(address, f"{place}: the address of the server")
            found = address()
            assert found
            with urllib.request.urlopen(found[1], timeout=60) as answer:
                assert answer.status == 200, place
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


@contextlib.contextmanager
def _in_folder(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def agrees(said: str, written: str) -> bool:
    """Whether a page's copy of an output is right. `…` stands for anything."""
    pattern = ".*?".join(re.escape(part) for part in written.strip().split("…"))
    return re.fullmatch(pattern, said.strip(), re.DOTALL) is not None


def _imports_torch(script: Path) -> bool:
    return re.search(r"^(?:import|from) torch\b", script.read_text("utf-8"), re.MULTILINE) is not None


def _has_targets(words: list[str], place: str) -> None:
    named = [word for word in words[1:] if "=" not in word and not word.startswith("-")]
    text = (ROOT / "Makefile").read_text("utf-8")
    targets = {name for line in re.findall(r"^([\w. /-]+):(?!=)", text, re.MULTILINE) for name in line.split()}
    assert set(named) <= targets, f"{place}: no such target of make: {named}"


def _has_extras(requirements: list[str], place: str) -> None:
    for requirement in requirements:
        name, _, extras = requirement.rstrip("]").partition("[")
        if name == "torch-tb-profiler" and extras:
            there = metadata(name).get_all("Provides-Extra") or ()
            assert set(extras.split(",")) <= set(there), f"{place}: no such extra: {extras}"
