"""A short form of the attacks on servers as they are started: TensorBoard, and slow clients of the stand-alone one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attack import board_damage, slow_clients, tensorboard
from tests.attack.tensorboard import both
from tests.tiny import write_trace

pytestmark = pytest.mark.long


def test_tensorboard_answers_as_the_stand_alone_server_does(tmp_path: Path) -> None:
    pair = tensorboard.attack(tmp_path, 1, 150)
    assert pair.complaints == []


@pytest.mark.parametrize(
    "arguments", [("--path_prefix", "/a/b"), ("--bind_all",), ("--load_fast", "false")], ids=" ".join
)
def test_however_it_is_started(arguments: tuple[str, ...], tmp_path: Path) -> None:
    write_trace(tmp_path / "logs" / "run" / "w.pt.trace.json")
    with both(tmp_path / "logs", tmp_path, *arguments) as pair:
        pair.board.url = f"http://127.0.0.1:{pair.board.url.split(':')[2]}"
        for path in ("runs", "index.html", "api/overview?run=run&worker=w", "trace?run=run&worker=w", "nonsense"):
            pair.ask(path)
        pair.check_board()
    assert pair.complaints == []


@pytest.mark.long
def test_tensorboard_outlives_damage(tmp_path: Path) -> None:
    outcome = board_damage.attack(tmp_path, 1, 2)
    assert outcome.complaints == []
    assert outcome.done["killed"] == 2


def test_slow_clients(tmp_path: Path) -> None:
    outcome = slow_clients.attack(tmp_path, 8, 150)
    assert outcome.complaints == []
