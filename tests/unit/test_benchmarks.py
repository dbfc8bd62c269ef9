"""The pure parts of `make bench`, and that the probe of this package still fits it."""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import environments, hostile, measure, processes, report, requests
from benchmarks.bars import BARS
from benchmarks.bars.bar import Bar, Check, verdict
from tests.tracegen import Config, write_run
from torch_tb_profiler.web.app import ROUTES

STAT = "4242 (a (strange) name) S 17 4242 4242 0 -1 4194560 900 0 0 0 150 50 300 100 20 0 1 0 12345 1000 200"
ROLLUP = """55d0c0000000-7ffd00000000 ---p 00000000 00:00 0    [rollup]
Rss:               61920 kB
Pss:               30960 kB
Pss_Anon:          20000 kB
"""


def test_stat_is_read_behind_the_name() -> None:
    assert processes.parse_stat(STAT, ticks=100) == processes.Stat(parent=17, own=2.0, waited=4.0)


def test_lines_of_proc_in_kilobytes_are_bytes() -> None:
    assert processes.parse_kilobytes(ROLLUP, "Pss") == 30960 * 1024
    assert processes.parse_kilobytes(ROLLUP, "VmHWM") == 0


def test_descendants_of_a_process() -> None:
    assert sorted(processes.descendants({2: 1, 3: 2, 4: 3, 9: 1}, 2)) == [2, 3, 4]


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs /proc of Linux")
def test_a_command_is_measured_with_its_children_and_ended() -> None:
    code = (
        "import subprocess, sys; subprocess.run([sys.executable, '-c', 'sum(range(10**7))'], check=True);"
        "print('noise'); print('{\"done\": 1}', flush=True); sys.stdin.readline()"
    )
    with processes.running([sys.executable, "-c", code], dict(os.environ), 60) as process:
        assert next(process.said()) == {"done": 1}
        process.tree.sample()
        assert process.tree.cpu() > 0.05
        assert process.tree.peak_one > 1_000_000
    assert process.process.returncode is not None
    code = "import time; print('{}', flush=True); time.sleep(0.5); print('{}')"
    for sampled in (True, False):
        with processes.running([sys.executable, "-c", code], dict(os.environ), 60, sampled) as process:
            assert list(process.said()) == [{}, {}]
        assert (process.tree.peak > 0) == sampled
    with pytest.raises(processes.Failed, match="broken"):
        processes.probe([sys.executable, "-c", "raise SystemExit('broken')"], dict(os.environ), 60)


@pytest.mark.parametrize(
    ("value", "at_most", "expected"),
    [
        (4.0, True, "reached"),
        (5.0, True, "reached"),
        (7.9, True, "met"),
        (8.1, True, "MISSED"),
        (None, True, "not measured"),
        (8.0, False, "reached"),
        (4.0, False, "MISSED"),
    ],
)
def test_a_check_against_its_bounds(value: float | None, at_most: bool, expected: str) -> None:
    assert Check("", value, 8.0, 5.0 if at_most else 8.0, "× L", at_most).verdict == expected


def test_the_worst_check_is_the_verdict_of_a_bar() -> None:
    reached, met, missed, unknown = (Check("", v, 2, 1, "") for v in (1, 2, 3, None))
    assert verdict([reached, met]) == "met"
    assert verdict([reached, unknown]) == "not measured"
    assert verdict([missed, unknown, reached]) == "MISSED"


def test_all_bars_are_there_and_survive_an_empty_measurement() -> None:
    numbers = {"B": 13, "T": 8, "U": 1, "S": 4, "E": 4, "F": 1, "P": 1, "G": 1, "R": 6, "M": 3, "Q": 1, "C": 2, "D": 2}
    wanted = [f"{kind}{n}" for kind, last in numbers.items() for n in range(1, last + 1)]
    assert [bar.id for bar in BARS] == wanted
    for bar in BARS:
        assert verdict(list(bar.checks({}))) == "not measured"


def bar(name: str) -> Bar:
    return next(bar for bar in BARS if bar.id == name)


def test_the_peer_is_compared_without_the_fixed_costs() -> None:
    def hosts(ours: float, old: float) -> dict[str, Any]:
        return {"host": {"cpu": ours}, "host old": {"cpu": old}}

    measured = {"fixed": hosts(0.5, 1.0), "sizes": {"100k": hosts(1.0, 6.0), "1M": hosts(2.5, 17.0)}}
    checks = list(bar("B3").checks(measured))
    assert [check.value for check in checks[::2]] == [10.0, 8.0]
    assert [check.verdict for check in checks[::2]] == ["met", "MISSED"]
    assert [check.value for check in checks[1::2]] == [6.0, 6.8]


def test_the_slowest_old_route_counts_and_the_file_itself_does_not() -> None:
    routes = {"/api/x": [1.0, 1.0], "/trace": [1.0, 1.0], "/tree": [0.3, 0.02], "/kernel/table Kernel": [0.1, 0.03]}
    (check,) = bar("B13").checks({"sizes": {"1M": {"ours": {"routes": routes}}}})
    assert (check.label, check.value, check.verdict) == ("/kernel/table Kernel", 30.0, "met")


def test_one_hostile_input_that_loses_events_misses_the_bar() -> None:
    good = {"least": 5, "events": 5, "noted": True, "cpu": 1.2, "clean": 1.0}
    assert verdict(list(bar("B10").checks({"damaged": {"cases": {"a": good}}}))) == "reached"
    lost = {"damaged": {"cases": {"a": good, "b": good | {"events": 4}}}}
    assert verdict(list(bar("B10").checks(lost))) == "MISSED"


