"""Real stores on loopback, each behind a proxy that counts: an S3 server, Azurite, a Google Cloud Storage server."""

from __future__ import annotations

import functools
import itertools
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, quote, unquote, urlsplit

from tests.storage.proxy import Kind, Proxy, Request
from tests.tiny import free_port, wait_until

SERVERS = Path(__file__).parent / "servers"

Scheme = Literal["s3", "blob", "gs"]

#: what the machine that runs the tests may have set, and what would be looked for elsewhere
NOTHING = {
    "AWS_ACCESS_KEY_ID": "",
    "AWS_SECRET_ACCESS_KEY": "",
    "AWS_SESSION_TOKEN": "",
    "AWS_REGION": "",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": "/dev/null",
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    "S3_ENDPOINT": "",
    "S3_USE_HTTPS": "",
    "S3_VERIFY_SSL": "",
    "AZURE_STORAGE_CONNECTION_STRING": "",
    "STORAGE_EMULATOR_HOST": "",
    "NO_GCE_CHECK": "true",
    "CLOUDSDK_CONFIG": "/dev/null",
}

#: nobody's keys, and what must never be seen anywhere
AWS_KEY, AWS_SECRET = "AKIDTESTTESTTEST", "aws+secret/of-the/tests"
#: every Azurite has these
AZURE_ACCOUNT = "devstoreaccount1"
AZURE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
AZURE_PUBLIC = f"https://{AZURE_ACCOUNT}.blob.core.windows.net"


def answers(url: str) -> bool:
    try:
        urllib.request.urlopen(url, timeout=5).close()
    except urllib.error.HTTPError as error:
        error.close()
    except urllib.error.URLError as error:
        return isinstance(error.reason, ssl.SSLError)  # it speaks, if not with everybody
    except OSError:
        return False
    return True


@contextmanager
def running(
    command: list[str], log: Path, url: str, environment: Mapping[str, str] | None = None, keeps: bool = False
) -> Iterator[int]:
    """A server, from when it answers at `url` until it is stopped; its process id.

    keeps   it has something to write down when it ends; the others are not waited for: some end only when all their
            clients have
    """
    with log.open("ab") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **(environment or {})}
        )
    try:
        wait_until(lambda: process.poll() is not None or answers(url), f"{command[0]} answers")
        assert process.poll() is None, log.read_text(errors="replace")
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM if keeps else signal.SIGKILL)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def script(name: str) -> str:
    """A program that was installed beside this Python."""
    return str(Path(sys.executable).parent / name)


@dataclass
class Store:
    """An empty bucket or container of a running server.

    environment: what a process needs to read it, through the proxy
    secrets: what must not be seen anywhere
    """

    scheme: Scheme
    bucket: str
    proxy: Proxy
    environment: dict[str, str]
    secrets: tuple[str, ...]
    client: Any = field(repr=False)

    def url(self, path: str = "") -> str:
        base = {"s3": "s3://", "gs": "gs://", "blob": f"{AZURE_PUBLIC}/"}[self.scheme] + self.bucket
        return f"{base}/{quote(path) if self.scheme == 'blob' else path}" if path else base

    def put(self, path: str, content: bytes) -> None:
        """Past the proxy."""
        if self.scheme == "s3":
            self.client.put_object(Bucket=self.bucket, Key=path, Body=content)
        elif self.scheme == "blob":
            self.client.get_container_client(self.bucket).upload_blob(path, content, overwrite=True)
        else:
            self.client.bucket(self.bucket).blob(path).upload_from_string(content)

    def delete(self, path: str) -> None:
        if self.scheme == "s3":
            self.client.delete_object(Bucket=self.bucket, Key=path)
        elif self.scheme == "blob":
            self.client.get_container_client(self.bucket).delete_blob(path)
        else:
            self.client.bucket(self.bucket).blob(path).delete()

    def put_all(self, folder: Path, prefix: str = "") -> None:
        for path in folder.rglob("*"):
            if path.is_file():
                self.put(f"{prefix}{path.relative_to(folder).as_posix()}", path.read_bytes())

    @property
    def denied(self) -> bytes:
        """What this store answers with 403."""
        code = {"s3": "AccessDenied", "blob": "AuthorizationPermissionMismatch", "gs": "forbidden"}[self.scheme]
        return error_body(self.scheme, code)


