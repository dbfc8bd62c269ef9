"""Numbers that a trace tells as text."""

from __future__ import annotations

from torch_tb_profiler.lazy_pattern import lazy_pattern

#: fits in 64 bits; Python itself refuses thousands of digits, and takes other digits than these for digits
_WHOLE = lazy_pattern(r"[0-9]{1,18}")


def whole_number(text: str) -> int | None:
    """The number that a text is, blanks around it aside; None of any other text.

    >>> whole_number(" 12"), whole_number("²"), whole_number("9" * 19), whole_number("-1")
    (12, None, None, None)
    """
    found = _WHOLE.fullmatch(text.strip())
    return None if found is None else int(found[0])
