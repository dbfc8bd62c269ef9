"""What the example takes out of a trace, and what it leaves."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ANONYMIZE = Path(__file__).parents[2] / "examples" / "anonymize.py"


@pytest.mark.parametrize(
    ("recorded", "kept"),
    [
        ('"/data/jobs/train.py(3): main"', '"train.py(3): main"'),
        ('"/usr/lib/python3.11/threading.py(9): run"', '"threading.py(9): run"'),
        ('"/a/b/site-packages/torch/nn/modules/module.py(17): f"', '"torch/nn/modules/module.py(17): f"'),
        # torch has cut it already: nothing of the machine is left in it
        ('"torch/nn/modules/module.py(17): f"', '"torch/nn/modules/module.py(17): f"'),
        ('"host_name": "secret"', '"host_name": "removed"'),
    ],
)
def test_paths_of_the_machine_go_and_names_stay(recorded: str, kept: str) -> None:
    assert runpy.run_path(str(ANONYMIZE))["anonymized"](recorded) == kept
