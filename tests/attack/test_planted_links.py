"""A cache removes and writes nothing but its own files, whatever stands in their place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.attack.planted_links import harmed


@pytest.mark.skipif(os.name == "nt", reason="links take a privilege there")
@pytest.mark.parametrize("seed", range(8))
def test_files_of_somebody_else_stay_as_they_are(seed: int, tmp_path: Path) -> None:
    assert harmed(tmp_path, seed) == []
