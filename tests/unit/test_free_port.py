"""A port for a server that is still to be started, beside tests that do the same and clients that connect."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path

from tests.tiny import free_port

#: first and last port that Linux gives to clients, and to whoever asks for any
OF_THE_SYSTEM = Path("/proc/sys/net/ipv4/ip_local_port_range")


def test_no_port_is_given_twice() -> None:
    ports = [free_port() for _ in range(300)]
    assert len(set(ports)) == len(ports)


def test_a_client_is_not_given_it_meanwhile() -> None:
    if OF_THE_SYSTEM.exists():
        first, last = map(int, OF_THE_SYSTEM.read_text().split())
    else:
        with socket.create_server(("127.0.0.1", 0)) as given:
            first = last = given.getsockname()[1]
    assert not first <= free_port() <= last


def test_a_port_that_somebody_listens_on_is_left_out() -> None:
    after = free_port() + 1
    with suppress(OSError), socket.create_server(("127.0.0.1", after)):
        assert free_port() != after