def test_the_least_of_several_measurements() -> None:
    first = {"cpu": 2.0, "version": "1", "routes": {"/a": [0.5, 0.1]}, "bad": {}}
    second = {"cpu": 1.0, "version": "1", "routes": {"/a": [0.4, 0.2]}, "bad": {}}
    assert measure.least([first, second]) == {"cpu": 1.0, "version": "1", "routes": {"/a": [0.4, 0.1]}, "bad": {}}
    assert measure.least([first, {"failed": ["x"]}]) == {"failed": ["x"]}
    more = {**first, "routes": {**first["routes"], "/diff": [9.0, 3.0]}}
    assert measure.least([more, second])["routes"] == {"/a": [0.4, 0.1], "/diff": [9.0, 3.0]}


def test_lines_of_a_probe_become_one_measurement() -> None:
    def answer(nth: int, worker: str, cpu: float, status: int = 200) -> dict[str, Any]:
        parameters = {"worker": worker, "group_by": "Kernel"}
        return {"round": nth, "route": "/k", "parameters": parameters, "status": status, "cpu": cpu}

    said = [{"imported": 0.1}, answer(0, "a", 1.0), answer(0, "b", 2.0), answer(1, "a", 0.5, 404), {"peak": 5}]
    assert measure.together(said) == {
        "imported": 0.1,
        "peak": 5,
        "routes": {"/k Kernel": [3.0, 0.5]},
        "bad": {"/k Kernel": 404},
    }


def test_every_route_is_asked() -> None:
    asked = requests.split(requests.requests_for(ROUTES, "run", ["rank0", "rank1"]))
    routes = [route for route, _ in asked["requests"] + asked["extra"]]
    assert set(routes) == set(ROUTES) - requests.NOT_VIEWS
    assert routes[0] == requests.FIRST_VIEWS[0]
    of_tile = dict(asked["extra"])["/api/timeline/tiles"]
    assert of_tile["level"] == requests.NEEDED["/api/timeline/tiles"]["level"] != requests.ALWAYS["level"]
    assert requests.requests_for(["/overview", "/distributed/overlap"], "run", ["w"])[1:] == []


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.0, "0"), (0.03456, "0.0346"), (7.25, "7.25"), (123.4, "123")],
)
def test_numbers(value: float | None, text: str) -> None:
    assert report.number(value) == text


def test_a_table() -> None:
    assert report.table(["a", "b"], [["x|y", "1"]]) == "| a | b |\n|---|---:|\n| x\\|y | 1 |"


def test_a_report_of_little_is_a_report() -> None:
    size = {
        "date": "2026-01-01",
        "files": 1,
        "events": 10_000,
        "text": 3_000_000,
        "gz": 300_000,
        "repetitions": {"L": 5},
        "L": {"cpu": 0.006},
        "ours": {"all_views": 0.12, "routes": {"/overview": [0.01, 0.0002]}, "bad": {"/tree": 500}},
        "host old": {"failed": ["KeyError"]},
    }
    text = report.render({"header": {"date": "2026-01-02"}, "sizes": {"10k": size}, "exact": {"date": "2025-12-31"}})
    assert "| … in L | 20 × |" in text
    assert "`/overview` | 10.0 | 0.2 |" in text
    assert "Not answered by ours: /tree (500)." in text
    assert "host old failed: KeyError" in text
    assert "B11 was measured on 2025-12-31" in text


def test_hostile_inputs_keep_their_word(tmp_path: Path) -> None:
    write_run(Config(steps=1, layers=1), tmp_path)
    text = gzip.decompress(next(tmp_path.iterdir()).read_bytes()).decode()
    found = {item.name: item for item in hostile.damaged(text)}
    assert len(found) == 16
    count = len(json.loads(text)["traceEvents"])
    for item in found.values():
        if not item.noted:
            trace = json.loads(item.content)
            assert len(trace if isinstance(trace, list) else trace["traceEvents"]) == count == item.least
        assert item.content != text.encode()
    assert 0 < found["cut in the middle"].least < count


@pytest.mark.slow
def test_the_probe_fits_the_package(tmp_path: Path) -> None:
    run, cache = tmp_path / "run", tmp_path / "cache"
    write_run(Config(steps=2, layers=1, ranks=2), run)
    (tmp_path / "plan.json").write_text(
        json.dumps({**requests.split(requests.requests_for(ROUTES, "run", ["rank0", "rank1"])), "rounds": 2})
    )
    command = [sys.executable, environments.PROBES / "ours.py"]
    for mode in ("first", "reopen"):
        found = measure.together(
            processes.probe([*command, mode, run, cache, tmp_path / "plan.json"], dict(os.environ))
        )
        assert 0 < found["opened"] < found["first_view"] < found["all_views"]
        assert "/overview" in found["routes"]
        assert "/overview" not in found["bad"]
    (trace, *_) = run.iterdir()
    (ingested,) = processes.probe([*command, "ingest", trace], dict(os.environ))
    (streamed,) = processes.probe([*command, "stream", trace, tmp_path / "x.columns"], dict(os.environ))
    assert ingested["events"] == streamed["events"] > 100
    assert streamed["columns"] == (tmp_path / "x.columns").stat().st_size
