"""A Redis for a test."""
import os
import subprocess
import tempfile

from ports import free_ports
from souk import DEADLINE_S, wait_for


class Redis:
    def __init__(self, test):
        handle, self.log = tempfile.mkstemp(prefix="souk-redis-")
        os.close(handle)
        self.process = None
        test.addCleanup(os.remove, self.log)
        test.addCleanup(self.end)
        wait_for(self.started, "Redis")

    def started(self):
        """A port that was free a moment ago may have been taken since: then another is tried."""
        if self.process is None or self.process.poll() is not None:
            self.port = free_ports(1)[0]
            with open(self.log, "wb") as log:
                self.process = subprocess.Popen(["redis-server", "--port", str(self.port), "--bind", "127.0.0.1",
                                                 "--save", "", "--appendonly", "no"], stdout=log, stderr=log)
        with open(self.log, encoding="utf-8") as log:
            return "Ready to accept connections" in log.read()  # Another program may listen at the port.

    def end(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait(DEADLINE_S)


def start_redis(test):
    """A Redis that ends with the test; its URL."""
    return f"redis://127.0.0.1:{Redis(test).port}/0"
