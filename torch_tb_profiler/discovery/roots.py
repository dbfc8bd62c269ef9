"""The log directories a user names."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import msgspec

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.storage import printable, without_slash
from torch_tb_profiler.storage.url import without_secrets

_URI = lazy_pattern(r"[a-zA-Z][0-9a-zA-Z.]*://.*")


class Root(msgspec.Struct, frozen=True):
    """A directory tree to look for runs in; `name`, unless empty, stands before the names of its runs."""

    url: str
    name: str = ""


def parse_logdir(logdir: str) -> tuple[Root, ...]:
    return (Root(without_slash(logdir)),)


def named_roots(paths: Sequence[str]) -> tuple[Root, ...]:
    """Log directories of a command. With several every one gets the name of its directory, a repeated one a number."""
    if len(paths) == 1:
        return parse_logdir(paths[0])
    roots: list[Root] = []
    for path in map(without_slash, paths):
        roots.append(Root(path, _unused(base_name(path), roots)))
    return tuple(roots)


def parse_logdir_spec(spec: str) -> tuple[Root, ...]:
    """Parse `name:path,path2` as TensorBoard's --logdir_spec.

    With several roots every one gets a name: a nameless one that of its directory, a repeated one a number.
    """
    roots: list[Root] = []
    items = [item.strip() for item in spec.split(",") if item.strip()]
    for item in items:
        name, colon, path = item.partition(":")
        if not colon or _URI.match(item) or item.startswith("/") or os.path.splitdrive(item)[0]:
            name, path = "", item
        path = without_slash(path)
        if len(items) > 1:
            name = _unused(name or base_name(path), roots)
        roots.append(Root(path, name))
    return tuple(roots)


def base_name(url: str) -> str:
    """Return the last part of a path or URL, as text."""
    return printable(re.split(r"[\\/]", without_slash(without_secrets(url)))[-1] or url)


def _unused(name: str, roots: Sequence[Root]) -> str:
    taken = {root.name for root in roots}
    number, candidate = 2, name
    while candidate in taken:
        candidate, number = f"{name}-{number}", number + 1
    return candidate
