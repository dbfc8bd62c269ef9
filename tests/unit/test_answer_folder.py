"""The folder that keeps answers."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from torch_tb_profiler.workspace import RefusedAnswer
from torch_tb_profiler.workspace.cache.answer_store import MOST_ANSWERS, PACKED_FROM, AnswerFolder, pack
from torch_tb_profiler.workspace.cache.sweep import CacheFiles


@pytest.mark.parametrize("body", [b"", b"short", b"long " * PACKED_FROM])
def test_gives_back_what_was_put(tmp_path: Path, body: bytes) -> None:
    folder = AnswerFolder(tmp_path / "a")
    assert folder.get("x") is None
    packed = pack(body)
    folder.put("x", packed)
    assert folder.get("x") == packed
    assert packed.plain() == body
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["x"]


def test_gives_back_a_refusal(tmp_path: Path) -> None:
    refusal = RefusedAnswer(404, "there is no such thing " * PACKED_FROM, {"kind": "unknown"})
    AnswerFolder(tmp_path / "a").put("x", refusal)
    assert AnswerFolder(tmp_path / "a").get("x") == refusal


def test_pieces_are_packed_as_one() -> None:
    pieces: Iterator[bytes] = iter([b"one ", b"", b"two"])
    assert gzip.decompress(pack(pieces).body) == b"one two"


@pytest.mark.parametrize("damage", [lambda c: c[:-1], lambda c: b"", lambda c: b"x" + c[1:], lambda c: c[:-1] + b"?"])
def test_what_is_damaged_is_not_found(tmp_path: Path, damage: object) -> None:
    folder = AnswerFolder(tmp_path)
    folder.put("x", pack(b"answer"))
    path = tmp_path / "x"
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    assert folder.get("x") is None


def test_equal_answers_are_one_file(tmp_path: Path) -> None:
    folder = AnswerFolder(tmp_path)
    same, other = pack(b"answer"), pack(b"another")
    for name in ("a", "b", "a"):
        folder.put(name, same)
    folder.put("c", other)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "c"]
    assert [folder.get(name) for name in "abc"] == [same, same, other]
    assert (tmp_path / "a").samefile(tmp_path / "b")
    size = CacheFiles(tmp_path.parent).size_of_answers(tmp_path)
    assert size == sum((tmp_path / name).stat().st_size for name in "bc")


def test_a_damaged_answer_is_no_other_name_for_an_equal_one(tmp_path: Path) -> None:
    folder = AnswerFolder(tmp_path)
    folder.put("a", pack(b"answer"))
    (tmp_path / "a").write_bytes(b"damaged")
    folder.put("b", pack(b"answer"))
    assert folder.get("b") == pack(b"answer")


def test_a_folder_has_a_limit(tmp_path: Path) -> None:
    folder = AnswerFolder(tmp_path)
    for number in range(MOST_ANSWERS + 3):
        folder.put(str(number), pack(b""))
    assert len(list(tmp_path.iterdir())) == MOST_ANSWERS


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = AnswerFolder(tmp_path / "file" / "a")
    folder.put("x", pack(b"answer"))
    assert folder.get("x") is None
