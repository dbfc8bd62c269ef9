"""Stores through the real TensorBoard, as a user starts it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.conftest import PLUGIN, Server, Starter, wait_for_all
from tests.storage.stores import NOTHING, Store
from tests.storage.test_workspaces import NAMED, trace
from tests.tiny import DEADLINE_SECONDS, wait_until
from torch_tb_profiler import api

#: the package of each extra, and what happens on importing it when it is not there
PACKAGES = {"s3": "boto3", "blob": "azure.storage.blob", "gs": "google.cloud.storage", "hdfs": "fsspec"}
URLS = {
    "s3": "s3://bucket/logs",
    "blob": "https://account.blob.core.windows.net/container/logs",
    "gs": "gs://bucket/logs",
    "hdfs": "hdfs://127.0.0.1:9/logs",
}


def without(package: str, folder: Path) -> dict[str, str]:
    """The environment of a Python in which a package cannot be found."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {package!r}:\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Missing())\n"
    )
    return {"PYTHONPATH": str(folder)}


def status(server: Server) -> dict[str, object]:
    found: dict[str, object] = server.get(f"{PLUGIN}api/status").json()
    return found


def test_first_load_and_reopen(store: Store, start: Starter) -> None:
    store.put(f"logs/{NAMED}", trace())
    store.put("logs/other run ü/v.1.pt.trace.json", trace(3))
    store.put("logs2/w.1.pt.trace.json", trace())
    # TensorBoard's own reader of gs:// would ask Google
    arguments = ("--logdir", store.url("logs"), "--load_fast", "false", "--reload_interval", "30")
    for time in ("first", "again"):
        store.proxy.clear()
        server = start(*arguments, environment=store.environment)
        wait_for_all(server, PLUGIN)
        runs = {run["name"]: run["traces"] for run in status(server)["runs"]}  # type: ignore[attr-defined]
        assert {name: [t["events"] for t in traces] for name, traces in runs.items()} == {
            "run": [8],
            "other run ü": [12],
        }
        for run, worker in (("run", "w"), ("other%20run%20%C3%BC", "v")):
            assert server.get(f"{PLUGIN}overview?run={run}&worker={worker}&span=1").status == 200
        assert server.get("data/plugins_listing").json()["pytorch_profiler"]["enabled"]
        assert store.proxy.count("get") == (2 if time == "first" else 0)
        printed = server.printed()
        assert not [secret for secret in store.secrets if secret in printed]
        assert server.stop() == 0


def test_a_shared_access_signature_is_seen_nowhere(server_of: object, start: Starter, tmp_path: Path) -> None:
    from tests.storage import azure

    assert callable(server_of)
    with azure.signed_container(server_of("blob")) as (url, signature, store):
        store.put(f"logs/{NAMED}", trace())
        server = start("serve", f"{url}/logs?{signature}", "--port", "0", tensorboard=False, environment=NOTHING)
        wait_for_all(server)
        assert [run["state"] for run in server.get("api/status").json()["runs"]] == ["ready"]
        assert server.get("api/trace/download?run=run&worker=w&span=1").body == trace()
        seen = server.printed() + server.get("api/status").body.decode()
        assert server.stop() == 0
    secret = re.search(r"sig=([^&]+)", signature)
    assert secret
    assert secret[1] not in seen
    written = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert written
    assert not [path for path in written if secret[1].encode() in path.read_bytes() or secret[1] in str(path)]


def test_a_signature_is_in_no_report_and_in_no_name_of_the_api(server_of: object, tmp_path: Path) -> None:
    from tests.storage import azure

    assert callable(server_of)
    with azure.signed_container(server_of("blob")) as (url, signature, store):
        store.put(f"logs/{NAMED}", trace())
        secret = re.search(r"sig=([^&]+)", signature)
        assert secret
        opened = api.open(f"{url}/logs?{signature}", cache_dir=tmp_path / "cache")
        assert len(opened.figures())
        assert opened.path == f"{url}/logs"
        with pytest.raises(api.ProfileError, match="/empty contains no trace") as caught:
            api.open(f"{url}/empty?{signature}")
        page = tmp_path / "report.html"
        command = [sys.executable, "-m", "torch_tb_profiler", "report", "-o", str(page)]
        for folder, code in (("logs", 0), ("empty", 2)):
            ended = subprocess.run(
                [*command, f"{url}/{folder}?{signature}"],
                env={**os.environ, **NOTHING, "XDG_CACHE_HOME": str(tmp_path)},
                capture_output=True,
                text=True,
                check=False,
                timeout=DEADLINE_SECONDS,
            )
            assert ended.returncode == code, ended.stderr
            assert secret[1] not in ended.stdout + ended.stderr
        assert secret[1] not in page.read_text() + repr(opened) + str(caught.value)


def test_a_wrong_signature_says_what_to_do(server_of: object, start: Starter) -> None:
    from tests.storage import azure

    assert callable(server_of)
    with azure.signed_container(server_of("blob")) as (url, signature, _):
        wrong = re.sub(r"sig=[^&]{4}", "sig=AAAA", signature)
        server = start("serve", f"{url}?{wrong}", "--port", "0", tensorboard=False, environment=NOTHING)
        wait_until(lambda: server.get("api/status").json()["error"], "the listing fails")
        error = server.get("api/status").json()["error"]
        assert f"{url} cannot be listed: permission denied (AuthorizationFailure). " in error
        assert "a SAS with read and list" in error
        assert re.search(r"sig=([^&]+)", wrong)[1] not in error + server.printed()  # type: ignore[index]


