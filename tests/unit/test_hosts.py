"""Which names the stand-alone server answers to."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest
from werkzeug import Response
from werkzeug.test import Client

from torch_tb_profiler.web.server import is_known, known_names, only_for


@pytest.mark.parametrize(
    "asked",
    [
        *("localhost", "LOCALHOST:6007", "localhost.", "box.localhost:1", "127.0.0.1:6007", "127.8.9.1", "[::1]:6007"),
        *("[::1]", "[fe80::1%eth0]:80", "10.0.0.7:80", "here.example:6007", "Here.Example", "proxy.example"),
    ],
)
def test_own_names(asked: str) -> None:
    assert is_known(asked, known_names("here.example", ["Proxy.Example."]))


@pytest.mark.parametrize(
    "asked",
    [
        *("", ":6007", "evil.example", "evil.example:6007", "localhost.evil.example", "127.0.0.1.evil.example"),
        *(
            "127.0.0.1%00.evil.example",
            "1.1.1.1%evil.example:80",
            "notlocalhost",
            "localhost,evil.example",
            "here.example@evil.example",
            "localhost:80@evil",
            "[evil]:1",
            "a:b:c",
        ),
    ],
)
def test_other_names(asked: str) -> None:
    assert not is_known(asked, known_names("here.example"))


def test_a_server_for_the_network_answers_to_its_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "Node7")
    monkeypatch.setattr("socket.getfqdn", lambda: "node7.cluster")
    assert is_known("node7:6007", known_names("0.0.0.0"))
    assert is_known("node7.cluster", known_names("::"))
    assert not is_known("node7", known_names("127.0.0.1"))
    assert not is_known("evil.example", known_names("0.0.0.0"))


def test_requests_of_rebound_names_reach_nothing() -> None:
    reached: list[str] = []

    def app(environ: dict[str, object], start_response: object) -> Iterable[bytes]:
        reached.append(str(environ["HTTP_HOST"]))
        return Response("traces")(environ, start_response)  # type: ignore[arg-type]

    client = Client(only_for(app, "127.0.0.1"))
    refused = client.get("/api/status", headers={"Host": "evil.example:6007"})
    assert refused.status_code == 421
    assert "evil.example:6007" in json.loads(refused.data)["error"]
    assert not reached
    assert client.get("/", headers={"Host": "localhost:6007"}).text == "traces"
