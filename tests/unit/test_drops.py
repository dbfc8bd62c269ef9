"""Files that are dropped onto the page of a stand-alone server."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from werkzeug.test import Client, TestResponse

from tests.served import everything_read
from tests.snapshots import dumped, fragmented
from tests.tiny import wait_until, write_trace
from torch_tb_profiler.discovery import RunFiles, parse_logdir
from torch_tb_profiler.storage.local import LocalStorage
from torch_tb_profiler.web.app import create_app
from torch_tb_profiler.web.http import HttpError
from torch_tb_profiler.web.server import only_for
from torch_tb_profiler.web.uploads import CONTENT_TYPE, PATH, UploadLimits, Uploads, refuse_uploads, safe_name
from torch_tb_profiler.workspace import Workspace, local_workspace, open_workspace

LIMITS = UploadLimits(file=100_000, all=150_000, files=5, free=0)


class Noted:
    """What a workspace was given; nothing is read."""

    def __init__(self) -> None:
        self.added: dict[str, Callable[[], RunFiles]] = {}

    def add(self, name: str, make: Callable[[], RunFiles]) -> None:
        self.added[name] = make

    def has_run(self, name: str) -> bool:
        return name in self.added

    @property
    def runs(self) -> list[RunFiles]:
        return [make() for make in self.added.values()]


@pytest.fixture
def noted() -> Noted:
    return Noted()


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    logs = tmp_path / "logs"
    write_trace(logs / "run" / "w.pt.trace.json")
    workspace = open_workspace(parse_logdir(str(logs)), tmp_path / "cache", 1, reload_interval=0.3)
    try:
        wait_until(lambda: not workspace.status().loading, "the log directory is read")
        yield workspace
    finally:
        workspace.close()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made."""
    (tmp_path / "kept").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "kept"))
    return tmp_path / "kept"


@pytest.fixture
def drops(noted: Noted, folder: Path) -> Iterator[Uploads]:
    drops = Uploads(cast(Workspace, noted), LIMITS)
    yield drops
    drops.close()


@pytest.fixture
def client(noted: Noted, drops: Uploads) -> Client:
    """Of a server that reads nothing."""
    return Client(only_for(drops.around(create_app(cast(Workspace, noted))), "127.0.0.1"))


def send(client: Client, name: str, body: bytes, to: str | None = None, **more: Any) -> TestResponse:
    query = {"name": name} if to is None else {"name": name, "to": to}
    return client.post(PATH, query_string=query, data=body, content_type=more.pop("content_type", CONTENT_TYPE), **more)


def trace_at(folder: Path, name: str = "t.json") -> bytes:
    write_trace(folder / name)
    return (folder / name).read_bytes()


def kept(tmp_path: Path) -> list[str]:
    return sorted(file.name for file in (tmp_path / "kept").rglob("*") if file.is_file() and file.name != "in-use")


def test_traces_become_runs_at_once_and_stay(workspace: Workspace, folder: Path, tmp_path: Path) -> None:
    drops = Uploads(workspace, LIMITS)
    client = Client(drops.around(create_app(workspace)))
    body = trace_at(tmp_path)
    answer = send(client, "C:\\traces\\..\\my job.json", body)
    assert (answer.status_code, answer.json) == (200, {"run": "dropped/my job"})
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert [run.name for run in workspace.status().runs] == ["dropped/my job", "run"]
    assert send(client, "oom.pickle", dumped(fragmented().snapshot()), to="dropped/my job").status_code == 200
    wait_until(lambda: not workspace.status().loading, "the files are read")
    found, snapshot = sorted(workspace.run("dropped/my job").traces, key=lambda trace: trace.file)
    assert (found.state, found.file, snapshot.state, snapshot.kind) == ("ready", "my job.json", "ready", "snapshot")
    trace = workspace.find("dropped/my job", found.worker)
    assert workspace.original(trace).stream.read() == body
    write_trace(tmp_path / "logs" / "later" / "w.pt.trace.json")
    wait_until(lambda: "later" in [run.name for run in workspace.status().runs], "the next listing")
    assert workspace.find("dropped/my job", found.worker) == trace
    drops.close()


