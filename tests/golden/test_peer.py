"""Our answers on the old plugin's routes against the recorded ones, for overview, operators and kernels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from tests.golden.explained import EXPLAINED, Explained
from tests.golden.peer import GOLDENS, LOGDIRS, Golden, differences, goldens

pytestmark = pytest.mark.skipif(
    not GOLDENS.is_dir(), reason=f"the recorded answers of the old plugin are not at {GOLDENS}"
)


@lru_cache
def _found(recording: str) -> tuple[tuple[Golden, str, str, frozenset[Explained]], ...]:
    """Every difference of a recording, with the entries that explain it."""
    return tuple(_explain(recording))


def _explain(recording: str) -> Iterator[tuple[Golden, str, str, frozenset[Explained]]]:
    for golden in goldens(recording):
        for found in differences(golden):
            reasons = {e for e in EXPLAINED if e.covers(golden, found.path, found.left, found.right)}
            yield golden, found.path, str(found), frozenset(reasons)


@pytest.mark.parametrize("recording", LOGDIRS)
def test_every_difference_is_explained(recording: str) -> None:
    unexplained = [f"{golden}\n    {text}" for golden, _, text, reasons in _found(recording) if not reasons]
    assert not unexplained, f"{len(unexplained)} unexplained:\n" + "\n".join(unexplained[:20])


def test_the_samples_of_the_old_plugin_are_equal_but_for_pauses_between_steps() -> None:
    assert {reason.id for _, _, _, reasons in _found("samples") for reason in reasons} == {
        "utilization-within-steps",
        "findings-with-savings",
    }


def test_every_explanation_is_needed() -> None:
    needed = {reason for recording in LOGDIRS for _, _, _, reasons in _found(recording) for reason in reasons}
    assert [e for e in EXPLAINED if e not in needed] == []


def test_every_explanation_is_documented(repository: Path) -> None:
    text = (repository / "docs" / "differences.md").read_text()
    assert {e.id for e in EXPLAINED if f"`{e.id}`" not in text} == set()
