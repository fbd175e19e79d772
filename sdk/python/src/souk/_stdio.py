"""Lines in, lines out: the worker's end of the two pipes to the agent."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

LINE_LIMIT = 1 << 20  # Bytes. Requests are names and numbers.
_WAITING_LIMIT = 1_000  # Requests read ahead; beyond them the pipe fills and the agent waits.


@dataclass(frozen=True)
class Request:
    """One line of the agent's, numbered in the order of arrival. `problem` replaces a bad body."""

    number: int
    body: Mapping[str, Any]
    problem: str = ""


class Channel:
    """The requests of the agent and the way to answer them.

    A thread reads ahead, so that `stop` is seen while a request is under way. `stop` concerns all
    requests that came before it and have no answer yet, and none that comes later; so it needs no
    more than the number of the last request read.
    """

    def __init__(self, lines: BinaryIO, answers: BinaryIO) -> None:
        self._lines = lines
        self._answers = answers
        self._waiting: queue.Queue[Request | None] = queue.Queue(_WAITING_LIMIT)
        self._stopped_up_to = 0
        threading.Thread(target=self._read, name="souk-reader", daemon=True).start()

    def next(self) -> Request | None:
        """The next request; None at the end of input."""
        return self._waiting.get()

    def stopped(self, request: Request) -> bool:
        """Has `stop` arrived for this request?"""
        return request.number <= self._stopped_up_to

    def answer(self, body: Mapping[str, Any]) -> None:
        """Answers the request taken last. NaN is not JSON: ValueError is our own mistake."""
        text = json.dumps(body, allow_nan=False, separators=(",", ":"))
        self._answers.write(text.encode() + b"\n")
        self._answers.flush()

    def _read(self) -> None:
        number = 0
        while line := self._lines.readline(LINE_LIMIT):
            request = self._parse(number + 1, line)
            if request.body.get("op") == "stop":
                self._stopped_up_to = number
                continue
            number += 1
            self._waiting.put(request)
        self._waiting.put(None)

    def _parse(self, number: int, line: bytes) -> Request:
        if len(line) == LINE_LIMIT and not line.endswith(b"\n"):
            while (rest := self._lines.readline(LINE_LIMIT)) and not rest.endswith(b"\n"):
                pass
            return Request(number, {}, f"a request of more than {LINE_LIMIT} bytes")
        try:
            body = json.loads(line)
        except (ValueError, RecursionError) as error:
            return Request(number, {}, f"a request that is not JSON: {error}")
        if not isinstance(body, dict):
            return Request(number, {}, "a request that is not a JSON object")
        return Request(number, body)


def take_standard_streams() -> Channel:
    """Claims standard input and output for the protocol, for the rest of the process.

    What anything prints from now on, C libraries and child processes included, goes to standard
    error, which is the job's log; reading standard input gives nothing.
    """
    lines = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    # Only now: what was printed before and lies in the buffer goes to the log as well.
    with contextlib.suppress(AttributeError):  # Somebody replaced sys.stdout: then it is theirs.
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    sys.stdout.flush()
    return Channel(lines, answers)
