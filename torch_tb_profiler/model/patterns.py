"""Compile regular expressions that people write, within bounds.

Those that a request brings are what browsers and this server understand alike (docs/tables.md): no recursion, no
references back, no looking around, no flags, and a bound on everything that makes compiling long or deep. Compiling
cannot be stopped, and what an engine keeps while it goes back is only small without these.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence

from torch_tb_profiler.lazy_pattern import lazy_pattern

LONGEST = 1000
#: a pattern takes so many places when what repeats is written out
MOST_PLACES = 1000
#: groups within groups
DEEPEST = 30

_ESCAPE = r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|0(?![0-9])|[bBdDwWsSnrtfv]|[^A-Za-z0-9])"
_TOKEN = lazy_pattern(
    rf"(?P<escape>{_ESCAPE})|(?P<unknown>\\.|\(\?[^:])|(?P<open>\((?:\?:)?)|(?P<close>\))|(?P<set>\[)|(?P<or>\|)"
    r"|(?P<assert>[\^$])|(?P<repeat>(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??)|(?P<dot>\.)|(?P<one>[^\\])",
    re.DOTALL,
)
_MEMBER = lazy_pattern(rf"(?P<end>\])|(?P<escape>{_ESCAPE})|(?P<unknown>\\.)|(?P<one>[^\\])", re.DOTALL)

# As in JavaScript, whatever the alphabet.
_DIGIT, _WORD = "0-9", "0-9A-Za-z_"
_SPACE = r"\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_SETS = {
    **{f"\\{name}": f"[{members}]" for name, members in (("d", _DIGIT), ("w", _WORD), ("s", _SPACE))},
    **{f"\\{name}": f"[^{members}]" for name, members in (("D", _DIGIT), ("W", _WORD), ("S", _SPACE))},
}
_ASSERTS = {
    "^": r"\A",
    "$": r"\Z",
    "\\b": f"(?:(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}]))",
    "\\B": f"(?:(?<=[{_WORD}])(?=[{_WORD}])|(?<![{_WORD}])(?![{_WORD}]))",
}
_CONTROLS = {"\\n": "\n", "\\r": "\r", "\\t": "\t", "\\f": "\f", "\\v": "\v", "\\0": "\0"}


class PatternError(ValueError):
    """The pattern is invalid, unsupported, or too slow; the message says which."""


def translate_pattern(source: str) -> str:
    """Translate a pattern to the same one for `regex`, which knows more. Raises PatternError."""
    if len(source) > LONGEST:
        raise PatternError(f"it is longer than {LONGEST} characters")
    parts: list[str] = []
    # Places of each open group, the outermost first, and of the last thing that can repeat; 0 for none.
    groups, last = [0], 0
    place = 0
    while place < len(source):
        token = _TOKEN.match(source, place)
        if token is None:
            raise PatternError("it ends too early")
        kind, text = str(token.lastgroup), token[0]
        place = token.end()
        if kind == "unknown":
            raise PatternError(f"{text} is not supported")
        if kind == "repeat":
            if not last:
                raise PatternError("nothing to repeat")
            groups[-1] += last * (_most(text) - 1)
            last = 0
        elif kind == "open":
            groups.append(0)
            last = 0
            if len(groups) > DEEPEST + 1:
                raise PatternError(f"it has groups within groups more than {DEEPEST} deep")
        elif kind == "close":
            if len(groups) == 1:
                raise PatternError("unmatched ')'")
            last = max(groups.pop(), 1)
            groups[-1] += last
        elif kind in ("or", "assert") or text in _ASSERTS:
            text, last = _ASSERTS.get(text, text), 0
        else:
            if kind == "set":
                text, place = _set(source, place)
            elif kind == "dot":
                text = r"[^\n\r\u2028\u2029]"
            else:
                text = _SETS.get(text) or re.escape(_character(text))
            groups[-1] += 1
            last = 1
        if groups[-1] > MOST_PLACES:
            raise PatternError("it is too long with its repetitions written out")
        parts.append(text)
    if len(groups) > 1:
        raise PatternError("unterminated group")
    return "".join(parts)


def _most(repeat: str) -> int:
    """Return how often something stands there when it is written out."""
    counts = [int(count) for count in re.findall("[0-9]+", repeat)]
    if counts != sorted(counts):
        raise PatternError(f"numbers out of order in {repeat}")
    return max(counts, default=1)


def _set(source: str, place: int) -> tuple[str, int]:
    """Translate what stands between brackets, from behind the first on; return it and its end."""
    begin = "["
    if source.startswith("^", place):
        begin, place = "[^", place + 1
    members: list[str] = []
    while (token := _MEMBER.match(source, place)) is not None:
        place = token.end()
        if token.lastgroup == "end":
            if not members:
                return ("(?:(?!))" if begin == "[" else r"[\s\S]"), place
            return f"{begin}{''.join(_ranges(members))}]", place
        if token.lastgroup == "unknown" or token[0] == "\\B":
            raise PatternError(f"{token[0]} is not supported")
        members.append(token[0])
    raise PatternError("unterminated character set")


def _ranges(members: Sequence[str]) -> list[str]:
    ranges: list[str] = []
    place = 0
    while place < len(members):
        low, *rest = members[place : place + 3]
        if len(rest) == 2 and rest[0] == "-" and low not in _SETS and rest[1] not in _SETS:
            first, last = _character(low, "\b"), _character(rest[1], "\b")
            if last < first:
                raise PatternError("range out of order in character class")
            ranges.append(f"{_in_set(first)}-{_in_set(last)}")
            place += 3
        else:
            ranges.append(_SETS.get(low) or _in_set(_character(low, "\b")))
            place += 1
    return ranges


def _in_set(character: str) -> str:
    return f"\\U{ord(character):08x}"


def _character(text: str, b: str = "b") -> str:
    """Return what a character or an escape stands for; `b`: for the escape of that letter."""
    if text[0] != "\\" or len(text) == 1:
        return text
    if text[1] in "xu":
        return chr(int(text.lstrip("\\xu"), 16))
    return b if text == "\\b" else _CONTROLS.get(text, text[1])


__all__ = ["PatternError", "SlowPattern", "TimedPattern", "check_pattern", "searcher"]

#: most characters of a pattern that a message quotes
_SHOWN = 100


class SlowPattern(ValueError):
    """Matching takes longer than it may."""


class TimedPattern:
    """Raises PatternError for what is not a regular expression of `pattern_grammar`."""

    def __init__(self, source: str, ignore_case: bool = False) -> None:
        # takes two megabytes in every process, and few people write patterns
        import regex

        self._source = source
        # V1: sets within sets; without (?-f) ß would also be ss.
        known = f"(?V1)(?-f){translate_pattern(source)}"
        try:
            self._compiled = regex.compile(known, regex.IGNORECASE if ignore_case else 0)
        except (regex.error, OverflowError, RecursionError, MemoryError) as error:
            raise PatternError(str(error) or "it is too deep") from None

    def matcher(self, seconds: float) -> Callable[[str], bool]:
        """Return a function that tells whether the pattern matches a text; its calls share a time limit in seconds.

        The function raises SlowPattern. Other threads run meanwhile.
        """
        until = time.monotonic() + seconds
        search = self._compiled.search

        def found(text: str) -> bool:
            try:
                return search(text, timeout=max(until - time.monotonic(), 1e-3), concurrent=True) is not None
            except (TimeoutError, MemoryError):
                raise SlowPattern(f"{_shown(self._source)} takes too long to match") from None

        return found


def check_pattern(pattern: str) -> None:
    """Raise PatternError, with the reason, for a text that is no allowed regular expression."""
    _timed(pattern)


def searcher(pattern: str, seconds: float, ignore_case: bool = False) -> Callable[[str], bool]:
    """Tells whether a pattern is found in a text. All calls together may take `seconds`, from now on.

    Raises PatternError for what is not a regular expression that is taken; what is returned raises SlowPattern.
    """
    return _timed(pattern, ignore_case).matcher(seconds)


def _timed(pattern: str, ignore_case: bool = False) -> TimedPattern:
    try:
        return TimedPattern(pattern, ignore_case)
    except PatternError as error:
        raise PatternError(f"{_shown(pattern)} is not a regular expression that is known here: {error}") from None


def _shown(pattern: str) -> str:
    return repr(pattern if len(pattern) <= _SHOWN else f"{pattern[:_SHOWN]}…")
