"""A PostgreSQL server of a test's own: on loopback, in a folder that goes with it."""
import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

from souk import DEADLINE_S, wait_for


def programs():
    """Where PostgreSQL's programs are; None where it is not installed."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    return found[-1] if found else None


needs_postgres = unittest.skipUnless(programs(), "PostgreSQL is not installed")


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Postgres:
    """Ends with the test. `durable`: with fsync, for benchmarks."""

    def __init__(self, test=None, durable=False, settings=()):
        self.folder = tempfile.mkdtemp(prefix="souk-pg-")
        self.port = free_port()
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
                                  stdout=log, stderr=log, check=check, timeout=120).returncode

    def start(self):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(
                [*self.as_user, os.path.join(programs(), "postgres"), "-D", self.data, "-p",
                 str(self.port), "-k", self.folder, *self.flags], stdout=log, stderr=log)
        wait_for(lambda: self._run("pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port),
                                   check=False) == 0, "PostgreSQL", 2 * DEADLINE_S)

    def stop(self, how=signal.SIGINT):
        """SIGINT ends it in order, SIGQUIT like a crash."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(DEADLINE_S)

    def restart(self, how=signal.SIGINT):
        self.stop(how)
        self.start()

    def query(self, sql):
        """The lines that psql prints, columns apart by '|'."""
        done = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", self.url, "-c", sql],
                              capture_output=True, text=True, check=True, timeout=60)
        return done.stdout.splitlines()

    def remove(self):
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)
