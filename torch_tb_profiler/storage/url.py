"""Schemes of log directories, and addresses that are safe to show."""

from __future__ import annotations

import os
import re

from torch_tb_profiler.lazy_pattern import lazy_pattern

_SCHEME = lazy_pattern(r"([A-Za-z][A-Za-z0-9+.-]+)://")  # two letters at least: C:\ is a drive
#: prefix of an address that is not text, before its bytes in hexadecimal digits; no address contains it
_BYTES = "\0"
_USER = lazy_pattern(r"^([A-Za-z][A-Za-z0-9+.-]+://)[^/?#]*@")

#: the signature in an address of S3, Google or Azure
_SIGNATURE = lazy_pattern(
    r"\?(?:[^?]*&)?(?:X-(?:Amz|Goog)-[a-z-]+|(?:sig|signature|AWSAccessKeyId|GoogleAccessId))=", re.IGNORECASE
)


def scheme_of(url: str) -> str:
    """Return the scheme in lower case; empty for a plain path."""
    match = _SCHEME.match(url)
    return match[1].lower() if match else ""


def shown(url: str) -> str:
    """Return the address as text that is safe to show: `without_secrets` and `printable`."""
    return printable(without_secrets(url))


def without_secrets(url: str) -> str:
    """Return the address without possible secrets.

    These are name and password before an `@`, the query of an http address, and the signature after any other address.
    """
    if not scheme_of(url):
        return url
    url = _USER.sub(r"\1", url)
    if scheme_of(url) in ("http", "https"):
        return re.split(r"[?#]", url, maxsplit=1)[0]
    signature = _SIGNATURE.search(url)
    return url[: signature.start()] if signature else url


def is_signed(url: str) -> bool:
    """Return whether an address ends with a signature."""
    return bool(_SIGNATURE.search(url))


def without_slash(url: str) -> str:
    """Strip slashes at the end, except those of a bare scheme or of the root directory."""
    scheme = _SCHEME.match(url)
    head, rest = (scheme[0], url[scheme.end() :]) if scheme else ("", url)
    return head + rest.rstrip("/") or url


def printable(name: str) -> str:
    r"""Return the name as text that can be shown, logged and sent.

    Names of files may hold any byte but `/` and NUL; bytes that are not UTF-8 are written as escapes.

    >>> printable("caf\udce9\n")
    'caf\\xe9\\n'
    """
    return name if name.isprintable() else "".join(c if c.isprintable() else _escape(c) for c in name)


def _escape(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # how Python represents a byte that is not UTF-8
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def storable(url: str) -> str:
    """Return the address as text that JSON can hold: names of files may be any bytes. `restored` undoes it."""
    try:
        url.encode()
    except UnicodeEncodeError:
        return _BYTES + os.fsencode(url).hex()
    return url


def restored(text: str) -> str:
    """Return the address that `storable` encoded."""
    return os.fsdecode(bytes.fromhex(text.removeprefix(_BYTES))) if text.startswith(_BYTES) else text