def test_what_is_dropped_together_is_one_run(client: Client, noted: Noted, tmp_path: Path) -> None:
    body = trace_at(tmp_path)
    assert client.get(PATH).json == {"most_bytes": LIMITS.file}
    first = send(client, "rank0.json", body).json
    assert first == {"run": "dropped/rank0"}
    assert send(client, "rank1.json.gz", gzip.compress(body), to="dropped/rank0").json == first
    assert send(client, "oom.pickle", dumped(fragmented().snapshot()), to="dropped/rank0").json == first
    assert [trace.kind for trace in noted.runs[-1].traces] == ["trace", "trace", "snapshot"]
    assert send(client, "rank0.json", body).json == {"run": "dropped/rank0 (2)"}
    again = send(client, "rank0.json", body, to="dropped/rank0")
    assert (again.status_code, again.json) == (400, {"error": "rank0.json has been dropped already"})
    assert send(client, "rank0.json", body, to="run").status_code == 400


@pytest.mark.parametrize(
    ("name", "body", "words"),
    [
        ("notes.txt", b"hello", "notes.txt"),
        ("a.json", b'{"a": 1}', "a.json is JSON, but not a trace"),
        ("torch.pt.trace.json", b'{"a": 1}', "torch.pt.trace.json is JSON, but not a trace"),
        ("x.json.gz", b"\x1f\x8bnonsense", "x.json.gz cannot be read"),
        ("evil.pickle", b"cos\nsystem\n(S'true'\ntR.", "evil.pickle"),
    ],
)
def test_what_is_no_trace_is_refused_and_not_kept(
    client: Client, noted: Noted, tmp_path: Path, name: str, body: bytes, words: str
) -> None:
    answer = send(client, name, body)
    assert answer.status_code == 422
    assert answer.json["error"].startswith(words)
    assert noted.runs == []
    assert kept(tmp_path) == []


REFUSALS: dict[str, Callable[[Client], TestResponse]] = {
    "no trace": lambda client: send(client, "rank0.json", b"{}"),
    "too large": lambda client: send(client, "rank0.json", b" " * (LIMITS.file + 1)),
    "too short": lambda client: send(client, "rank0.json", b"{", environ_overrides={"CONTENT_LENGTH": "9"}),
    "another type": lambda client: send(client, "rank0.json", b"{}", content_type="text/plain"),
    "no such run": lambda client: send(client, "rank0.json", b"{}", to="dropped/rank0"),
}


@pytest.mark.parametrize("refusal", REFUSALS)
def test_what_is_refused_leaves_nothing(refusal: str, client: Client, folder: Path, tmp_path: Path) -> None:
    for _ in range(3):
        assert REFUSALS[refusal](client).status_code in (400, 413, 415, 422)
    assert [path.name for path in folder.rglob("*") if path.is_dir() and path.parent != folder] == []
    assert send(client, "rank0.json", trace_at(tmp_path)).json == {"run": "dropped/rank0"}
    # nor does it take anything from a run that there is
    again = send(client, "rank0.json", b"{}", to="dropped/rank0")
    assert (again.status_code, kept(tmp_path)) == (400, ["rank0.json"])
    assert send(client, "rank1.json", b"{}", to="dropped/rank0").status_code == 422
    assert send(client, "rank1.json", trace_at(tmp_path), to="dropped/rank0").status_code == 200


