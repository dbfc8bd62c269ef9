"""The plugin in a real TensorBoard."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.integration.conftest import PLUGIN, Server, Starter, wait_for_all
from tests.tiny import wait_until, write_trace

TRACE = "run=run&worker=w&span=1"
ROUTES = {
    "runs": 200,
    "views?run=run": 200,
    "workers?run=run&view=Overview": 200,
    "spans?run=run&worker=w": 200,
    f"overview?{TRACE}": 200,
    f"operation?{TRACE}": 200,
    f"operation/table?{TRACE}&group_by=OperationAndInputShape": 200,
    f"operation/stack?{TRACE}&op_name=aten::mm": 404,
    f"kernel?{TRACE}": 200,
    f"kernel/table?{TRACE}&group_by=Kernel": 200,
    f"kernel/tc_pie?{TRACE}": 200,
    "api/status": 200,
    f"api/overview?{TRACE}": 200,
    f"api/operators?{TRACE}": 200,
    f"api/operators/stacks?{TRACE}&name=aten::mm": 200,
    f"api/operators/kernels?{TRACE}&name=aten::mm": 200,
    f"api/kernels?{TRACE}": 200,
    f"api/health?{TRACE}": 200,
    "overview": 400,
    "overview?run=no&worker=w": 404,
    "overview?run=run&worker=bad": 422,
    "nonsense": 404,
    "assets/nonsense.js": 404,
}


def children(process_id: int) -> set[int]:
    """All descendants of a process."""
    of_parent: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            of_parent.setdefault(parent, []).append(int(entry.name))
    found: set[int] = set()
    pending = [process_id]
    while pending:
        new = of_parent.get(pending.pop(), [])
        found.update(new)
        pending += new
    return found


def listing(server: Server) -> dict[str, object]:
    reply = server.get("data/plugins_listing")
    found: dict[str, object] = json.loads(reply.body)["pytorch_profiler"]
    return found


@pytest.mark.parametrize(("prefix", "with_data_server"), [("", "false"), ("/some/where", "true")])
def test_all_routes(start: Starter, logs: Path, prefix: str, with_data_server: str) -> None:
    flags = ["--path_prefix", prefix] if prefix else []
    server = start("--logdir", f"{logs}/", "--load_fast", with_data_server, *flags)
    assert server.url.endswith(f"{prefix}/")
    # From the first moment on: the page asks only once.
    assert listing(server)["enabled"] is True
    wait_for_all(server, PLUGIN)
    assert listing(server) == {
        "disable_reload": False,
        "enabled": True,
        "loading_mechanism": {
            "type": "IFRAME",
            "module_path": f"{prefix}/data/plugin/pytorch_profiler/index.js",
        },
        "remove_dom": False,
        "tab_name": "pytorch_profiler",
    }
    assert server.get(PLUGIN + "runs").json() == {"runs": ["run"], "loading": False}
    for path, status in ROUTES.items():
        reply = server.get(PLUGIN + path)
        assert reply.status == status, (path, reply.body)
        assert reply.headers["Content-Type"] == "application/json"
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert ("error" in (reply.json() or ())) is (status != 200) or path == "api/status"
    for path in ("index.js", "index.html"):
        reply = server.get(PLUGIN + path)
        assert reply.status == 200
        etag = reply.headers["ETag"]
        assert server.get(PLUGIN + path, headers={"If-None-Match": etag}).status == 304
    assert server.get(PLUGIN + "runs", method="HEAD").body == b""
    assert server.get(PLUGIN + "runs", method="POST").status == 405
    assert server.get(PLUGIN + "assets/..%2f..%2fplugin.py").status == 404
    assert server.stop() == 0
    printed = server.printed()
    for trouble in ("security_validator", "Traceback", "Content-Security"):
        assert trouble not in printed, printed
    assert printed.count("run/w.1.pt.trace.json: 8 events") == 1
    assert printed.count("run/bad.pt.trace.json is not a PyTorch trace: it has no traceEvents") == 1


def test_logdir_spec(start: Starter, logs: Path, tmp_path: Path) -> None:
    write_trace(tmp_path / "more" / "w.pt.trace.json")
    server = start("--logdir_spec", f"a:{logs},{tmp_path / 'more'}")
    wait_for_all(server, PLUGIN)
    assert server.get(PLUGIN + "runs").json()["runs"] == ["a/run", "more"]


def test_flags_and_the_home_directory(start: Starter, logs: Path, tmp_path: Path) -> None:
    cache = tmp_path / "elsewhere"
    flags = ("--torch_profiler_cache_dir", str(cache), "--torch_profiler_workers", "1")
    server = start("--logdir", "~/logs", *flags, environment={"HOME": str(logs.parent)})
    wait_for_all(server, PLUGIN)
    assert server.get(PLUGIN + "api/status").json()["logdir"] == str(logs)
    assert len(list(cache.glob("*.columns"))) == 3


def test_an_empty_log_directory_is_inactive_after_the_first_listing(start: Starter, tmp_path: Path) -> None:
    server = start("--logdir", str(tmp_path / "nowhere"))
    wait_for_all(server, PLUGIN)
    assert listing(server)["enabled"] is False
    assert "cannot be listed" in server.get(PLUGIN + "api/status").json()["error"]
    assert "Traceback" not in server.printed()


def test_the_reload_interval_is_tensorboards(start: Starter, logs: Path) -> None:
    server = start("--logdir", str(logs), "--reload_interval", "0.2")
    wait_for_all(server, PLUGIN)
    write_trace(logs / "late" / "w.pt.trace.json")
    wait_until(lambda: server.get(PLUGIN + "runs").json()["runs"] == ["late", "run"], "the new run is shown")


def test_nonsense_in_the_old_variables_stops_nothing(start: Starter, logs: Path) -> None:
    names = ("TORCH_PROFILER_START_METHOD", "TORCH_PROFILER_LOG_LEVEL")
    server = start("--logdir", str(logs), environment=dict.fromkeys(names, "nonsense"))
    wait_for_all(server, PLUGIN)
    for name in names:
        assert name in server.printed()


def test_a_plugin_that_cannot_be_imported_leaves_tensorboard_alone(start: Starter, logs: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "msgspec.py").write_text("raise ImportError('this library is broken')")
    server = start("--logdir", str(logs), environment={"PYTHONPATH": str(broken)})
    assert "pytorch_profiler" not in server.get("data/plugins_listing").json()
    assert "this library is broken" in server.printed()
    assert "the PyTorch profiler plugin cannot be used" in server.printed()


@pytest.mark.parametrize("with_signal", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_nothing_stays_behind(start: Starter, logs: Path, with_signal: int) -> None:
    for number in range(3):
        write_trace(logs / "many" / f"w{number}.pt.trace.json", steps=5000)
    server = start("--logdir", str(logs), "--load_fast", "false")
    wait_until(lambda: children(server.process.pid), "a worker starts")
    before = children(server.process.pid)
    server.stop(with_signal)
    wait_until(lambda: not any(Path(f"/proc/{i}").exists() for i in before), "the workers end")
