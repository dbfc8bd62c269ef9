"""Which tests run one after the other, and in which order, so that no processor is idle and no trace is read twice."""

from __future__ import annotations

import gc
import re
from collections import defaultdict
from typing import Any

import pytest

from tests.recorded import ROOT

#: a test of one trace: its parameter is named by `recorded.short`
_OF_TRACE = re.compile(r"\[([^][]+/[^][]+/[^][]+\.json(?:\.gz)?)\]$")


def scope_of(nodeid: str) -> str:
    """Tests of one scope are one worker's: all of a trace, whatever their files, and all others of a file."""
    trace = _OF_TRACE.search(nodeid)
    return trace[1] if trace else nodeid.partition("::")[0]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files of browser tests, which compute, of unit tests, and of those that wait for servers and processes come by
    turns: workers that take one file after the other then leave no processor idle. Last come tests of single traces,
    which are short: all workers end at about the same time.
    """
    scopes: dict[str, dict[str, None]] = defaultdict(dict)
    for item in items:
        scopes[_kind_of(item)][scope_of(item.nodeid)] = None
    places = {
        scope: (kind == "trace", (number + 0.5) / len(of_kind))
        for kind, of_kind in scopes.items()
        for number, scope in enumerate(of_kind)
    }
    items.sort(key=lambda item: places[scope_of(item.nodeid)])


def _kind_of(item: pytest.Item) -> str:
    if _OF_TRACE.search(item.nodeid):
        return "trace"
    folder = item.path.relative_to(ROOT).parts[1]
    return folder if folder in ("browser", "unit") else "waits"


def pytest_collection_finish() -> None:
    """What was collected stays: it need not be looked at whenever what tests leave behind is taken away."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Distributes scopes where xdist distributes files."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scopes(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return scope_of(nodeid)

    return Scopes(config, log)