def error_body(scheme: Scheme, code: str) -> bytes:
    if scheme == "gs":
        return json.dumps({"error": {"code": 0, "message": code, "errors": [{"reason": code}]}}).encode()
    return f'<?xml version="1.0" encoding="utf-8"?><Error><Code>{code}</Code><Message>no</Message></Error>'.encode()


def kind_in_s3(method: str, path: str) -> Kind:
    if method == "HEAD":
        return "stat"
    # TensorBoard lists, too, in another way: what names no object is a listing
    return "other" if method != "GET" else "get" if "/" in urlsplit(path).path.strip("/") else "list"


def kind_in_azure(method: str, path: str) -> Kind:
    if method == "HEAD":
        return "stat"
    return "other" if method != "GET" else "list" if "comp=list" in urlsplit(path).query else "get"


def kind_in_google(method: str, path: str) -> Kind:
    if method != "GET":
        return "other"
    parts = urlsplit(path)
    if "media" in parse_qs(parts.query).get("alt", ()):
        return "get"
    # Google's package also asks about the bucket itself, once and whenever it likes
    return "list" if parts.path.endswith("/o") else "stat" if "/o/" in parts.path else "other"


@contextmanager
def s3_server(folder: Path) -> Iterator[str]:
    url = f"http://127.0.0.1:{(port := free_port())}"
    with running([script("moto_server"), "-H", "127.0.0.1", "-p", str(port)], folder / "moto.log", url):
        yield url


@contextmanager
def rclone_server(
    folder: Path, log: Path, certificate: tuple[Path, Path] | None = None, keys: str = f"{AWS_KEY},{AWS_SECRET}"
) -> Iterator[str]:
    """An S3 server whose buckets are directories; it checks signatures, and speaks TLS with a certificate and key."""
    port = free_port()
    command = [script("rclone"), "serve", "s3", "--config", "/dev/null", "--addr", f"127.0.0.1:{port}"]
    command += ["--auth-key", keys, "--vfs-cache-mode", "off"]
    if certificate:
        command += ["--cert", str(certificate[0]), "--key", str(certificate[1])]
    url = f"{'https' if certificate else 'http'}://127.0.0.1:{port}"
    with running([*command, str(folder)], log, url):
        yield url


@contextmanager
def azure_server(folder: Path) -> Iterator[str]:
    url = f"http://127.0.0.1:{(port := free_port())}"
    node = shutil.which("node")
    assert node, "Azurite needs Node.js"
    program = SERVERS / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"
    assert program.is_file(), "make .venv/.stamp-servers installs Azurite"
    where = ["--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", str(folder / "azurite")]
    quietly = ["--silent", "--skipApiVersionCheck", "--disableTelemetry"]
    with running([node, str(program), *where, *quietly], folder / "azurite.log", url):
        yield url


@contextmanager
def google_server(folder: Path, data: Path | None = None) -> Iterator[str]:
    """Keeps its objects in memory, or in a directory."""
    url = f"http://127.0.0.1:{(port := free_port())}"
    keeping = ["--data-dir", str(data)] if data else []
    command = [script("gcp-storage-emulator"), *keeping, "start", "--host", "127.0.0.1", "--port", str(port)]
    command += [] if data else ["--in-memory"]
    with running(command, folder / "google.log", url, keeps=data is not None):
        yield url


