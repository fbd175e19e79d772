"""A PostgreSQL server of a test's own: on loopback, in a folder that goes with it."""
import glob
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import unittest

from ports import free_ports
from souk import DEADLINE_S, wait_for


def programs():
    """Where PostgreSQL's programs are; None where it is not installed."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    return found[-1] if found else None


needs_postgres = unittest.skipUnless(programs(), "PostgreSQL is not installed")


class Postgres:
    """Ends with the test. `durable`: with fsync, for benchmarks."""

    def __init__(self, test=None, durable=False, settings=()):
        self.folder = tempfile.mkdtemp(prefix="souk-pg-")
        [self.port] = free_ports(1)
        self.process = None
        self.as_user = []  # It refuses to run as root.
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self.as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        self.data = os.path.join(self.folder, "data")
        self.flags = ["-c", "listen_addresses=127.0.0.1", "-c", "max_wal_size=4GB", "-c",
                      f"fsync={'on' if durable else 'off'}", *settings]
        if test is not None:
            test.addCleanup(self.remove)
        self._run("initdb", "-D", self.data, "-A", "trust", "-U", "souk", "--no-sync", "--no-locale",
                  "-E", "UTF8")
        self.start()
        self.url = f"postgres://souk@127.0.0.1:{self.port}/postgres"

    def _run(self, program, *args, check=True):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            return subprocess.run([*self.as_user, os.path.join(programs(), program), *args],
                                  stdout=log, stderr=log, check=check, timeout=10 * DEADLINE_S).returncode

    def start(self):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(
                [*self.as_user, os.path.join(programs(), "postgres"), "-D", self.data, "-p",
                 str(self.port), "-k", self.folder, *self.flags], stdout=log, stderr=log)
        wait_for(self.ready, "PostgreSQL", 2 * DEADLINE_S)

    def ready(self):
        """Asked of its folder: at its port another's could answer."""
        if self.process.poll() is not None:
            with open(os.path.join(self.folder, "log"), encoding="utf-8") as log:
                raise AssertionError(log.read()[-2000:])
        try:
            with open(os.path.join(self.data, "postmaster.pid"), encoding="utf-8") as file:
                lines = file.read().split("\n")
        except FileNotFoundError:
            return False
        return lines[0] == str(self.process.pid) and len(lines) > 7 and lines[7].strip() == "ready"

    def stop(self, how=signal.SIGINT):
        """SIGINT ends it in order, SIGQUIT like a crash."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(2 * DEADLINE_S)

    def restart(self, how=signal.SIGINT):
        self.stop(how)
        self.start()

    def query(self, sql):
        """The lines that psql prints, columns apart by '|'."""
        done = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", self.url, "-c", sql],
                              capture_output=True, text=True, check=True,
                              timeout=5 * DEADLINE_S)
        return done.stdout.splitlines()

    def remove(self):
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)
