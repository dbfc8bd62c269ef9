"""Variables of the environment: what is read, and what is made of it against servers that mind."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import trustme

from tests.storage.azure import signature_for
from tests.storage.proxy import Fault
from tests.storage.stores import (
    AWS_KEY,
    AWS_SECRET,
    AZURE_ACCOUNT,
    AZURE_KEY,
    Store,
    azure_store,
    connection_string,
    google_server,
    google_store,
    multiply_in_google,
    rclone_server,
    s3_store,
)
from torch_tb_profiler.storage import StorageError, environment, storage_for
from torch_tb_profiler.storage.s3 import S3Settings

MANY = 10_000
#: objects that Azure lists at once
AZURE_PAGE = 5_000


def listed(url: str) -> list[str]:
    storage = storage_for(url)
    return sorted(entry.path for entry in storage.list(storage.resolve(url), lambda problem: pytest.fail(str(problem))))


def refusal(url: str) -> StorageError:
    with pytest.raises(StorageError) as caught:
        listed(url)
    return caught.value


@pytest.mark.parametrize(
    ("variables", "endpoint", "verify", "region"),
    [
        ({}, None, None, None),
        ({"S3_ENDPOINT": "minio:9000"}, "https://minio:9000", None, None),
        ({"S3_ENDPOINT": "minio:9000", "S3_USE_HTTPS": "0"}, "http://minio:9000", None, None),
        ({"S3_ENDPOINT": "http://minio:9000", "S3_USE_HTTPS": "1"}, "http://minio:9000", None, None),
        ({"S3_VERIFY_SSL": "0"}, None, False, None),
        ({"S3_VERIFY_SSL": "false"}, None, False, None),
        ({"S3_VERIFY_SSL": "1"}, None, None, None),
        ({"S3_VERIFY_SSL": "/etc/ca.pem", "AWS_REGION": "eu-central-1"}, None, "/etc/ca.pem", "eu-central-1"),
    ],
)
def test_variables_of_s3(
    variables: dict[str, str], endpoint: str | None, verify: bool | str | None, region: str | None
) -> None:
    assert S3Settings.of(variables) == S3Settings(region, endpoint, verify)


# S3: a server that checks signatures and speaks TLS ---------------------------------------------------------


@pytest.fixture(scope="module")
def buckets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("buckets")
    (folder / "bucket" / "run").mkdir(parents=True)
    (folder / "bucket" / "run" / "w.json").write_text("{}")
    return folder


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """Certificate, key, and the certificate of who signed it."""
    folder = tmp_path_factory.mktemp("tls")
    ca = trustme.CA()
    server = ca.issue_cert("127.0.0.1")
    paths = (folder / "cert.pem", folder / "key.pem", folder / "ca.pem")
    server.cert_chain_pems[0].write_to_path(str(paths[0]))
    server.private_key_pem.write_to_path(str(paths[1]))
    ca.cert_pem.write_to_path(str(paths[2]))
    return paths


@pytest.fixture(scope="module")
def secure(
    buckets: Path, authority: tuple[Path, Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    log = tmp_path_factory.mktemp("log") / "rclone.log"
    with rclone_server(buckets, log, authority[:2]) as url:
        yield url.removeprefix("https://")


@pytest.fixture
def keys(no_credentials: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", AWS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", AWS_SECRET)


@pytest.mark.usefixtures("keys")
def test_an_endpoint_without_a_scheme_is_https(
    secure: str, authority: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("S3_ENDPOINT", secure)
    error = refusal("s3://bucket")
    assert error.kind == "endpoint"
    assert "S3_VERIFY_SSL" in str(error)
    monkeypatch.setenv("S3_VERIFY_SSL", str(authority[2]))
    assert listed("s3://bucket") == ["run/w.json"]
    monkeypatch.setenv("S3_VERIFY_SSL", "0")
    assert listed("s3://bucket") == ["run/w.json"]
    (entry,) = storage_for("s3://bucket").list("s3://bucket", pytest.fail)
    assert storage_for(entry.url).stat(entry.url).version == entry.version
    monkeypatch.setenv("S3_USE_HTTPS", "0")
    assert refusal("s3://bucket").kind in ("unreachable", "failed")


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    ("key", "secret", "code"),
    [
        ("WRONGWRONGWRONG", AWS_SECRET, "InvalidAccessKeyId"),
        (AWS_KEY, "wrong-secret-of-tests", "SignatureDoesNotMatch"),
    ],
)
def test_keys_that_are_not_accepted(
    secure: str, monkeypatch: pytest.MonkeyPatch, key: str, secret: str, code: str
) -> None:
    monkeypatch.setenv("S3_ENDPOINT", secure)
    monkeypatch.setenv("S3_VERIFY_SSL", "0")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)
    error = refusal("s3://bucket")
    assert error.kind == "credentials"
    assert f"the credentials are not accepted ({code}). Set AWS_ACCESS_KEY_ID" in str(error)
    assert key not in str(error)
    assert secret not in str(error)


@pytest.mark.usefixtures("no_credentials")
def test_without_keys_a_public_bucket_is_read_and_a_closed_one_says_why(
    server_of: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(server_of)
    with s3_store(server_of("s3")) as store:
        store.put("w.json", b"{}")
        monkeypatch.setenv("S3_ENDPOINT", store.proxy.url)
        assert listed(store.url()) == ["w.json"]
        store.proxy.fail(Fault("list", status=403, body=store.denied))
        assert "No credentials were found. Set AWS_ACCESS_KEY_ID" in str(refusal(store.url()))
        assert not any("Authorization" in request.headers for request in store.proxy.requests)


@pytest.mark.usefixtures("no_credentials")
def test_a_profile_of_aws(server_of: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert callable(server_of)
    (tmp_path / "credentials").write_text(f"[team]\naws_access_key_id={AWS_KEY}\naws_secret_access_key={AWS_SECRET}\n")
    (tmp_path / "config").write_text("[profile team]\nregion=eu-west-3\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_PROFILE", "team")
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    with s3_store(server_of("s3")) as store:
        store.put("w.json", b"{}")
        monkeypatch.setenv("S3_ENDPOINT", store.proxy.url)
        assert listed(store.url()) == ["w.json"]
        (request,) = store.proxy.requests
        assert f"{AWS_KEY}/" in request.headers["Authorization"]
        assert "/eu-west-3/s3/" in request.headers["Authorization"]
        monkeypatch.setenv("AWS_REGION", "us-west-2")
        assert listed(store.url()) == ["w.json"]
        assert "/us-west-2/s3/" in store.proxy.requests[-1].headers["Authorization"]


def test_ten_thousand_objects_of_s3(keys: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "many" / "run").mkdir(parents=True)
    for number in range(MANY):
        (tmp_path / "many" / "run" / f"{number}.txt").touch()
    with rclone_server(tmp_path, tmp_path.parent / "rclone-many.log") as url:
        monkeypatch.setenv("S3_ENDPOINT", url)
        assert len(listed("s3://many")) == MANY


# Azure -----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("no_credentials")
def test_a_connection_string_of_another_account_is_not_used(server_of: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert callable(server_of)
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", connection_string("http://127.0.0.1:9", "another"))
    error = refusal(f"{server_of('blob')}/{AZURE_ACCOUNT}/secrets")
    assert "AZURE_STORAGE_CONNECTION_STRING is for another account and was not used" in str(error)
    assert AZURE_KEY not in str(error)


@pytest.mark.usefixtures("no_credentials")
def test_a_public_container_needs_nothing(server_of: object) -> None:
    assert callable(server_of)
    with azure_store(server_of("blob")) as store:
        store.put("run/w.json", b"{}")
        url = f"{server_of('blob')}/{AZURE_ACCOUNT}/{store.bucket}"
        assert refusal(url).kind in ("missing", "permission", "credentials")
        store.client.get_container_client(store.bucket).set_container_access_policy({}, public_access="container")
        assert listed(url) == ["run/w.json"]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://example.com/logs", "only Azure Blob Storage can be read"),
        ("https://account.blob.core.windows.net/", "the name of a container is missing"),
        ("https://account.blob.core.windows.net", "only Azure Blob Storage can be read"),
        ("s3:///folder", "an S3 address looks like s3://bucket/folder"),
        ("s3://key:secret-of-tests@bucket/x", "an S3 address looks like"),
        ("s3://bucket/logs?X-Amz-Expires=9&X-Amz-Signature=secret-of-tests", "bucket/logs: a signature behind this"),
        (
            "gs://bucket/logs?X-Goog-Signature=secret-of-tests",
            "bucket/logs: a signature behind this address",
        ),
        ("gs://", "an address of Google Cloud Storage looks like gs://bucket/folder"),
        ("webhdfs://me:secret-of-tests@host/x", "passwords do not belong in an address"),
    ],
)
def test_addresses_that_cannot_be_right(url: str, words: str) -> None:
    with pytest.raises(StorageError, match=words) as caught:
        storage_for(url).resolve(url)
    assert "secret-of-tests" not in str(caught.value)


# Google ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("no_credentials")
def test_a_key_file_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "nowhere.json"))
    error = refusal("gs://bucket/logs")
    assert error.kind == "credentials"
    assert "GOOGLE_APPLICATION_CREDENTIALS" in str(error)


def test_worker_processes_are_told_what_was_found(server_of: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert callable(server_of)
    url = "https://account.blob.core.windows.net/container"
    assert storage_for(url).resolve(f"{url}/logs?sig=secret-of-tests") == f"{url}/logs"
    assert "secret-of-tests" in "".join(environment().values())
    with google_store(server_of("gs")) as store:
        assert isinstance(store, Store)
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", store.proxy.url)
        assert listed(store.url()) == []


# any other file system -------------------------------------------------------------------------------------


def test_file_systems_of_fsspec() -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.pipe("/logs/run/a b.json", b"12345")
    assert listed("memory://logs") == ["run/a b.json"]
    (entry,) = storage_for("memory://logs").list("memory://logs", pytest.fail)
    with storage_for(entry.url).open(entry) as stream:
        assert stream.read() == b"12345"
    assert storage_for(entry.url).stat(entry.url).version == entry.version
    error = refusal("nosuch://host/logs")
    assert error.kind == "package"
    assert "Install fsspec and its driver for nosuch://" in str(error)


# many ------------------------------------------------------------------------------------------------------


def _put_many(store: Store, count: int) -> None:
    """Over a few connections of our own: Azure's package takes several times as long."""
    server = store.proxy.upstream
    signature = signature_for(store.bucket, write=True, create=True)
    headers = {"x-ms-blob-type": "BlockBlob", "x-ms-version": "2021-12-02"}

    def some(first: int) -> None:
        connection = http.client.HTTPConnection(server.hostname or "", server.port, timeout=60)
        for number in range(first, count, 4):
            connection.request("PUT", f"/{AZURE_ACCOUNT}/{store.bucket}/run/{number}.txt?{signature}", b"x", headers)
            with connection.getresponse() as reply:
                assert reply.status == 201, reply.read()
                reply.read()

    with ThreadPoolExecutor(4) as writers:
        list(writers.map(some, range(4)))


@pytest.mark.usefixtures("no_credentials")
def test_objects_of_two_pages_of_azure(server_of: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert callable(server_of)
    count = AZURE_PAGE + 1  # each is a request of its own to make
    with azure_store(server_of("blob")) as store:
        for name, value in store.environment.items():
            monkeypatch.setenv(name, value)
        _put_many(store, count)
        assert len(listed(store.url())) == count
        assert store.proxy.kinds() == ["list"] * 2


@pytest.mark.usefixtures("no_credentials")
def test_ten_thousand_objects_of_google(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with google_server(tmp_path, tmp_path / "data") as server, google_store(server, "many") as store:
        store.put("run/w", b"x")
    multiply_in_google(tmp_path / "data", "many", "run/w", MANY)
    with google_server(tmp_path, tmp_path / "data") as server, google_store(server, "many") as store:
        for name, value in store.environment.items():
            monkeypatch.setenv(name, value)
        assert len(listed(store.url())) == MANY
        assert store.proxy.kinds() == ["list"] * 10
