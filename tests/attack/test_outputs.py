"""See `outputs`."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("resource", reason="takes limits of processes")


def test_no_command_overwrites_what_it_reads(tmp_path: Path) -> None:
    from tests.attack.outputs import wrong_of

    assert wrong_of(tmp_path, 1, 40) == []
