"""A line between agents and a market on which the reports of units go at the test's pace."""
import math
import re
import threading

from line import Line

REPORT = re.compile(rb"POST /v1/leases/[^/ ]+/units/\d+[ ?]")


class Gate(Line):
    """Agents that are given its `url` as their server compute as they do, but each report of a unit takes
    `seconds` more, or waits until it is let through. All else passes at once."""

    def __init__(self, test, port, seconds=0, closed=False):
        self.seconds = seconds  # May change.
        self.passed, self.waiting = 0, 0  # Reports.
        self.allowed = 0 if closed else math.inf
        self.changed = threading.Condition()
        super().__init__(test, port)

    def let_one(self):
        """Lets one report through, if one waits."""
        with self.changed:
            if self.waiting:
                self.allowed = self.passed + 1
                self.changed.notify()

    def open(self):
        with self.changed:
            self.allowed = math.inf
            self.changed.notify_all()

    def close(self):
        super().close()
        self.open()

    def pump(self, source, sink, counted):
        super().pump(source, sink if counted else _Reports(self, sink), counted)

    def await_turn(self):
        self.over.wait(self.seconds)
        with self.changed:
            self.waiting += 1
            self.changed.wait_for(lambda: self.passed < self.allowed)
            self.waiting -= 1
            self.passed += 1
        if self.over.is_set():
            raise OSError("the test is over")


class _Reports:
    """The market's end of a connection. An agent asks one thing after the other, so a request is the
    beginning of what arrives."""

    def __init__(self, gate, sink):
        self.gate, self.sink = gate, sink
        self.shutdown = sink.shutdown

    def sendall(self, data):
        if REPORT.match(data):
            self.gate.await_turn()
        self.sink.sendall(data)