def multiply_in_google(data: Path, bucket: str, name: str, count: int) -> None:
    """Makes `count` objects of one in the directory of a server that does not run: with each that it is given it
    writes down all it has."""
    (path,) = data.rglob(".meta")
    known = json.loads(path.read_text())
    objects = known["objects"][bucket]
    one = objects.pop(name)
    for number in range(count):
        objects[f"{name}{number}"] = one | {"name": f"{name}{number}"}
    path.write_text(json.dumps(known))


def connection_string(endpoint: str, account: str = AZURE_ACCOUNT, key: str = AZURE_KEY) -> str:
    return (
        f"DefaultEndpointsProtocol=http;AccountName={account};AccountKey={key};BlobEndpoint={endpoint}/{AZURE_ACCOUNT};"
    )


_numbers = itertools.count(1)


@functools.cache
def _aws(server: str) -> Any:
    """Takes a while to make."""
    import boto3

    return boto3.session.Session(AWS_KEY, AWS_SECRET).client("s3", endpoint_url=server, region_name="us-east-1")


@contextmanager
def s3_store(server: str) -> Iterator[Store]:
    client = _aws(server)
    bucket = f"bucket{next(_numbers)}"
    client.create_bucket(Bucket=bucket)
    with Proxy(server, kind_in_s3) as proxy:
        environment = {
            "AWS_ACCESS_KEY_ID": AWS_KEY,
            "AWS_SECRET_ACCESS_KEY": AWS_SECRET,
            "AWS_REGION": "us-east-1",
            "S3_ENDPOINT": proxy.url,
        }
        yield Store("s3", bucket, proxy, NOTHING | environment, (AWS_KEY, AWS_SECRET), client)


@contextmanager
def azure_store(server: str) -> Iterator[Store]:
    from azure.storage.blob import BlobServiceClient

    client = BlobServiceClient.from_connection_string(connection_string(server))
    bucket = f"container{next(_numbers)}"
    client.create_container(bucket)
    with Proxy(server, kind_in_azure) as proxy:
        environment = {"AZURE_STORAGE_CONNECTION_STRING": connection_string(proxy.url)}
        yield Store("blob", bucket, proxy, NOTHING | environment, (AZURE_KEY,), client)


@contextmanager
def google_store(server: str, bucket: str = "") -> Iterator[Store]:
    """`bucket` may be there already; without one it is new."""
    from google.auth.credentials import AnonymousCredentials
    from google.cloud import storage

    client = storage.Client(
        project="tests", credentials=AnonymousCredentials(), client_options={"api_endpoint": server}
    )
    bucket = bucket or f"bucket{next(_numbers)}"
    if not client.bucket(bucket).exists():
        client.create_bucket(bucket)

    def refuse(request: Request) -> int:
        """The server knows generations but does not mind them."""
        wanted = parse_qs(urlsplit(request.path).query).get("ifGenerationMatch")
        if not wanted or request.kind != "get":
            return 0
        blob = client.bucket(bucket).get_blob(unquote(urlsplit(request.path).path.rpartition("/o/")[2]))
        return 0 if blob is None or str(blob.generation) == wanted[0] else 412

    def page(request: Request, body: bytes) -> bytes:
        """The server sends all objects at once, Google a thousand."""
        if request.kind != "list":
            return body
        found = json.loads(body)
        first = int(parse_qs(urlsplit(request.path).query).get("pageToken", ["0"])[0])
        items = found.get("items", [])
        more = {"nextPageToken": str(first + 1000)} if len(items) > first + 1000 else {}
        return json.dumps(found | {"items": items[first : first + 1000]} | more).encode()

    with Proxy(server, kind_in_google, refuse, page) as proxy:
        yield Store("gs", bucket, proxy, NOTHING | {"STORAGE_EMULATOR_HOST": proxy.url}, (), client)


SERVER_OF = {"s3": s3_server, "blob": azure_server, "gs": google_server}
STORE_OF = {"s3": s3_store, "blob": azure_store, "gs": google_store}
