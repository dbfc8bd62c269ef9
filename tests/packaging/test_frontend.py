"""The decisions of _build/frontend.py: which Node will do, and when the UI must be built."""

from __future__ import annotations

from pathlib import Path

import pytest

import frontend


@pytest.mark.parametrize("version", ["v20.19.0", "v20.20.2", "v22.12.0", "v24.1.0\n", "v100.0.0"])
def test_node_suits(version: str) -> None:
    assert frontend.node_suits(version)


@pytest.mark.parametrize("version", ["v18.20.4", "v20.18.9", "v21.7.0", "v22.11.0", "", "nonsense"])
def test_node_does_not_suit(version: str) -> None:
    assert not frontend.node_suits(version)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small fe/ and a built UI that belongs to it."""
    fe, static = tmp_path / "fe", tmp_path / "static"
    (fe / "src").mkdir(parents=True)
    (fe / "package.json").write_text("{}")
    (fe / "src" / "index.ts").write_text("export {}")
    static.mkdir()
    (static / "index.js").write_text("built")
    words = tmp_path / "words"
    words.mkdir()
    for name, value in {
        "ROOT": tmp_path,
        "FE": fe,
        "WORDS": words,
        "STATIC": static,
        "STAMP": static / ".fe-hash",
    }.items():
        monkeypatch.setattr(frontend, name, value)
    frontend.STAMP.write_text(frontend.fingerprint())
    monkeypatch.delenv(frontend.SKIP, raising=False)
    return tmp_path


def test_nothing_to_do_when_nothing_changed(tree: Path) -> None:
    assert not frontend.must_build()


@pytest.mark.parametrize("name", ["fe/src/new.ts", "fe/src/index.ts", "fe/package-lock.json", "words/rules.toml"])
def test_a_changed_source_is_seen(tree: Path, name: str) -> None:
    (tree / name).write_text("changed")
    assert frontend.must_build()


@pytest.mark.parametrize("name", ["fe/src/index.test.ts", "fe/README.md", "fe/node_modules/x.js"])
def test_what_is_not_built_does_not_count(tree: Path, name: str) -> None:
    (tree / name).parent.mkdir(exist_ok=True)
    (tree / name).write_text("changed")
    assert not frontend.must_build()


def test_a_missing_ui_is_built_unless_told_not_to(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "static" / "index.js").unlink()
    assert frontend.must_build()
    monkeypatch.setenv(frontend.SKIP, "1")
    assert not frontend.must_build()


def test_without_sources_the_ui_is_taken_as_it_is(tree: Path) -> None:
    (tree / "fe" / "package.json").unlink()
    assert not frontend.must_build()
