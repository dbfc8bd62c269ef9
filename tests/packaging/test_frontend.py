"""Which Node builds the UI, and when it must be built (_build/frontend.py); how a stack trace of the page is read."""

from __future__ import annotations

import subprocess
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


@pytest.mark.parametrize("name", ["fe/src/index.test.ts", "fe/src/x.gen.ts", "fe/README.md", "fe/node_modules/x.js"])
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


def test_a_stack_trace_of_the_page_names_its_sources() -> None:
    built = frontend.STATIC
    assert frontend.npm("run", "maps", capture=True).returncode == 0
    maps = frontend.ROOT / "build" / "maps"
    (script,) = (path for path in built.glob("assets/trace-*.js") if "timeline-canvas" in path.read_text("utf-8"))
    name = script.relative_to(built)
    assert (maps / name).read_bytes() == script.read_bytes()
    lines = script.read_text("utf-8").split("timeline-canvas")[0].split("\n")
    place = f"{name.as_posix()}:{len(lines)}:{len(lines[-1]) + 1}"
    trace = f"TypeError: no canvas\n    at Ab (http://localhost:6006/data/plugin/static/{place})\n    at http://elsewhere/x.js:1:2\n"
    command = [frontend.any_node().node, str(frontend.FE / "stack.mjs")]
    done = subprocess.run(command, input=trace, capture_output=True, text=True, check=True)
    first, frame, other = done.stdout.splitlines()
    assert first == "TypeError: no canvas"
    assert frame.startswith("    at Ab (fe/src/timeline/Timeline.tsx:")
    assert other == "    at http://elsewhere/x.js:1:2"
