"""Every store against a real server: listing, reading, and what goes wrong on the way."""

from __future__ import annotations

import random
import socket
import time

import pytest

from tests.storage.proxy import Fault
from tests.storage.stores import Store, error_body
from torch_tb_profiler.storage import Entry, StorageError, remote, storage_for

ODD_NAMES = ("a b/c d.json", "é–漢/ü.json", "100%/x%41.json", "q?a=b&c#d.json", "plus+and~tilde.json", "'\"<>.json")


def listed(url: str) -> list[Entry]:
    storage = storage_for(url)
    return sorted(storage.list(storage.resolve(url), lambda problem: pytest.fail(str(problem))), key=lambda e: e.path)


def read(entry: Entry, ahead: bool = True) -> bytes:
    with storage_for(entry.url).open(entry, ahead) as stream:
        return stream.read()


@pytest.fixture(autouse=True)
def _no_long_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "FIRST_PAUSE", 0.01)


@pytest.fixture
def short_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a file of some megabytes is many ranges."""
    monkeypatch.setattr(remote, "RANGE_BYTES", 256 * 1024)
    monkeypatch.setattr(remote, "FIRST_BYTES", 64 * 1024)


def noise(size: int) -> bytes:
    return random.Random(size).randbytes(size)


# listing ---------------------------------------------------------------------------------------------------


def test_a_folder_is_not_what_begins_with_its_name(store: Store) -> None:
    for path in ("demo/run/w.json", "demo/w.json", "demo2/run/w.json", "demo.json"):
        store.put(path, b"{}")
    for url in (store.url("demo"), store.url("demo") + "/"):
        assert [entry.path for entry in listed(url)] == ["run/w.json", "w.json"]
    assert listed(store.url("dem")) == []


def test_a_bucket_is_a_log_directory(store: Store) -> None:
    store.put("w.json", b"{}")
    store.put("run/w.json", b"{}")
    for url in (store.url(), store.url() + "/"):
        assert [entry.path for entry in listed(url)] == ["run/w.json", "w.json"]


def test_names_of_any_letters(store: Store) -> None:
    for number, name in enumerate(ODD_NAMES):
        store.put(name, str(number).encode())
    found = {entry.path: entry for entry in listed(store.url())}
    assert set(found) == set(ODD_NAMES)
    for number, name in enumerate(ODD_NAMES):
        assert read(found[name]) == str(number).encode()
        assert storage_for(found[name].url).stat(found[name].url).version == found[name].version
    assert [entry.path for entry in listed(store.url("é–漢"))] == ["ü.json"]
    assert [entry.path for entry in listed(store.url("a b"))] == ["c d.json"]


def test_what_is_known_of_a_file_follows_its_content(store: Store) -> None:
    store.put("w.json", b"12345")
    (before,) = listed(store.url())
    assert before.size == 5
    assert 1.7e18 < before.modified_ns < 4e18
    assert listed(store.url()) == [before]
    store.put("w.json", b"54321")
    (after,) = listed(store.url())
    assert (after.path, after.size) == ("w.json", 5)
    assert after.etag != before.etag


def test_marks_of_empty_folders_are_no_files(store: Store) -> None:
    store.put("run/", b"")
    store.put("run/w.json", b"{}")
    assert [entry.path for entry in listed(store.url())] == ["run/w.json"]


def test_a_listing_is_one_request(store: Store) -> None:
    for number in range(20):
        store.put(f"run{number}/w.json", b"{}")
    assert len(listed(store.url())) == 20
    assert store.proxy.kinds() == ["list"]


def test_a_folder_is_no_file(store: Store) -> None:
    store.put("run/w.json", b"{}")
    for url in (store.url(), store.url("run")):
        with pytest.raises(StorageError) as caught:
            storage_for(url).stat(url)
        assert caught.value.kind == "missing"


# reading ---------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("short_ranges")
def test_a_file_is_read_in_ranges_several_at_once(store: Store) -> None:
    content = noise(2_000_000)
    store.put("w.json", content)
    (entry,) = listed(store.url())
    store.proxy.clear()
    assert read(entry) == content
    asked = store.proxy.of("get")
    assert 8 <= len(asked) <= 11
    assert store.proxy.count("stat") == 0
    assert sum(request.sent for request in asked) == len(content)


def test_what_was_sent_is_known_when_it_has_come(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy itself: its thread may be put aside as soon as the last byte has left."""
    sendall = socket.socket.sendall

    def send_then_rest(self: socket.socket, data: bytes) -> None:
        sendall(self, data)
        time.sleep(0.05)

    store.put("w.json", noise(1000))
    (entry,) = listed(store.url())
    monkeypatch.setattr(socket.socket, "sendall", send_then_rest)
    assert read(entry) == noise(1000)
    assert sum(request.sent for request in store.proxy.of("get")) == 1000


