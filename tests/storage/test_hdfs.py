"""HDFS: a real NameNode and DataNode, read with hdfs-native and with Arrow. `make test-hdfs` installs them."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import PLUGIN, Server, Starter, wait_for_all
from tests.storage.hdfs import PARTS, Hdfs, hdfs_cluster
from tests.storage.test_stores import noise
from tests.storage.test_workspaces import NAMED, trace
from tests.tiny import DEADLINE_SECONDS, wait_until

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


# what goes wrong on the way ----------------------------------------------------------------------------------

FIRST, SIZE = 300_000, 20_000_000

#: reads a file as the workers do, and in its first range waits for a line behind the first `FIRST` bytes
READER = f"""
import hashlib, sys
from torch_tb_profiler.storage import StorageError, files, storage_for
from torch_tb_profiler.storage import remote

class Waiting:
    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.stream.close()

    def seek(self, place):
        self.stream.seek(place)

    def read(self, size):
        if self.stream.tell() >= {FIRST} and not said:
            said.append(True)
            print("waits", flush=True)
            sys.stdin.readline()
        return self.stream.read(size)

said, plain = [], files._open
files._open = lambda driver, path: Waiting(plain(driver, path))
remote.FIRST_BYTES, remote.MOST_AHEAD = remote.RANGE_BYTES, 1
folder, _, name = sys.argv[1].rpartition("/")
(entry,) = [e for e in storage_for(folder).list(folder, print) if e.path == name]
try:
    with storage_for(entry.url).open(entry) as stream:
        print(hashlib.sha256(stream.read()).hexdigest())
except StorageError as error:
    print(error.kind, error)
"""


@contextmanager
def reading(hdfs: Hdfs, driver: str, path: str, folder: Path) -> Iterator[Callable[[], str]]:
    """A process that has begun to read a file; called, it reads on and says the digest or what went wrong."""
    surroundings = {**os.environ, **hdfs.environment(driver, folder / "site")}
    process = subprocess.Popen(
        [sys.executable, "-c", READER, hdfs.host + path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=surroundings,
    )

    def read_on() -> str:
        return process.communicate("go on\n", timeout=DEADLINE_SECONDS)[0].strip().rpartition("\n")[2]

    try:
        assert process.stdout
        assert "waits\n" in process.stdout  # behind what a JVM says
        yield read_on
    finally:
        process.kill()
        process.wait()


def can_be_read(hdfs: Hdfs, path: str) -> bool:
    try:
        return bool(hdfs.get(path))
    except Exception:  # noqa: BLE001 - whatever the driver says of a server that is not there
        return False


@pytest.mark.parametrize("driver", DRIVERS)
def test_an_interrupted_download_goes_on_where_it_broke_off(driver: str, hdfs: Hdfs, tmp_path: Path) -> None:
    content = noise(SIZE)
    hdfs.put("/broken/w.json", content)
    with reading(hdfs, driver, "/broken/w.json", tmp_path) as read_on:
        hdfs.data_node.stop()
        hdfs.data_node.start()
        wait_until(lambda: can_be_read(hdfs, "/broken/w.json"), "the DataNode serves again")
        assert read_on() == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_file_that_is_replaced_while_it_is_read_is_not_mixed(driver: str, hdfs: Hdfs, tmp_path: Path) -> None:
    hdfs.put("/replaced/w.json", noise(SIZE))
    with reading(hdfs, driver, "/replaced/w.json", tmp_path) as read_on:
        # of the same size: the time alone tells
        hdfs.put("/replaced/w.json", noise(SIZE)[::-1])
        said = read_on()
    assert said == "changed cannot be read: it was replaced while it was being read; it is read again soon"


def test_a_data_node_that_is_away_is_waited_for(hdfs: Hdfs, serving: Callable[..., Server], tmp_path: Path) -> None:
    root, later = f"/{tmp_path.name}", f"/{tmp_path.name}-later"
    hdfs.put(f"{root}/before/w.1.pt.trace.json", trace(3))
    server = serving(tmp_path.name, 1)
    wait_until(lambda: traces(server).get("before/w.1.pt.trace.json", {}).get("state") == "ready", "it is read")
    hdfs.put(f"{later}/{NAMED}", trace())
    hdfs.put(f"{later}/named/trace.json", trace())
    hdfs.data_node.stop()
    try:
        for run in ("run", "named"):  # which only the NameNode is asked for
            hdfs.client.mv(f"{later}/{run}", f"{root}/{run}")
        wait_until(lambda: traces(server).get(NAMED, {}).get("state") == "failed", "it cannot be read")
        assert "cannot be read: the store does not answer" in traces(server)[NAMED]["reason"]
        assert traces(server)["before/w.1.pt.trace.json"]["state"] == "ready"
        assert server.get(f"{PLUGIN}overview?run=before&worker=w&span=1").status == 200
    finally:
        hdfs.data_node.start()
    wait_until(lambda: traces(server)[NAMED]["events"] == 8, "it is tried again")
    wait_until(lambda: traces(server).get("named/trace.json", {}).get("events") == 8, "it is looked at again")


@pytest.mark.parametrize("serving", ["arrow"], indirect=True)  # hdfs-native tries for more than two minutes
def test_a_name_node_that_is_away_is_waited_for(hdfs: Hdfs, serving: Callable[..., Server]) -> None:
    hdfs.put(f"/silent/{NAMED}", trace())
    server = serving("silent", 1)
    wait_for_all(server, PLUGIN)
    hdfs.name_node.stop()
    try:
        wait_until(lambda: server.get(f"{PLUGIN}api/status").json()["error"], "the listing fails")
        error = server.get(f"{PLUGIN}api/status").json()["error"]
        assert f"{hdfs.host}/silent cannot be listed: the store does not answer" in error
        assert traces(server)[NAMED]["state"] == "ready"
    finally:
        hdfs.name_node.start()
    wait_until(lambda: not server.get(f"{PLUGIN}api/status").json()["error"], "it is listed again")


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