SIGNED = {
    "s3": "s3://bucket/logs?X-Amz-Credential=AKIDOFTESTS&X-Amz-Signature=secret-of-tests",
    "gs": "gs://bucket/logs?GoogleAccessId=me&Signature=secret-of-tests",
    "presigned": "https://bucket.s3.amazonaws.com/logs?X-Amz-Signature=secret-of-tests",
    "sas": "https://account.blob.core.windows.net/container/logs?sp=rl&sig=secret-of-tests",
    "fsspec": "nosuch://host/logs?sig=secret-of-tests",
    "user": "s3://AKIDOFTESTS:secret-of-tests@bucket/logs",
}


@pytest.mark.parametrize("address", SIGNED)
def test_what_is_secret_in_an_address_is_in_nothing_of_ours(address: str, start: Starter, tmp_path: Path) -> None:
    """Beside a directory that can be read: with nothing else there would be no page. Nothing is sent anywhere."""
    (tmp_path / "logs" / "run").mkdir(parents=True)
    (tmp_path / "logs" / "run" / "w.1.pt.trace.json").write_bytes(trace())
    nowhere = "http://127.0.0.1:9"
    server = start(
        *("--logdir_spec", f"here:{tmp_path / 'logs'},{SIGNED[address]}", "--load_fast", "false"),
        environment={**NOTHING, "S3_ENDPOINT": nowhere, "STORAGE_EMULATOR_HOST": nowhere, "HTTPS_PROXY": nowhere},
    )
    wait_for_all(server, PLUGIN)
    wait_until(lambda: status(server)["skipped"], "it cannot be listed")
    ours = [line for line in server.printed().splitlines() if "torch_profiler" in line]
    (problem,) = status(server)["skipped"]  # type: ignore[misc]
    assert any(problem["reason"] in line for line in ours), server.printed()
    names = [str(path) for path in (tmp_path / "cache").rglob("*")]
    kept = [path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert kept
    for secret in ("secret-of-tests", "AKIDOFTESTS"):
        assert secret not in str(status(server))
        assert not [text for text in (*ours, *names) if secret in text]
        assert not [content for content in kept if secret.encode() in content]


@pytest.mark.parametrize("extra", sorted(PACKAGES))
def test_a_missing_package_is_a_message_with_the_extra(extra: str, start: Starter, tmp_path: Path) -> None:
    environment = {**NOTHING, **without(PACKAGES[extra], tmp_path / "site")}
    server = start("--logdir", URLS[extra], "--load_fast", "false", "--reload_interval", "0", environment=environment)
    wait_until(lambda: not status(server)["scanning"], "the listing has failed")
    assert f"pip install 'torch-tb-profiler[{extra}]'" in str(status(server)["error"])
    assert f"torch-tb-profiler[{extra}]" in server.printed()
    # shown, so that the message can be read
    assert server.get("data/plugins_listing").json()["pytorch_profiler"]["enabled"]


@pytest.mark.parametrize("extra", sorted(PACKAGES))
def test_serve_ends_with_the_extra_of_a_missing_package(extra: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "torch_tb_profiler", "serve", f"{URLS[extra]}?sig=secret-of-tests", "--port", "0"]
    environment = {**os.environ, **NOTHING, **without(PACKAGES[extra], tmp_path / "site")}
    ended = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=DEADLINE_SECONDS
    )
    assert ended.returncode == 2
    (line,) = ended.stderr.strip().splitlines()
    assert "cannot be listed: a package is missing" in line
    assert line.endswith(f"pip install 'torch-tb-profiler[{extra}]'")
    assert extra != "blob" or "secret-of-tests" not in line


def test_a_missing_package_costs_its_own_log_directory_only(start: Starter, tmp_path: Path) -> None:
    (tmp_path / "logs" / "run").mkdir(parents=True)
    (tmp_path / "logs" / "run" / "w.1.pt.trace.json").write_bytes(trace())
    server = start(
        *("--logdir_spec", f"here:{tmp_path / 'logs'},there:s3://bucket/logs", "--load_fast", "false"),
        environment={**NOTHING, **without("boto3", tmp_path / "site")},
    )
    wait_for_all(server, PLUGIN)
    found = status(server)
    assert [run["state"] for run in found["runs"]] == ["ready"]  # type: ignore[attr-defined]
    (problem,) = found["skipped"]  # type: ignore[misc]
    assert (problem["file"], problem["unlisted"]) == ("there", True)
    assert "pip install 'torch-tb-profiler[s3]'" in problem["reason"]
    wait_until(lambda: "there: s3://bucket/logs cannot be listed: a package is missing" in server.printed(), "a line")


def test_packages_of_stores_are_not_imported_before_their_schemes_are_used() -> None:
    packages = ("boto3", "botocore", "azure", "google.cloud", "google.auth", "fsspec", "pyarrow")
    code = (
        "import sys, torch_tb_profiler.plugin, torch_tb_profiler.workspace.reading.worker;"
        f"print([name for name in {packages} if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
