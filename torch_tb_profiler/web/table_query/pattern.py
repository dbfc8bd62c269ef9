"""Regular expressions whose cost is bounded: what people write in a filter, without what needs backtracking.

Python's `re` can take ages for a few characters, and cannot be stopped. This searches in one pass over the text, many
texts at a time. It knows what docs/tables.md lists; all else is refused, and the UI refuses the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from torch_tb_profiler.trace.schema import Bool, Int64

LONGEST = 200
#: a pattern takes so many places when what repeats is written out
MOST_PLACES = 1000
#: sets of places that a search may come through
MOST_STATES = 2000
#: characters that one search looks at; a second or two
MOST_TEXT = 100_000_000

_CHUNK = 1_000_000
_FEW = 16

Range = tuple[int, int]
Assertion = Literal["start", "end", "boundary", "inside"]

_DIGIT: tuple[Range, ...] = ((48, 57),)
_WORD: tuple[Range, ...] = ((48, 57), (65, 90), (95, 95), (97, 122))
#: as in JavaScript
_SPACE: tuple[Range, ...] = tuple(
    (ord(low), ord(high))
    for low, high in (
        ("\t", "\r"),
        (" ", " "),
        ("\xa0", "\xa0"),
        ("\u1680", "\u1680"),
        ("\u2000", "\u200a"),
        ("\u2028", "\u2029"),
        ("\u202f", "\u202f"),
        ("\u205f", "\u205f"),
        ("\u3000", "\u3000"),
        ("\ufeff", "\ufeff"),
    )
)
_LINE_END: tuple[Range, ...] = ((10, 10), (13, 13), (0x2028, 0x2029))
_ASSERTIONS: dict[str, Assertion] = {"^": "start", "$": "end", "\\b": "boundary", "\\B": "inside"}
_CONTROL = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11}


class PatternError(ValueError):
    """It is no regular expression, or none that is known here; the message says why."""


@dataclass(frozen=True)
class _Set:
    """Characters: those of any part, or with `negated` all others. A part may itself be all but its ranges."""

    parts: tuple[tuple[tuple[Range, ...], bool], ...]
    negated: bool = False

    def holds(self, character: str) -> bool:
        """In any case."""
        return self._holds(character) != self.negated

    def _holds(self, character: str) -> bool:
        variants = {ord(each) for each in (character, character.lower(), character.upper()) if len(each) == 1}
        return any(
            any(low <= code <= high for low, high in ranges for code in variants) != outside
            for ranges, outside in self.parts
        )


@dataclass
class _Place:
    """Of the automaton: it reads a character, asks for a condition, forks (without either), or is the end."""

    next: list[int]
    reads: _Set | None = None
    asks: Assertion | None = None


@dataclass(frozen=True)
class _Any:
    """Alternatives."""

    branches: tuple[_Node, ...]


@dataclass(frozen=True)
class _All:
    """One after the other."""

    parts: tuple[_Node, ...]


@dataclass(frozen=True)
class _Repeat:
    inside: _Node
    least: int
    most: int | None


_Node: TypeAlias = "_Set | Assertion | _Any | _All | _Repeat"


class _Parser:
    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0
        self.places: list[_Place] = []

    def parse(self) -> int:
        """Returns where it begins; place 0 is the end."""
        self.places = [_Place([])]
        tree = self._alternatives()
        if self._at < len(self._source):
            self._fail("unmatched ')'")
        return self._build(tree, 0)

    # reading -------------------------------------------------------------------------------------------------

    def _fail(self, why: str) -> NoReturn:
        raise PatternError(f"{why}: {self._source}")

    def _peek(self) -> str:
        return self._source[self._at : self._at + 1]

    def _take(self, text: str) -> bool:
        if self._source.startswith(text, self._at):
            self._at += len(text)
            return True
        return False

    def _next(self) -> str:
        character = self._peek()
        if not character:
            self._fail("it ends too early")
        self._at += 1
        return character

    def _alternatives(self) -> _Any:
        branches = [self._sequence()]
        while self._take("|"):
            branches.append(self._sequence())
        return _Any(tuple(branches))

    def _sequence(self) -> _All:
        parts: list[_Node] = []
        while self._peek() not in ("", "|", ")"):
            atom = self._atom()
            bounds = self._bounds()
            if bounds is not None:
                if isinstance(atom, str):
                    self._fail("nothing to repeat")
                atom = _Repeat(atom, *bounds)
                self._take("?")  # as few as possible: of whether it matches, the same
                if self._bounds() is not None:
                    self._fail("nothing to repeat")
            parts.append(atom)
        return _All(tuple(parts))

    def _bounds(self) -> tuple[int, int | None] | None:
        for sign, least, most in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if self._take(sign):
                return least, most
        close = self._source.find("}", self._at)
        if self._peek() != "{" or close < 0:
            return None
        low, comma, high = self._source[self._at + 1 : close].partition(",")
        if not _is_number(low) or (high and not _is_number(high)):
            return None  # a brace that means itself
        self._at = close + 1
        least, most = int(low), int(high) if high else None if comma else int(low)
        if most is not None and most < least:
            self._fail("numbers out of order in {} quantifier")
        return least, most

    def _atom(self) -> _Node:
        if self._bounds() is not None:
            self._fail("nothing to repeat")
        character = self._next()
        if character == "(":
            if self._peek() == "?" and not self._take("?:"):
                self._fail("groups that begin with (? are not known here, except (?:")
            inside = self._alternatives()
            if not self._take(")"):
                self._fail("unterminated group")
            return inside
        if character == "[":
            return self._class()
        if character == ".":
            return _Set(((_LINE_END, False),), negated=True)
        if character == "\\":
            return self._escape()
        return _ASSERTIONS.get(character) or _one(ord(character))

    def _escape(self) -> _Node:
        asked = _ASSERTIONS.get("\\" + self._peek())
        if asked is not None:
            self._at += 1
            return asked
        found = self._escaped()
        return found if isinstance(found, _Set) else _one(found)

    def _escaped(self) -> _Set | int:
        """What stands after a backslash: a set, or the code of one character."""
        character = self._next()
        named = {"d": _DIGIT, "w": _WORD, "s": _SPACE}.get(character.lower())
        if named is not None and character.isascii():
            return _Set(((named, character.isupper()),))
        if character in _CONTROL:
            return _CONTROL[character]
        if character in ("x", "u"):
            digits = self._source[self._at : self._at + (2 if character == "x" else 4)]
            if len(digits) == (2 if character == "x" else 4) and all(d in "0123456789abcdefABCDEF" for d in digits):
                self._at += len(digits)
                return int(digits, 16)
        elif character == "0" and not _is_number(self._peek()):
            return 0
        if character.isascii() and character.isalnum():
            self._fail(f"\\{character} is not known here")
        return ord(character)

    def _class(self) -> _Set:
        negated = self._take("^")
        parts: list[tuple[tuple[Range, ...], bool]] = []
        while not self._take("]"):
            low = self._member()
            if self._peek() == "-" and self._source[self._at + 1 : self._at + 2] not in ("]", ""):
                self._at += 1
                high = self._member()
                if isinstance(low, int) and isinstance(high, int):
                    if high < low:
                        self._fail("range out of order in character class")
                    parts.append((((low, high),), False))
                    continue
                parts += [*_parts(45), *_parts(high)]
            parts += _parts(low)
        return _Set(tuple(parts), negated)

    def _member(self) -> _Set | int:
        character = self._next()
        if character != "\\":
            return ord(character)
        return 8 if self._take("b") else self._escaped()

    # building ------------------------------------------------------------------------------------------------

    def _new(self, place: _Place) -> int:
        if len(self.places) >= MOST_PLACES:
            self._fail("it is too long with its repetitions written out")
        self.places.append(place)
        return len(self.places) - 1

    def _build(self, node: _Node, after: int) -> int:
        """Where to begin in order to come to `after` through the node."""
        if isinstance(node, _Set):
            return self._new(_Place([after], reads=node))
        if isinstance(node, _Any):
            return self._new(_Place([self._build(branch, after) for branch in node.branches]))
        if isinstance(node, _All):
            for part in reversed(node.parts):
                after = self._build(part, after)
            return after
        if isinstance(node, _Repeat):
            return self._build_repeat(node, after)
        return self._new(_Place([after], asks=node))

    def _build_repeat(self, node: _Repeat, after: int) -> int:
        if node.most is None:
            again = self._new(_Place([after]))
            self.places[again].next.append(self._build(node.inside, again))
            after = again
        else:
            end = after
            for _ in range(node.most - node.least):
                after = self._new(_Place([end, self._build(node.inside, after)]))
        for _ in range(node.least):
            after = self._build(node.inside, after)
        return after


def _one(code: int) -> _Set:
    return _Set(((((code, code),), False),))


def _parts(member: _Set | int) -> Iterable[tuple[tuple[Range, ...], bool]]:
    return member.parts if isinstance(member, _Set) else ((((member, member),), False),)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


_WORDS = _Set(((_WORD, False),))
_MATCHED = 0


class Pattern:
    """A regular expression, to be found in any case. Raises PatternError.

    States are sets of places, made when they are first come to; state 0 is "found".
    """

    def __init__(self, source: str) -> None:
        if len(source) > LONGEST:
            raise PatternError(f"it is longer than {LONGEST} characters")
        self._source = source
        parser = _Parser(source)
        begin = parser.parse()
        self._places = parser.places
        self._begin = begin
        self._boundaries = any(place.asks in ("boundary", "inside") for place in self._places)
        # of characters: those that no set tells apart are of one class
        self._class_of = np.full(128, -1, np.int16)
        self._class_with: dict[tuple[bool, ...], int] = {}
        self._signatures: list[tuple[bool, ...]] = []
        self._sets = list({place.reads: None for place in self._places if place.reads is not None})
        self._number = {charset: number for number, charset in enumerate(self._sets)}
        # of sets of places
        self._states: list[tuple[frozenset[int], str]] = [(frozenset(), "")]
        self._state_of: dict[tuple[frozenset[int], str], int] = {}
        self._ends: dict[int, bool] = {_MATCHED: True}
        self._steps = np.full((16, 16), -1, np.int32)
        self._steps[_MATCHED] = _MATCHED
        self._first = self._state(frozenset([begin]), "start")

    def search(self, texts: Sequence[str]) -> Bool:
        """In which of the texts, given in small letters, it is found. Raises PatternError for too much work."""
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        if int(lengths.sum()) > MOST_TEXT:
            raise PatternError("the column has too much text for a regular expression")
        found = np.zeros(len(texts), np.bool_)
        for first, after in _chunks(lengths):
            found[first:after] = self._search(texts[first:after], lengths[first:after])
        return found

    def _search(self, texts: Sequence[str], lengths: Int64) -> Bool:
        """All texts at once, a character of each at a time: the longest first, so that those at work are the first."""
        classes = self._classes("".join(texts))
        start = np.cumsum(lengths) - lengths
        order = np.argsort(-lengths, kind="stable")
        state = np.full(len(texts), self._first, np.int32)
        at, left, active = start[order], lengths[order], order
        done = 0
        while len(active):
            if done % 32 == 0:
                open_ones = state[active] != _MATCHED
                at, left, active = at[open_ones], left[open_ones], active[open_ones]
            working = int(np.searchsorted(-left, -done))
            at, left, active = at[:working], left[:working], active[:working]
            if working <= _FEW:
                for text, begin, length in zip(active.tolist(), at.tolist(), left.tolist(), strict=True):
                    state[text] = self._walk(int(state[text]), classes[begin + done : begin + length].tolist())
                break
            state[active] = self._step(state[active], classes[at + done])
            done += 1
        ends, place = np.unique(state, return_inverse=True)
        matches: Bool = np.array([self._ends_well(number) for number in ends.tolist()], np.bool_)[place.reshape(-1)]
        return matches

    def _walk(self, state: int, classes: list[int]) -> int:
        for number in classes:
            if state == _MATCHED:
                break
            step = int(self._steps[state, number])
            state = step if step >= 0 else self._next(state, number)
        return state

    def _step(self, state: npt.NDArray[np.int32], classes: npt.NDArray[np.int16]) -> npt.NDArray[np.int32]:
        found: npt.NDArray[np.int32] = self._steps[state, classes]
        unknown = np.flatnonzero(found < 0)
        if len(unknown):
            for before, number in set(zip(state[unknown].tolist(), classes[unknown].tolist(), strict=True)):
                self._next(before, number)
            found = self._steps[state, classes]
        return found

    def _next(self, state: int, number: int) -> int:
        """The state after a character of a class."""
        signature = self._signatures[number]
        is_word = signature[-1]
        places, before = self._states[state]
        come_to = self._reach(places, before, "word" if is_word else "other")
        if come_to is None:
            after = _MATCHED
        else:
            read = frozenset(p.next[0] for p in come_to if signature[self._number[p.reads]])  # type: ignore[index]
            kind = "word" if self._boundaries and is_word else "other"
            # it may also begin here
            after = self._state(read | {self._begin}, kind)
        self._steps[state, number] = after
        return after

    def _ends_well(self, state: int) -> bool:
        if state not in self._ends:
            places, before = self._states[state]
            self._ends[state] = self._reach(places, before, "end") is None
        return self._ends[state]

    def _reach(self, places: frozenset[int], before: str, after: str) -> list[_Place] | None:
        """The reading places that are come to without reading, or None when the end is among them."""
        at_boundary = (before == "word") != (after == "word")
        holds = {"start": before == "start", "end": after == "end", "boundary": at_boundary, "inside": not at_boundary}
        seen, waiting, reading = set(places), list(places), []
        while waiting:
            number = waiting.pop()
            if number == 0:
                return None
            place = self._places[number]
            if place.reads is not None:
                reading.append(place)
            elif place.asks is None or holds[place.asks]:
                new = [n for n in place.next if n not in seen]
                seen.update(new)
                waiting += new
        return reading

    def _state(self, places: frozenset[int], before: str) -> int:
        known = self._state_of.get((places, before))
        if known is None:
            known = len(self._states)
            if known >= MOST_STATES:
                raise PatternError(f"it is too intricate: {self._source}")
            self._states.append((places, before))
            self._state_of[places, before] = known
            if known >= len(self._steps):
                self._steps = np.concatenate([self._steps, np.full_like(self._steps, -1)])
        return known

    def _classes(self, text: str) -> npt.NDArray[np.int16]:
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        largest = int(codes.max(initial=0))
        if largest >= len(self._class_of):
            more = np.full(largest + 1 - len(self._class_of), -1, np.int16)
            self._class_of = np.concatenate([self._class_of, more])
        classes = self._class_of[codes]
        new = np.flatnonzero(classes < 0)
        if len(new):
            for code in np.unique(codes[new]).tolist():
                self._class_of[code] = self._class(chr(code))
            classes = self._class_of[codes]
        return classes

    def _class(self, character: str) -> int:
        signature = (*(charset.holds(character) for charset in self._sets), _WORDS.holds(character))
        number = self._class_with.setdefault(signature, len(self._signatures))
        if number == len(self._signatures):
            self._signatures.append(signature)
        if number >= self._steps.shape[1]:
            self._steps = np.concatenate([self._steps, np.full_like(self._steps, -1)], axis=1)
            self._steps[_MATCHED] = _MATCHED
        return number


def _chunks(lengths: Int64) -> Iterator[tuple[int, int]]:
    """From where to where to search at once, so that little memory is needed."""
    until = np.cumsum(lengths)
    first = 0
    while first < len(lengths):
        before = int(until[first - 1]) if first else 0
        after = max(int(np.searchsorted(until, before + _CHUNK)), first + 1)
        yield first, after
        first = after
