"""Schemes of log directories, and addresses as they may be shown."""

from __future__ import annotations

import re

from torch_tb_profiler.late_pattern import late_pattern

_SCHEME = late_pattern(r"([A-Za-z][A-Za-z0-9+.-]+)://")  # two letters at least: C:\ is a drive
_USER = late_pattern(r"^([A-Za-z][A-Za-z0-9+.-]+://)[^/?#]*@")

#: of signed addresses: S3, Google and Azure
_SIGNATURE = late_pattern(
    r"\?(?:[^?]*&)?(?:X-(?:Amz|Goog)-[a-z-]+|(?:sig|signature|AWSAccessKeyId|GoogleAccessId))=", re.IGNORECASE
)


def scheme_of(url: str) -> str:
    """The scheme in lower case; empty for a plain path."""
    match = _SCHEME.match(url)
    return match[1].lower() if match else ""


def shown(url: str) -> str:
    """The address without what may be a secret: name and password before an `@`, the query of an http address, and
    a signature behind any other.
    """
    if not scheme_of(url):
        return url
    url = _USER.sub(r"\1", url)
    if scheme_of(url) in ("http", "https"):
        return re.split(r"[?#]", url, maxsplit=1)[0]
    signature = _SIGNATURE.search(url)
    return url[: signature.start()] if signature else url


def is_signed(url: str) -> bool:
    """Whether a signature stands behind it."""
    return bool(_SIGNATURE.search(url))


def without_slash(url: str) -> str:
    """Without slashes at the end; those of a bare scheme or of the root directory stay."""
    scheme = _SCHEME.match(url)
    head, rest = (scheme[0], url[scheme.end() :]) if scheme else ("", url)
    return head + rest.rstrip("/") or url


def printable(name: str) -> str:
    """The name as text that can be shown, logged and sent."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in name)
