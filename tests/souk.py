"""Helpers for tests that start the real `souk` binary. Standard library only."""
import http.client
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import uuid

SOUK = os.environ.get("SOUK_BIN", os.path.join(os.path.dirname(__file__), "../build/release/bin/souk"))
PASSWORD = "correct horse battery"
DEADLINE_S = 60  # For anything that must happen; nothing is expected to take this long.


def wait_for(condition, what, seconds=DEADLINE_S):
    """Polls `condition` until it is true and returns its value; fails after `seconds`."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"still waiting for {what} after {seconds} s")
        time.sleep(0.02)


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.text = status, headers, body
        self.json = json.loads(body) if body[:1] in ("{", "[") else None


class PortTaken(AssertionError):
    pass


def any_port():
    """Below those that the kernel gives to connections and to programs that ask for any port: nobody gets it by
    chance, also while its server restarts."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
        lowest = int(file.read().split()[0])
    return random.SystemRandom().randrange(10_000, lowest) if lowest > 20_000 else 0


class Server:
    """A `souk serve` process on a free port of loopback."""

    def __init__(self, data, *flags):
        self.data, self.flags, self.process = data, flags, None
        self.port = 0
        self.env = {}  # For the next start.

    def start(self, port=0):
        """Without a port: on one that nobody gets by chance, also while the server restarts."""
        end = time.monotonic() + DEADLINE_S
        while True:
            try:
                return self._start(port or any_port())
            except PortTaken:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)  # By a connection that ends soon, if not by another server.

    def _start(self, port):
        env = {k: v for k, v in os.environ.items() if not k.startswith("SOUK_")} | self.env
        # Most tests lend machines that exist on paper only, and those prove nothing (lending.py: real ones do).
        flags = self.flags
        if "--challenge-every" not in flags:
            flags = (*flags, "--challenge-every", "0s")
        if "--signup-bonus" not in flags:
            flags = (*flags, "--signup-bonus", "0")
        self.log = open(os.path.join(self.data + ".log"), "ab")
        before = self.log.tell()
        self.process = subprocess.Popen(
            [SOUK, "serve", "--data", self.data, "--listen", f"127.0.0.1:{port}", *flags],
            stdout=subprocess.PIPE, stderr=self.log, text=True, env=env)
        line = self.process.stdout.readline()
        match = re.search(r"(https?)://127\.0\.0\.1:(\d+)", line)
        if not match:
            self.process.wait(DEADLINE_S)
            self.process.stdout.close()
            self.log.close()
            with open(self.log.name) as log:
                log.seek(before)
                text = log.read()[-2000:]
            failure = PortTaken if "Address already in use" in text else AssertionError
            raise failure(f"serve said {line!r}; log: {text}")
        self.url, self.port = match.group(0), int(match.group(2))
        return self

    def kill(self):
        self.process.kill()
        self.process.wait(DEADLINE_S)
        self.process.stdout.close()
        self.log.close()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(DEADLINE_S)
        self.process.stdout.close()
        self.log.close()
        return status

    def raw(self, method, path, token=None):
        """Status, headers and bytes of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_S)
        try:
            connection.request(method, path, None, {"Authorization": "Bearer " + token} if token else {})
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def call(self, method, path, body=None, token=None, key=None, headers=None, timeout=DEADLINE_S,
             raw=None):
        """`raw`: bytes to send instead of JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        send = dict(headers or {})
        if token:
            send["Authorization"] = "Bearer " + token
        if method != "GET":
            send["Idempotency-Key"] = key or uuid.uuid4().hex
        text = raw if raw is not None else json.dumps(body) if body is not None else None
        try:
            connection.request(method, path, text, send)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read().decode())
        finally:
            connection.close()


class MarketTest(unittest.TestCase):
    """A test with a market of its own in a temporary folder."""

    flags = ()

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="souk-test-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.data = os.path.join(self.folder, "market")
        self.server = Server(self.data, *self.flags)
        self.server.start()
        self.addCleanup(self._end)

    def _end(self):
        if self.server.process.poll() is None:
            self.server.kill()
        if not self._outcome.success:
            with open(self.data + ".log", encoding="utf-8", errors="replace") as log:
                print(f"{self.id()}: the server said last:\n{log.read()[-3000:]}", file=sys.stderr)

    def environment(self, token=None, env=None):
        """Of a command line that talks to this market."""
        full = {k: v for k, v in os.environ.items() if not k.startswith("SOUK_")}
        # Agents of other tests are not in the way of those that this starts.
        full.update(SOUK_SERVER=self.server.url, SOUK_PASSWORD=PASSWORD, HOME=self.folder,
                    SOUK_CORE_SCOPE=self.folder[-80:],
                    XDG_CONFIG_HOME=os.path.join(self.folder, "config"))
        if token:
            full["SOUK_TOKEN"] = token
        full.update(env or {})
        return full

    def souk(self, *args, token=None, env=None, check=True, stdin=subprocess.DEVNULL):
        """Runs the command line against this market. Returns the finished process."""
        done = subprocess.run([SOUK, *args], env=self.environment(token, env), stdin=stdin, capture_output=True,
                              text=True, timeout=10 * DEADLINE_S)
        if check and done.returncode != 0:
            raise AssertionError(f"souk {' '.join(args)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def json(self, *args, **kwargs):
        return json.loads(self.souk(*args, "--json", **kwargs).stdout)

    def sign_up(self, name):
        return self.json("account", "create", name)["token"]

    def good(self, *args, **kwargs):
        """An API call that must succeed; returns its JSON."""
        answer = self.server.call(*args, **kwargs)
        self.assertLess(answer.status, 300, answer.text)
        return answer.json

    def lend(self, token, slots=2, price=0.2, name="box", slot_class="c1", **more):
        machine = self.good("POST", "/v1/machines",
                            {"name": name, "spec": {"cores": 8, "memory_mib": 32768}}, token)
        self.keep_heard(machine["id"], token)
        return self.good("POST", "/v1/offers", {"machine": machine["id"], "class": slot_class,
                                                "slots": slots, "price": price, **more}, token)

    def keep_heard(self, machine, token):
        """Asks for the machine's work until the test ends: only a machine that is heard from gets leases."""
        path = f"/v1/machines/{machine}/work"
        self.good("GET", path, token=token)
        over = threading.Event()

        def ask():
            while not over.wait(1):
                try:
                    self.server.call("GET", path, token=token)
                except (OSError, http.client.HTTPException):
                    pass  # The server is away, or the next one has not come yet.
        thread = threading.Thread(target=ask)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(over.set)

    def quick_settings(self, operator):
        """No machine is lost because this computer is busy: what is about silence sets a shorter one."""
        self.good("PATCH", "/v1/settings",
                  {"shortest_term": "1s", "drain": "2s", "settle_every": "1s", "silence": "60s",
                   "term": "60s"}, operator)

    def set_silence(self, silence, operator=None):
        self.good("PATCH", "/v1/settings", {"silence": silence}, operator or self.ann)
