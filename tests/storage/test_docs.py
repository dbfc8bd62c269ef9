"""docs/storage.md: its commands as they stand, against servers on this machine, and what it says that the code says."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.metadata import distribution, metadata
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from tests.integration.conftest import PLUGIN, Server, Starter, wait_for_all
from tests.storage.hdfs import PARTS, hdfs_cluster
from tests.storage.stores import AWS_KEY, AWS_SECRET, NOTHING, SERVERS, running, s3_server, s3_store, script
from tests.storage.test_workspaces import NAMED, trace
from tests.tiny import free_port
from torch_tb_profiler import storage
from torch_tb_profiler.storage.errors import Attempt
from torch_tb_profiler.words import section as words_of

TEXT = (Path(__file__).parents[2] / "docs" / "storage.md").read_text("utf-8")
SOURCES = sorted(Path(storage.__file__).parent.glob("*.py"))

#: stands above the blocks that nobody without an account can run
ACCOUNT = "*account*"


def section(title: str) -> str:
    found = re.search(rf"^(##+) {title}\n(.*?)(?=^##+ |\Z)", TEXT, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[2]


def blocks(title: str) -> list[str]:
    """The blocks of commands of a section that take no account."""
    found = re.findall(r"([^\n]*)\n\n```sh\n(.*?)```", section(title), re.DOTALL)
    return [commands for above, commands in found if ACCOUNT not in above]


class Terminal:
    """Where a user pastes blocks. `replaced`: what is written in the doc, and what there is on this machine."""

    def __init__(self, folder: Path, start: Starter, replaced: dict[str, str]) -> None:
        self.folder = folder
        self._start = start
        self._replaced = replaced
        self._servers = ExitStack()

    def __enter__(self) -> Terminal:
        (self.folder / "trace.json").write_bytes(trace())
        (self.folder / "node_modules").symlink_to(SERVERS / "node_modules")
        return self

    def __exit__(self, *_: object) -> None:
        self._servers.close()

    def paste(self, commands: str, **environment: str) -> Server | None:
        """Run a block. Its last line is a server: of a store, which stays, or ours, which is returned."""
        for written, real in self._replaced.items():
            commands = commands.replace(written, real)
        *before, last = self._installed(commands.strip().splitlines())
        shell = "\n".join(["set -e", *before, "env -0 > environment", f"printf '%s\\0' {last} > last"])
        path = f"{Path(script('python')).parent}{os.pathsep}{os.environ['PATH']}"
        subprocess.run(
            ["bash", "-c", shell],
            cwd=self.folder,
            env={**os.environ, **NOTHING, **environment, "PATH": path},
            check=True,
            timeout=100,
        )
        lines = (self.folder / "environment").read_text().split("\0")
        surroundings = dict(line.partition("=")[::2] for line in lines if line)
        program, *arguments = (self.folder / "last").read_text().split("\0")[:-1]
        if program == "tensorboard":
            return self._start(*arguments, environment=surroundings)
        if program == "torch-tb-profiler":
            return self._start(*arguments, "--port", "0", tensorboard=False, environment=surroundings)
        self._serve([program, *arguments], surroundings)
        return None

    def _installed(self, lines: list[str]) -> list[str]:
        """Without what installs something: that must be there, as the extras of this package say."""
        left = []
        for line in lines:
            if line.startswith("pip install "):
                for requirement in shlex.split(line)[2:]:
                    name, _, extra = requirement.rstrip("]").partition("[")
                    assert distribution(name)
                    assert not extra or extra in (metadata(name).get_all("Provides-Extra") or ())
            elif line.startswith("npm install "):
                assert (self.folder / "node_modules" / line.split()[2]).is_dir()
            else:
                left.append(line)
        return left

    def _serve(self, command: list[str], environment: dict[str, str]) -> None:
        port = next(found[1] for word in command if (found := re.fullmatch(r"(?:127\.0\.0\.1:)?(\d{4,})", word)))
        where = Path(script(command[0]))
        program = str(where) if where.exists() else command[0]
        log = self.folder / f"store{port}.log"
        self._servers.enter_context(running([program, *command[1:]], log, f"http://127.0.0.1:{port}", environment))


@pytest.fixture
def terminal(tmp_path: Path, start: Starter, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    ports = {port: str(free_port()) for port in ("9000", "10000", "5904")}
    with Terminal(folder, start, ports) as opened:
        yield opened


def runs(server: Server | None) -> dict[str, str]:
    """Names and states, when all is read."""
    assert server
    prefix = "" if server.get("api/status").status == 200 else PLUGIN
    wait_for_all(server, prefix)
    status = server.get(f"{prefix}api/status").json()
    assert (status["error"], status["skipped"]) == (None, [])
    return {run["name"]: run["state"] for run in status["runs"]}


def test_an_account_of_s3(terminal: Terminal, tmp_path: Path) -> None:
    account, *_ = blocks("S3")
    account = account.replace("KEY_ID=…", f"KEY_ID={AWS_KEY}").replace("ACCESS_KEY=…", f"ACCESS_KEY={AWS_SECRET}")
    with s3_server(tmp_path) as url, s3_store(url) as store:
        store.put(f"logs/{NAMED}", trace())
        account = account.replace("s3://bucket", store.url())
        assert runs(terminal.paste(account, AWS_ENDPOINT_URL=store.proxy.url)) == {"run": "ready"}
        assert "/eu-central-1/s3/" in store.proxy.requests[-1].headers["Authorization"]


def test_another_server_of_s3(terminal: Terminal) -> None:
    _, store, client, by_parts, several = blocks("S3")
    (terminal.folder / "logs" / "run").mkdir(parents=True)
    (terminal.folder / "logs" / NAMED).write_bytes(trace())
    terminal.paste(store)
    assert runs(terminal.paste(client)) == {"run": "ready"}
    assert runs(terminal.paste(by_parts)) == {"logs/run": "ready"}
    assert runs(terminal.paste(several)) == {"here/run": "ready", "team/run": "ready"}


def test_a_server_of_azure(terminal: Terminal) -> None:
    store, by_key, by_signature = blocks("Azure Blob Storage")
    terminal.paste(store)
    assert runs(terminal.paste(by_key)) == {"run": "ready"}
    assert runs(terminal.paste(by_signature)) == {"run": "ready"}


def test_a_server_of_google(terminal: Terminal) -> None:
    store, client = blocks("Google Cloud Storage")
    terminal.paste(store)
    assert runs(terminal.paste(client)) == {"run": "ready"}


@pytest.mark.hdfs
@pytest.mark.skipif(not PARTS.is_dir(), reason="HDFS is not installed: make test-hdfs")
def test_hdfs(tmp_path: Path, start: Starter) -> None:
    native, arrow = blocks("HDFS")
    with hdfs_cluster(tmp_path) as hdfs:
        hdfs.put(f"/logs/{NAMED}", trace())
        python_path = hdfs.environment("arrow", tmp_path / "site")
        replaced = {
            "hdfs://namenode:8020": hdfs.host,
            "/opt/hadoop": str(hdfs.home),
            "/usr/lib/jvm/java-17": python_path["JAVA_HOME"],
        }
        (tmp_path / "folder").mkdir()
        with Terminal(tmp_path / "folder", start, replaced) as terminal:
            assert runs(terminal.paste(native)) == {"run": "ready"}
            # hdfs-native is there, too, and would be taken
            assert runs(terminal.paste(arrow, PYTHONPATH=python_path["PYTHONPATH"])) == {"run": "ready"}


# tables ----------------------------------------------------------------------------------------------------


def first_cells(title: str) -> list[str]:
    rows = re.findall(r"^\| (.*?) \|", section(title), re.MULTILINE)
    return [row for row in rows if row not in ("message", "variable")]


def raised() -> set[str]:
    """What the storages say in words of their own: the longest part of each that is always the same."""
    found = set()
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "StorageError":
                texts = [n.value for n in ast.walk(node.args[0]) if isinstance(n, ast.Constant)]
                words = words_of("reasons", "texts").sentences
                said = [text if isinstance(words.get(text), dict) else str(words.get(text, text)) for text in texts]
                found.add(max(said, key=len, default="").strip(": "))
    # what was tried, before the message
    return found - {"", ". ", *get_args(get_type_hints(Attempt)["kind"])}


def test_every_message_is_in_the_table_and_the_table_has_no_other() -> None:
    table = first_cells("Messages")
    troubles = words_of("reasons", "texts").shared["trouble_said"]
    assert not isinstance(troubles, str)
    said = [*(text for key, text in troubles.items() if key != "by"), *raised()]
    assert len(raised()) > 5
    assert [text for text in said if not any(text.startswith(message) for message in table)] == []
    package = SOURCES[0].parents[1]
    code = "".join(path.read_text("utf-8") for path in (*package.rglob("*.py"), package / "words/en/reasons.toml"))
    assert [message for message in table if f'"{message}' not in code and f" {message}" not in code] == []


def test_every_variable_that_is_read_is_in_the_table() -> None:
    table = " ".join(first_cells("Variables"))
    read = {
        name
        for source in SOURCES
        for name in re.findall(r'environ(?:ment)?(?:\.get\(|\[)"([A-Z0-9_]+)"', source.read_text())
    }
    assert {"S3_ENDPOINT", "AZURE_STORAGE_CONNECTION_STRING", "STORAGE_EMULATOR_HOST", "HADOOP_HOME"} <= read
    # what passes the signature of an address on to our own worker processes is nothing to set
    ours = {"TORCH_TB_PROFILER_BLOB_ACCESS"}
    assert {name for name in read - ours if f"`{name}`" not in table} == set()