def test_a_look_at_the_head_is_one_small_request(store: Store) -> None:
    store.put("w.json", noise(2_000_000))
    (entry,) = listed(store.url())
    with storage_for(entry.url).open(entry, ahead=False) as stream:
        assert stream.read(1000) == noise(2_000_000)[:1000]
    (request,) = store.proxy.of("get")
    assert request.sent == remote.LEAST_BYTES


def test_reading_here_and_there(store: Store) -> None:
    content = noise(300_000)
    store.put("w.json", content)
    (entry,) = listed(store.url())
    with storage_for(entry.url).open(entry) as stream:
        assert stream.read(3) == content[:3]
        stream.seek(-4, 2)
        assert stream.read(100) == content[-4:]
        assert stream.read() == b""
        stream.seek(0)
        assert stream.read() == content


def test_an_empty_file(store: Store) -> None:
    store.put("w.json", b"")
    (entry,) = listed(store.url())
    assert read(entry) == b""
    assert store.proxy.count("get") == 0


@pytest.mark.usefixtures("short_ranges")
def test_an_interrupted_download_goes_on_where_it_broke_off(store: Store) -> None:
    content = noise(1_000_000)
    store.put("w.json", content)
    (entry,) = listed(store.url())
    store.proxy.fail(Fault("get", times=3, cut_after=50_000))
    assert read(entry) == content
    # What had arrived is not asked for again, but for what the packages of the stores keep to themselves.
    lost = sum(request.sent for request in store.proxy.of("get")) - len(content)
    assert lost <= (150_000 if store.scheme == "blob" else 0)


@pytest.mark.parametrize("status", [503, 429, 500])
def test_a_store_that_is_busy_is_asked_again(store: Store, status: int) -> None:
    content = noise(100_000)
    store.put("w.json", content)
    store.proxy.fail(Fault("list", times=2, status=status, body=error_body(store.scheme, "SlowDown")))
    store.proxy.fail(Fault("get", times=2, status=status, body=error_body(store.scheme, "SlowDown")))
    store.proxy.fail(Fault("stat", times=2, status=status))
    (entry,) = listed(store.url())
    assert read(entry) == content
    assert storage_for(entry.url).stat(entry.url) == entry
    assert [store.proxy.count(kind) for kind in ("list", "get", "stat")] == [3, 3, 3]


def test_a_store_that_stays_busy_is_given_up_in_words(store: Store) -> None:
    store.put("w.json", b"{}")
    (entry,) = listed(store.url())
    store.proxy.clear()
    store.proxy.fail(Fault("get", times=100, status=503, body=error_body(store.scheme, "SlowDown")))
    store.proxy.fail(Fault("list", times=100, status=503, body=error_body(store.scheme, "SlowDown")))
    for call in (lambda: read(entry), lambda: listed(store.url())):
        with pytest.raises(StorageError, match="the store asks for fewer requests") as caught:
            call()
        assert caught.value.kind == "throttled"
        assert caught.value.passes
    assert (store.proxy.count("get"), store.proxy.count("list")) == (remote.TRIES, remote.TRIES)


@pytest.mark.usefixtures("short_ranges")
def test_a_file_that_is_replaced_while_it_is_read_is_not_mixed(store: Store) -> None:
    store.put("w.json", noise(1_000_000))
    (entry,) = listed(store.url())
    with storage_for(entry.url).open(entry) as stream:
        assert len(stream.read(1000)) == 1000
        store.put("w.json", noise(1_000_001))
        with pytest.raises(StorageError, match="was replaced while it was being read") as caught:
            stream.read()
    assert caught.value.kind == "changed"
    (entry,) = listed(store.url())
    assert read(entry) == noise(1_000_001)


