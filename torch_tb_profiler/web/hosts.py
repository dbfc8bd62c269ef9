"""Which names a server answers to.

A page of another site can point a name of its own at this machine and then read as if it were ours (DNS rebinding): its
requests carry that name in `Host`.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from typing import TYPE_CHECKING

from werkzeug import Request

from torch_tb_profiler.web.http import HttpError
from torch_tb_profiler.web.responses import respond_error

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_LOCALHOST = "localhost"


def only_for(app: WSGIApplication, host: str, names: Iterable[str] = ()) -> WSGIApplication:
    """Wrap an application so that it answers to its own names; other requests get 421 before anything is looked up.

    host   what the server listens on
    names  further names, such as that of a proxy in front of it
    """
    known = known_names(host, names)

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        host_header = environ.get("HTTP_HOST", "")
        if is_known(host_header, known):
            return app(environ, start_response)
        error = HttpError(421, f"this server does not answer to {host_header[:100]!r}; --allow-host adds a name")
        return respond_error(Request(environ), error)(environ, start_response)

    return answer


def only_from_here(app: WSGIApplication, below: str) -> WSGIApplication:
    """Wrap an application so that it refuses what pages of other sites ask below a path: 403.

    Such a page cannot read an answer, but a request alone may cost much. Browsers say whose page asks; programs, which
    no other site can steer, do not.
    """

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        asked_by = environ.get("HTTP_SEC_FETCH_SITE", "none")
        if asked_by in ("none", "same-origin") or not f"{environ.get('PATH_INFO', '')}/".startswith(f"{below}/"):
            return app(environ, start_response)
        error = HttpError(403, "only pages of this server may ask this")
        return respond_error(Request(environ), error)(environ, start_response)

    return answer


def is_loopback(host: str) -> bool:
    """Return whether a server that listens on a host is reached from this machine alone."""
    address = _address(host)
    return host.lower() == _LOCALHOST if address is None else address.is_loopback


def known_names(host: str, names: Iterable[str] = ()) -> frozenset[str]:
    """Return what `Host` may name beside loopback and addresses: without port, in lower case."""
    found = {host, *names}
    address = _address(host)
    if address is not None and address.is_unspecified:
        # the names by which others on the network know this machine
        found |= {socket.gethostname(), socket.getfqdn()}
    return frozenset(name.lower().rstrip(".") for name in found if name)


def is_known(host_header: str, known: frozenset[str]) -> bool:
    """Return whether the value of `Host` is one of these names, a name of loopback, or an address.

    Nobody can point an address elsewhere, so one is always good.
    """
    name = _without_port(host_header)
    if name is None:
        return False
    return name in known or name == _LOCALHOST or name.endswith(f".{_LOCALHOST}") or _address(name) is not None


def _without_port(host_header: str) -> str | None:
    """Return the name or address in a value of `Host`; None if it is neither."""
    name, colon, port = host_header.strip().lower().rpartition(":")
    if not colon or "]" in port:
        name, port = host_header.strip().lower(), ""
    if port and not (port.isascii() and port.isdigit()):
        return None
    if name.startswith("[") and name.endswith("]"):
        return name[1:-1]
    return None if ":" in name else name.removesuffix(".") or None


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)  # an IPv6 address with its zone, too
    except ValueError:
        return None