def test_the_work_of_a_run_is_linear_in_its_files(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file is looked at once, and the run made when somebody asks for it."""
    (tmp_path / "logs").mkdir()
    opened: list[object] = []
    discovered: list[object] = []
    count = 30
    monkeypatch.setattr(LocalStorage, "open", _counted(LocalStorage.open, opened))
    monkeypatch.setattr(local_workspace, "discover", _counted(local_workspace.discover, discovered))
    body, run = trace_at(tmp_path), None
    with everything_read(tmp_path / "logs", tmp_path / "cache", 1) as workspace:
        drops = Uploads(workspace, UploadLimits(free=0))
        client = Client(drops.around(create_app(workspace)))
        for number in range(count):
            answer = send(client, f"rank{number}.json", body, to=run)
            assert answer.status_code == 200
            run = answer.json["run"]
        assert len(opened) <= 2 * count  # each listing takes over what is new, and opens it once
        assert len(discovered) <= count // 3
        assert len(workspace.run("dropped/rank0").traces) == count
        drops.close()


def _counted(function: Callable[..., Any], calls: list[object]) -> Callable[..., Any]:
    def counted(*arguments: Any, **named: Any) -> Any:
        calls.append(arguments)
        return function(*arguments, **named)

    return counted


def test_limits(client: Client, tmp_path: Path) -> None:
    body = trace_at(tmp_path)
    large = send(client, "large.json", b" " * (LIMITS.file + 1))
    assert large.status_code == 413
    assert "at most 100,000 are taken; `torch-tb-profiler serve FILE`" in large.json["error"]
    # what was refused takes no room
    for _ in range(LIMITS.files):
        assert send(client, "no.json", b"{}").status_code == 422
    for number in range(LIMITS.files):
        assert send(client, f"{number}.json", body).status_code == 200
    full = send(client, "more.json", body)
    assert full.status_code == 413
    assert full.json["error"].startswith("5 files with")
    assert send(client, "", body).status_code == 400
    assert len(kept(tmp_path)) == LIMITS.files


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),  # a program
        ({"Origin": "http://127.0.0.1:6007", "Sec-Fetch-Site": "same-origin"}, 200),
        ({"Origin": "http://127.0.0.1:8888"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://[x"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "none"}, 403),
        ({"Host": "evil.example"}, 421),
    ],
)
def test_only_pages_of_this_server_send(client: Client, tmp_path: Path, headers: dict[str, str], status: int) -> None:
    found = send(client, "a.json", trace_at(tmp_path), headers={"Host": "127.0.0.1:6007", **headers})
    assert found.status_code == status
    assert (kept(tmp_path) == ["a.json"]) == (status == 200)


def test_forms_cannot_send(client: Client, tmp_path: Path) -> None:
    for kind in ("text/plain", "multipart/form-data", "application/x-www-form-urlencoded", ""):
        assert send(client, "a.json", trace_at(tmp_path), content_type=kind).status_code == 415
    for method in ("PUT", "DELETE", "OPTIONS"):
        assert client.open(PATH, method=method).status_code == 405
    assert client.post("/api/status").status_code == 405


def test_a_body_that_ends_early_is_not_kept(client: Client, tmp_path: Path) -> None:
    body = trace_at(tmp_path)
    answer = send(client, "a.json", body, environ_overrides={"CONTENT_LENGTH": str(len(body) + 1)})
    assert (answer.status_code, kept(tmp_path)) == (400, [])


def test_files_go_with_the_server(client: Client, drops: Uploads, folder: Path, tmp_path: Path) -> None:
    send(client, "a.json", trace_at(tmp_path))
    (own,) = folder.iterdir()
    assert own.stat().st_mode & 0o077 == 0
    drops.close()
    assert list(folder.iterdir()) == []


def test_a_folder_that_was_cleaned_away_is_made_again(client: Client, folder: Path, tmp_path: Path) -> None:
    send(client, "a.json", trace_at(tmp_path))
    shutil.rmtree(next(folder.iterdir()))
    assert send(client, "b.json", trace_at(tmp_path)).status_code == 200
    assert kept(tmp_path) == ["b.json"]


def test_without_a_place_the_reason_is_told(client: Client, folder: Path, tmp_path: Path) -> None:
    folder.rmdir()
    answer = send(client, "a.json", trace_at(tmp_path))
    assert answer.status_code == 507
    assert "a.json cannot be kept" in json.loads(answer.data)["error"]


def test_a_fault_is_told_as_everywhere(
    noted: Noted, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(noted, "add", lambda *_: 1 / 0)
    answer = send(client, "a.json", trace_at(tmp_path))
    assert answer.status_code == 500
    assert kept(tmp_path) == []
    assert "an error occurred" in json.loads(answer.data)["error"]


def test_a_server_for_others_takes_none(noted: Noted, tmp_path: Path) -> None:
    app = create_app(cast(Workspace, noted))
    client = Client(refuse_uploads(app))
    for answer in (send(client, "a.json", trace_at(tmp_path)), client.get(PATH)):
        assert answer.status_code == 403
        assert "no other machine" in json.loads(answer.data)["error"]
    # TensorBoard, whose page never asks
    assert Client(app).get(PATH).status_code == 404
    assert send(Client(app), "a.json", b"{}").status_code == 405


@pytest.mark.parametrize(
    ("name", "kept_as"),
    [
        ("worker0.1700000000000.pt.trace.json.gz", "worker0.1700000000000.pt.trace.json.gz"),
        ("../../etc/passwd.json", "passwd.json"),
        ("..\\x.json", "x.json"),
        ("a\0\nb:c*.json", "a__b_c_.json"),
        (".hidden.json", "hidden.json"),
        ("跟踪.json", "跟踪.json"),
        ("n" * 300 + ".json", "n" * 145 + ".json"),
        ("跟" * 300 + ".json", "跟" * 48 + ".json"),
    ],
)
def test_names_are_made_safe(name: str, kept_as: str) -> None:
    assert safe_name(name) == kept_as


@pytest.mark.parametrize("name", ["", "..", "/", "a/", " . ", "\0"])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(HttpError):
        safe_name(name)
