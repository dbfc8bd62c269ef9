"""Files of other programs that lie beside traces: what they are called, and what opens them today.

One table, for directories and for files that are named in a command. The first format whose marks are all among the
first bytes of a file is its; formats that begin like others stand before these.
"""

from __future__ import annotations

import re

import msgspec

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.words.sentences import because

_Mark = re.Pattern[bytes]


class OtherFormat(msgspec.Struct, frozen=True):
    """A format. marks: all are found in the first bytes; kind: of the reason that a user sees."""

    kind: str
    marks: tuple[_Mark, ...]

    def is_that_of(self, text: bytes) -> bool:
        return all(mark.search(text) for mark in self.marks)


def _format(kind: str, *marks: bytes) -> OtherFormat:
    return OtherFormat(kind, tuple(lazy_pattern(mark, re.DOTALL) for mark in marks))


#: length of a message of protocol buffers behind the tag of its field
_LENGTH = rb"[\x80-\xff]{0,4}[\x00-\x7f]"

#: by what a file begins with
_BEGINNINGS = (
    _format(
        "packed_xz",
        rb"\A\xfd7zXZ\0",
    ),
    _format(
        "packed_bzip2",
        rb"\ABZh[1-9](?:1AY&SY|\x17rE8P\x90)",
    ),
    _format(
        "packed_lz4",
        rb"\A\x04\x22\x4d\x18",
    ),
    _format("zip", rb"\APK(?:\x03\x04|\x05\x06)"),
    _format("tar", rb"\A.{257}ustar"),
    _format(
        "nsys_sqlite",
        rb"\ASQLite format 3\0",
        rb"CUPTI_ACTIVITY_KIND_|META_DATA_EXPORT|TARGET_INFO_",
    ),
    _format(
        "rocpd",
        rb"\ASQLite format 3\0",
        rb"rocpd_",
    ),
    _format("sqlite", rb"\ASQLite format 3\0"),
    _format(
        "ncu",
        rb"\ANVR\0",
    ),
    _format(
        "xplane",
        rb"\A\x0a" + _LENGTH + rb"(?:\x08" + _LENGTH + rb")?\x12[\x01-\x7f](?:/\w+:|Task)",
    ),
    _format(
        "chakra_protobuf",
        rb"\A[\x02-\x7f]\x0a[\x01-\x20]\d+\.\d+\.\d+",
    ),
    _format(
        "perfetto",
        rb"\A\x0a"
        + _LENGTH
        + rb"(?:[\x40\x50]|\xe2\x03|\x8a\x02|[\x32\x62\x5a]"
        + _LENGTH
        + rb"[\x08\x0a\x10\x12\x1a])",
    ),
    _format(
        "flight_recorder",
        rb"\A\x80[\x02-\x05](?:\x95.{8})?\}(?:\x94|q.|r.{4})?\(.{0,64}?(?:\x8c.|X.{4})"
        rb"(?:version|entries|pg_config|pg_status|nccl_version|comm_lib_version|nccl_comm_state)",
    ),
)

#: has traceEvents, too, but in words of its own
ROCPROF = _format(
    "rocprof",
    rb'"BeginNs"\s*:',
    rb'"EndNs"\s*:',
)

#: by keys of a JSON object without traceEvents
_OBJECTS = (
    _format(
        "chakra",
        rb'\A\{\s*"schema"\s*:\s*"',
        rb'"nodes"\s*:\s*\[',
    ),
    _format(
        "memory_snapshot",
        rb'"segments"\s*:',
        rb'"(?:device_traces|allocated_size|allocator_settings)"\s*:',
    ),
    _format(
        "rocprofv3",
        rb'"rocprofiler-sdk-[a-z]+"\s*:',
    ),
    _format(
        "speedscope",
        rb'"\$schema"\s*:\s*"https?://(?:www\.)?speedscope\.app',
    ),
    _format(
        "flight_recorder",
        rb'"pg_config"\s*:',
        rb'"(?:entries|pg_status|nccl_version|comm_lib_version)"\s*:',
    ),
    _format(
        "nccl_inspector",
        rb'\A\{\s*"header"\s*:\s*\{[^{}]*"n_ranks"\s*:',
    ),
)

#: by the first line of a text
_LINES = (
    _format(
        "torch_trace_log",
        rb"\AV\d{4} \d\d:\d\d:\d\d[^\n]*\] \{",
    ),
    _format(
        "metrics",
        rb"\A# (?:HELP|TYPE) [A-Za-z_:]",
    ),
    _format(
        "nvidia_smi",
        rb"\A(?:timestamp|index|name|uuid), [^\n]*"
        rb"(?:power\.draw|utilization\.gpu|clocks\.|temperature\.gpu|memory\.used)",
    ),
    _format(
        "collapsed_stacks",
        rb"\A(?:[^;\n]{1,1000};){1,500}[^;\n]{1,1000} \d+\r?(?:\n(?:[^\n]+ \d+\r?(?:\n|\Z)|\Z)|\Z)",
    ),
)

#: file extensions of other formats, which are looked at in a directory; what is none of them is not listed
_EXTENSIONS = lazy_pattern(
    r"\.(?:(?:pftrace|perfetto-trace|sqlite3?|db|nsys-rep|qdrep|qdstrm|ncu-rep|pb|et|tar|tgz|zip|xz|bz2|lz4|prom|txt|log"
    r"|csv|jsonl|bin|html?)(?:\.gz|\.zst)?|gz|zst)\Z",
    re.IGNORECASE,
)
#: by the extension, because their first bytes are not public
_BY_NAME = (
    (
        lazy_pattern(r"\.(?:nsys-rep|qdrep|qdstrm)\Z", re.IGNORECASE),
        "nsys_report",
    ),
    (lazy_pattern(r"\.ncu-rep\Z", re.IGNORECASE), "ncu"),
)


#: kinds of the reasons above
KINDS = frozenset(form.kind for form in (*_BEGINNINGS, *_OBJECTS, *_LINES, ROCPROF))


def may_be_other(name: str) -> bool:
    """Return whether the name of a file is that of another program's profile, or of an archive."""
    return _EXTENSIONS.search(name) is not None


def other_format(text: bytes) -> Reason | None:
    """Name a file that is neither a trace of torch.profiler nor a memory snapshot; None if unknown.

    text: its first bytes, unpacked once
    """
    formats = _OBJECTS if text.startswith(b"{") else (*_BEGINNINGS, *_LINES)
    return next((because(form.kind) for form in formats if form.is_that_of(text)), None)


def other_by_name(name: str) -> Reason | None:
    """Name another format by the name of a file whose content is unknown; None if it says nothing."""
    return next((because(kind) for ending, kind in _BY_NAME if ending.search(name)), None)


#: what a text begins with that cannot be JSON
_NO_JSON_BEGINS_WITH = {
    b"\xff\xfe": "utf16",
    b"\xfe\xff": "utf16",
    b"{\0": "utf16",
    b"\0{": "utf16",
    b"[\0": "utf16",
    b"\0[": "utf16",
    b"\x1f\x8b": "packed_twice",
    b"\x28\xb5": "packed_twice",
}


def not_json(text: bytes) -> Reason:
    """Return why a text is not JSON, as far as its first bytes say."""
    return because(_NO_JSON_BEGINS_WITH.get(text[:2], "not_json"))
