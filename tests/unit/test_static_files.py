"""The files of the built UI."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from werkzeug.test import Client

from tests.served import everything_read
from tests.unit.web_errors import error
from torch_tb_profiler.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """Without traces."""
    (tmp_path / "logs").mkdir()
    with everything_read(tmp_path / "logs", tmp_path / "cache") as workspace:
        yield workspace


@pytest.fixture
def static(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A built UI in a package of the test's own."""
    folder = tmp_path / "package" / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html>")
    (folder / "index.js").write_text("export function render() {}")
    (folder / "assets" / "app-1a2b.js").write_text("export {}")
    (folder / "assets" / "app.css").write_text("p {}")
    (folder / "manifest.json").write_text("{}")
    (tmp_path / "package" / "secret.py").write_text("secret")
    monkeypatch.setattr("torch_tb_profiler.web.static_files.files", lambda name: tmp_path / "package")
    return folder


def test_files_of_the_ui(client: Client, static: Path) -> None:
    for path, kind, caching in (
        ("/", "text/html; charset=utf-8", "no-cache"),
        ("/index.html", "text/html; charset=utf-8", "no-cache"),
        ("/index.js", "text/javascript; charset=utf-8", "no-cache"),
        ("/assets/app-1a2b.js", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"),
        ("/assets/app.css", "text/css; charset=utf-8", "public, max-age=31536000, immutable"),
    ):
        response = client.get(path)
        assert response.status_code == 200
        assert response.content_type == kind
        assert response.headers["Cache-Control"] == caching
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert response.headers["Content-Security-Policy"]
        assert response.headers["ETag"]
    policy = client.get("/").headers["Content-Security-Policy"]
    assert "default-src 'self';" in policy
    assert "unsafe-eval" not in policy
    assert "http" not in policy


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../manifest.json",
        "/assets/..%2f..%2fsecret.py",
        "/assets/%2e%2e/%2e%2e/secret.py",
        "/assets/..\\..\\secret.py",
        "/assets//etc/passwd",
        "/assets/%2fetc/passwd",
        "/assets/C:%5Csecret.py",
        "/assets/app.css%00",
        "/assets/",
        "/assets/.",
        "/manifest.json",
        "/secret.py",
    ],
)
def test_no_path_leaves_the_folder(client: Client, static: Path, path: str) -> None:
    error(client.get(path), 404)


def test_without_a_built_ui_a_page_says_what_to_do(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch_tb_profiler.web.static_files.files", lambda name: tmp_path)
    for path in ("/", "/index.js"):
        response = client.get(path)
        assert response.status_code == 200
        assert "make build" in response.text
        assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert "export function render()" in client.get("/index.js").text
