"""HDFS: a real NameNode and DataNode, read with hdfs-native and with Arrow. `make test-hdfs` installs them."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import PLUGIN, Server, Starter, wait_for_all
from tests.storage.hdfs import PARTS, Hdfs, hdfs_cluster
from tests.storage.test_workspaces import NAMED, trace
from tests.tiny import wait_until

pytestmark = [
    pytest.mark.hdfs,
    pytest.mark.skipif(not PARTS.is_dir(), reason="HDFS is not installed: make test-hdfs"),
]

DRIVERS = ("native", "arrow")


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    with hdfs_cluster(tmp_path_factory.mktemp("hdfs")) as cluster:
        yield cluster


@pytest.fixture(params=DRIVERS)
def serving(request: pytest.FixtureRequest, hdfs: Hdfs, start: Starter, tmp_path: Path) -> Callable[..., Server]:
    """Starts TensorBoard on a folder."""

    def serving_folder(folder: str, interval: int = 30, **environment: str) -> Server:
        surroundings = {**hdfs.environment(request.param, tmp_path / "site"), **environment}
        return start("--logdir", f"{hdfs.host}/{folder}", "--reload_interval", str(interval), environment=surroundings)

    return serving_folder


def traces(server: Server) -> dict[str, Any]:
    runs = server.get(f"{PLUGIN}api/status").json()["runs"]
    return {f"{run['name']}/{trace['file']}": trace for run in runs for trace in run["traces"]}


def test_first_load_and_reopen(hdfs: Hdfs, serving: Callable[..., Server]) -> None:
    hdfs.put("/demo/a b ü/w.1.pt.trace.json", trace(3))
    hdfs.put("/demo/run/trace.json", trace())
    hdfs.put("/demo2/run/w.1.pt.trace.json", trace())
    for time in ("first", "again"):
        before = hdfs.asked("open")
        server = serving("demo")
        wait_for_all(server, PLUGIN)
        assert {path: t["events"] for path, t in traces(server).items()} == {
            "a b ü/w.1.pt.trace.json": 12,
            "run/trace.json": 8,
        }
        assert server.get(f"{PLUGIN}overview?run=run&worker=trace&span=default").status == 200
        assert (hdfs.asked("open") > before) is (time == "first")
        if time == "first":
            assert server.get(f"{PLUGIN}api/trace/download?run=run&worker=trace&span=default").body == trace()
        # also with a JVM in it: TensorBoard cleans up behind itself
        assert server.stop(signal.SIGTERM) == 0
        assert "Traceback" not in server.printed().partition("Reloader")[0]


def test_what_changes_and_grows_is_read_again(hdfs: Hdfs, serving: Callable[..., Server]) -> None:
    whole = trace(3)
    hdfs.put(f"/grows/{NAMED}", whole[:20])
    server = serving("grows", 1)
    wait_until(lambda: traces(server).get(NAMED, {}).get("state") == "failed", "it is incomplete")
    hdfs.append(f"/grows/{NAMED}", whole[20:])
    wait_until(lambda: traces(server)[NAMED]["events"] == 12, "it has grown")
    hdfs.put(f"/grows/{NAMED}", trace(5))
    hdfs.put("/grows/new/w.1.pt.trace.json", trace())
    wait_until(lambda: traces(server)[NAMED]["events"] == 20, "it was replaced")
    wait_until(lambda: "new/w.1.pt.trace.json" in traces(server), "a new run appears")


def test_what_one_may_not_read_is_said(hdfs: Hdfs, serving: Callable[..., Server]) -> None:
    hdfs.put("/rights/run/w.1.pt.trace.json", trace())
    hdfs.put("/rights/secret/w.1.pt.trace.json", trace())
    hdfs.put("/rights/closed/w.1.pt.trace.json", trace())
    hdfs.client.client.set_permission("/rights/secret/w.1.pt.trace.json", 0o600)
    hdfs.client.client.set_permission("/rights/closed", 0o700)
    server = serving("rights", HADOOP_USER_NAME="somebody")
    wait_for_all(server, PLUGIN)
    found = traces(server)
    assert found["run/w.1.pt.trace.json"]["state"] == "ready"
    assert "permission denied" in found["secret/w.1.pt.trace.json"]["reason"]
    (problem,) = server.get(f"{PLUGIN}api/status").json()["skipped"]
    assert problem["file"] == "closed"
    assert "permission denied" in problem["reason"]
    assert "HADOOP_USER_NAME" in problem["reason"]


def test_what_is_not_there(hdfs: Hdfs, serving: Callable[..., Server]) -> None:
    server = serving("nowhere")
    wait_until(lambda: server.get(f"{PLUGIN}api/status").json()["error"], "the listing fails")
    error = server.get(f"{PLUGIN}api/status").json()["error"]
    assert f"{hdfs.host}/nowhere cannot be listed: it is not there" in error


@pytest.fixture(scope="module")
def many(hdfs: Hdfs) -> None:
    with ThreadPoolExecutor(8) as writers:
        list(writers.map(lambda n: hdfs.put(f"/many/run{n % 50}/{n}.txt", b""), range(10_000)))
    hdfs.put("/many/run0/w.1.pt.trace.json", trace())


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("driver", DRIVERS)
def test_ten_thousand_files(driver: str, hdfs: Hdfs, start: Starter, tmp_path: Path) -> None:
    """On its own: TensorBoard walks the folders, too, and with some drivers asks about every file."""
    before = {command: hdfs.asked(command) for command in ("listStatus", "getfileinfo")}
    surroundings = hdfs.environment(driver, tmp_path / "site")
    server = start(
        *("serve", f"{hdfs.host}/many", "--port", "0"),
        tensorboard=False,
        environment=surroundings,
    )
    wait_for_all(server)
    # a request per directory, and none per file
    assert hdfs.asked("listStatus") - before["listStatus"] < 500
    assert hdfs.asked("getfileinfo") - before["getfileinfo"] < 500
    (run,) = server.get("api/status").json()["runs"]
    assert len(run["traces"]) == 1
