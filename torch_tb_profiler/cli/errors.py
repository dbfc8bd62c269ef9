"""Errors that a user can cause."""

from __future__ import annotations


class UserError(Exception):
    """Printed without a traceback; the process ends with `exit_code`."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code
