"""Small text (packed, a few kilobytes) that costs a careless reader hours or gigabytes."""

from __future__ import annotations

from collections.abc import Callable

_EVENT = b'{"ph":"X","cat":"cpu_op","name":"aten::op","pid":1,"tid":1,"ts":1000,"dur":5}'
_HEAD = b'{"schemaVersion":1,"traceEvents":['


def _many(pattern: bytes, size: int) -> bytes:
    """Events that are numbered, so that each has something that is new."""
    count = size // (len(pattern) + 4)
    return _HEAD + b",".join(pattern.replace(b"#", b"%d" % number) for number in range(count)) + b"]}"


def _between(text: bytes) -> bytes:
    return _HEAD + _EVENT + b"," + text + _EVENT + b"]}"


#: name → text of about so many bytes
BOMBS: dict[str, Callable[[int], bytes]] = {
    "brackets": lambda n: _HEAD + b"[" * n,
    "brackets that close": lambda n: _HEAD + _EVENT + b"," + b"[" * (n // 2) + b"]" * (n // 2) + b"]}",
    "nested objects": lambda n: _HEAD + b'{"a":' * (n // 5),
    "a string without an end": lambda n: _HEAD + b'{"name":"' + b"x" * n,
    "escaped quotes": lambda n: _HEAD + b'{"name":"' + b'\\"' * (n // 2),
    "a long name": lambda n: _HEAD + b'{"ph":"X","ts":1,"dur":1,"name":"' + b"x" * n + b'"}]}',
    "empty objects": lambda n: _HEAD + b"{}," * (n // 3) + _EVENT + b"]}",
    "a long number": lambda n: _HEAD + b'{"ts":' + b"9" * n + b"}]}",
    "commas": lambda n: _between(b"," * n),
    "backslashes": lambda n: _HEAD + b'{"name":"' + b"\\" * (n // 2 * 2) + b'"}]}',
    "backslashes, odd": lambda n: _HEAD + b'{"name":"' + b"\\" * (n // 2 * 2 + 1) + b'"}]}',
    "blanks": lambda n: _between(b" " * n),
    "blanks and damage": lambda n: _between(b"{}" + b" " * n + b"x"),
    "zeros": lambda n: _between(b"\0" * n),
    "not UTF-8": lambda n: _between(b"\xff" * (n // 4)),
    "quotes": lambda n: _between(b'"' * n),
    "empty strings": lambda n: _between(b'"",' * (n // 3)),
    "numbers": lambda n: _between(b"1," * (n // 2)),
    "bare words": lambda n: _between(b"NaN," * (n // 4)),
    "bare words in events": lambda n: _between(b'{"ts":NaN},' * (n // 11)),
    "a deep header": lambda n: b'{"a":' + b"[" * n + b',"traceEvents":[' + _EVENT + b"]}",
    "a long header": lambda n: b'{"a":"' + b"x" * n + b'","traceEvents":[' + _EVENT + b"]}",
    "a tail without an end": lambda n: _HEAD + _EVENT + b'],"a":"' + b"x" * n,
    "a deep tail": lambda n: _HEAD + _EVENT + b'],"a":' + b"[" * n,
    "events without an end": lambda n: _HEAD + b'{"ph":"X","name":"a"' * (n // 20),
    "no commas": lambda n: _HEAD + (_EVENT + b";") * (n // len(_EVENT)) + b"]}",
    "strings that do not close": lambda n: _HEAD + (_EVENT[:-1] + b',"x":"},') * (n // len(_EVENT)) + b"]}",
    "half escapes": lambda n: _HEAD + b'{"name":"' + b"\\u0" * (n // 3) + b'"}]}',
    "half surrogates": lambda n: _HEAD + b'{"name":"' + b"\\ud800" * (n // 6) + b'"}]}',
    "names": lambda n: _many(b'{"ph":"X","ts":1,"dur":1,"name":"#"}', n),
    "processes": lambda n: _many(b'{"ph":"X","ts":1,"dur":1,"pid":"#"}', n),
    "categories": lambda n: _many(b'{"ph":"X","ts":1,"dur":1,"cat":"#"}', n),
    "phases": lambda n: _many(b'{"ph":"#","ts":1,"dur":1}', n),
    "odd fields": lambda n: _many(b'{"ph":"X","ts":[],"dur":"x#"}', n),
    "one key again and again": lambda n: _HEAD + b"{" + b'"name":"a",' * (n // 11) + b'"ph":"X"}]}',
    "many arguments": lambda n: _HEAD + b'{"ph":"X","args":{' + b'"k":1,' * (n // 6) + b'"l":1}}]}',
}
