"""What an answer raises when the values that it is made of are those of no trace."""

from __future__ import annotations

from torch_tb_profiler.trace.column_file import ColumnFileError

_KINDS = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_OWN = __name__.partition(".")[0]


def is_broken(error: Exception) -> bool:
    """Whether an error may be the fault of a file that was made elsewhere, and whose checksums are right.

    Errors of this package are what it says to somebody who has asked for what there is not.
    """
    is_own = type(error).__module__.partition(".")[0] == _OWN
    return isinstance(error, ColumnFileError) or (isinstance(error, _KINDS) and not is_own)
