"""`RUN~WORKER~SPAN` after the path of a log directory: the address of one trace, as the page has it."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from torch_tb_profiler.lazy_pattern import lazy_pattern

_CODED = lazy_pattern("%(7e|25)", re.IGNORECASE)


class Address(msgspec.Struct, frozen=True):
    """What a path means. worker, span: None if it does not say."""

    path: str
    worker: str | None = None
    span: str | None = None


def address_of(path: str) -> Address:
    """Of `logdir/run~worker~span` or `logdir/run~worker`; whatever is there as it is written is no address.

    A `~` of a name is written %7E and a `%` %25, as in the address of the page.

    >>> address_of("/nowhere/resnet~rank3~1")
    Address(path='/nowhere/resnet', worker='rank3', span='1')
    >>> address_of("/nowhere/~user/run")
    Address(path='/nowhere/~user/run', worker=None, span=None)
    """
    folder, slash, last = path.rpartition("/")
    run, *names = last.split("~")
    if len(names) not in (1, 2) or not all(names) or not (run or slash) or _is_there(path):
        return Address(path)
    worker, span = [_CODED.sub(_decoded, each) for each in [*names, ""]][:2]
    return Address(folder + slash + _CODED.sub(_decoded, run), worker, span or None)


def _decoded(code: re.Match[str]) -> str:
    return "%" if code[1] == "25" else "~"


def _is_there(path: str) -> bool:
    """Only on this machine: of a remote path one had to ask."""
    try:
        return "://" not in path and Path(path).exists()
    except (OSError, ValueError):  # a name that no file can have
        return False
