"""The one exception of this package."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """Something a user, a file or a server caused, in words.

    `code` is what programs branch on: `invalid`, `unauthenticated`, `forbidden`, `not_found`,
    `conflict`, `too_large`, `exhausted`, `internal`, `damaged` or `unavailable`, as in the server's
    own answers. `hint` says what would help, `field` which field of a request is meant.
    """

    def __init__(self, code: str, message: str, hint: str = "", field: str = "") -> None:
        super().__init__(code, message, hint, field)
        self.code = code
        self.message = message
        self.hint = hint
        self.field = field

    def __str__(self) -> str:
        where = f"{self.field}: " if self.field else ""
        return where + self.message + (f" ({self.hint})" if self.hint else "")


def invalid(message: Any, hint: str = "", field: str = "") -> Error:
    """The error for input that cannot be accepted."""
    return Error("invalid", str(message), hint, field)
