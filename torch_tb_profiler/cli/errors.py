"""Errors that a user can cause, and what the process ends with."""

from __future__ import annotations

#: only `check`: a limit was broken
REGRESSED = 1
#: wrong usage, and input that is missing, unreadable or not what it should be
BAD_INPUT = 2
#: `check` cannot tell, or `doctor` has found errors in a trace
UNSOUND = 3
#: our own fault; Python ends with 1, which would read as a regression
OUR_FAULT = 70
INTERRUPTED = 130
#: the reader of the output has closed the pipe
CLOSED_PIPE = 141


class UserError(Exception):
    """Printed without a traceback; the process ends with `exit_code`."""

    def __init__(self, message: str, exit_code: int = BAD_INPUT) -> None:
        super().__init__(message)
        self.exit_code = exit_code