def test_a_file_that_is_gone(store: Store) -> None:
    store.put("w.json", b"{}")
    (entry,) = listed(store.url())
    store.delete("w.json")
    for call in (lambda: read(entry), lambda: storage_for(entry.url).stat(entry.url)):
        with pytest.raises(StorageError, match=r"^cannot be read from .*: it ") as caught:
            call()
        assert caught.value.kind in ("missing", "changed")


# errors ----------------------------------------------------------------------------------------------------


def test_a_bucket_that_is_not_there(store: Store) -> None:
    url = store.url() + "-not-there"
    with pytest.raises(StorageError, match=r"cannot be listed: it is not there .*\. Check ") as caught:
        listed(url)
    assert caught.value.kind == "missing"
    assert url in str(caught.value)


def test_what_one_may_not_do_is_said_with_what_it_takes(store: Store) -> None:
    store.put("w.json", b"{}")
    (entry,) = listed(store.url())
    store.proxy.clear()
    store.proxy.fail(Fault("list", status=403, body=store.denied))
    store.proxy.fail(Fault("get", status=403, body=store.denied))
    for call in (lambda: listed(store.url()), lambda: read(entry)):
        with pytest.raises(StorageError, match="permission denied") as caught:
            call()
        assert caught.value.kind == "permission"
        wanted = {"s3": "s3:GetObject", "blob": "Storage Blob Data Reader", "gs": "Storage Object Viewer"}
        assert wanted[store.scheme] in str(caught.value)
    assert (store.proxy.count("list"), store.proxy.count("get")) == (1, 1)


def test_a_wrong_clock_and_a_wrong_region_are_told_apart_from_wrong_keys(store: Store) -> None:
    cases: dict[str, list[tuple[str, dict[str, str], str]]] = {
        "s3": [("RequestTimeTooSkewed", {}, "clock"), ("AuthorizationHeaderMalformed", {}, "endpoint")],
        "blob": [
            ("AuthenticationFailed", {"Date": "Sun, 06 Nov 1994 08:49:37 GMT"}, "clock"),
            ("AuthenticationFailed", {}, "credentials"),
        ],
        "gs": [("unauthorized", {}, "credentials")],
    }
    for code, headers, kind in cases[store.scheme]:
        headers |= {"x-ms-error-code": code, "Content-Type": "application/xml"}
        status = 401 if store.scheme == "gs" else 403
        store.proxy.fail(Fault("list", times=9, status=status, headers=headers, body=error_body(store.scheme, code)))
        with pytest.raises(StorageError) as caught:
            listed(store.url())
        store.proxy.clear()
        assert caught.value.kind == kind, caught.value


def test_a_store_that_is_not_running(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put("w.json", b"{}")
    (entry,) = listed(store.url())
    nowhere = "http://127.0.0.1:9"
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value.replace(store.proxy.url, nowhere))
    for call in (lambda: listed(store.url()), lambda: read(entry)):
        with pytest.raises(StorageError, match="the store does not answer") as caught:
            call()
        assert caught.value.kind == "unreachable"
        assert caught.value.passes


def test_secrets_are_in_no_message(store: Store) -> None:
    store.put("w.json", b"{}")
    (entry,) = listed(store.url())
    leak = "".join(f"<Message>{secret}</Message>" for secret in store.secrets).encode()
    said = [repr(entry)]
    for status in (400, 401, 403, 404, 409, 500, 503):
        for kind in ("list", "get"):
            store.proxy.fail(Fault(kind, times=remote.TRIES, status=status, body=b"<Error>" + leak + b"</Error>"))
        for call in (lambda: listed(store.url()), lambda: read(entry)):
            with pytest.raises(StorageError) as caught:
                call()
            assert caught.value.__cause__ is None
            assert caught.value.__suppress_context__
            said.append(str(caught.value))
    for secret in store.secrets:
        assert not [text for text in said if secret in text]
