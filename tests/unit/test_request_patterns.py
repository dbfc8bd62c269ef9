"""Every pattern that a request can bring: the same are taken, what could take all memory is refused with a reason."""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from werkzeug.test import Client

from tests.served import client_of, everything_read, get
from tests.tiny import write_trace
from torch_tb_profiler.model.patterns import PatternError, SlowPattern, check_pattern, searcher

WHERE = "run=run&worker=w"
REFUSED = {
    "(?R)?a": "not supported",
    "(a)(?1)": "not supported",
    "(?<x>a)(?&x)": "not supported",
    r"(a)\1": "not supported",
    "(?=a)": "not supported",
    "(?<!a)b": "not supported",
    "(?:a){e<=3}" * 300: "longer than 1000",
    "(" * 400 + "a" + ")" * 400: "more than 30 deep",
    "[" * 3000: "longer than 1000",
    "((a{999}){999}){999}": "written out",
    "a" * 1001: "longer than 1000",
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    place: Path = tmp_path_factory.mktemp("patterns")
    write_trace(place / "logs" / "run" / "w.pt.trace.json")
    with everything_read(place / "logs", place / "cache") as workspace:
        yield client_of(workspace)


@pytest.mark.parametrize("pattern", REFUSED)
def test_refused_everywhere_with_the_reason(client: Client, pattern: str) -> None:
    said = get(client, f"/api/overview?{WHERE}&step_pattern={quote(pattern)}", 400)["error"]
    assert REFUSED[pattern] in said
    assert len(said) < 400
    for route in (f"/api/timeline/search?{WHERE}&mode=regex&q=", f"/api/operators?{WHERE}&filter=name~"):
        assert get(client, route + quote(pattern), 400)["error"]


def test_nothing_of_the_engine_beyond_the_grammar() -> None:
    for pattern in (
        "(?R)?a",
        "(?:(?R))",
        "(?P<n>a)",
        "(?i)a",
        r"\p{L}",
        r"\K",
        r"(?|a|b)",
        "(*PRUNE)",
        r"\L<x>",
        "(?#x)",
    ):
        with pytest.raises(PatternError):
            check_pattern(pattern)


def test_a_pattern_with_many_nested_brackets_within_bounds() -> None:
    assert searcher("(" * 30 + "a" + ")" * 30, 1)("ba")
    assert searcher("|".join(["aten::mm"] * 100), 1)("aten::mm")


@pytest.mark.parametrize(
    "pattern", ["((a*)*)*$x", "(a|aa)+$", "(?:a|b|ab)*(?:a|ab|b)*z", "(a?){999}b", "(.*)*(.*)*(.*)*x"]
)
def test_memory_stays_flat(pattern: str) -> None:
    texts = ["a" * 300_000 + "!", "ab" * 100_000, "a" * 2000 + "!"]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = searcher(pattern, 0.3)
    try:
        for text in texts:
            found(text)
    except SlowPattern as error:
        assert "takes too long" in str(error)  # noqa: PT017
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


@pytest.mark.slow
def test_other_threads_run_while_one_matches() -> None:
    ended: list[float] = []

    def slow() -> None:
        with pytest.raises(SlowPattern):
            searcher("(a|aa)+$", 0.5)("a" * 5000 + "!")
        ended.append(time.monotonic())

    thread = threading.Thread(target=slow)
    thread.start()
    assert searcher("mm$", 1)("aten::mm")
    quick = time.monotonic()
    thread.join()
    assert quick < ended[0]
