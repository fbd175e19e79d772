"""Network namespaces for tests and benchmarks: computers that reach this one and not each other."""
import itertools
import os
import random
import shutil
import subprocess

from souk import wait_for

_numbers = itertools.count(1)
# A namespace without a name lives as long as a process in it: this one, which ends with the test, however that ends.
KEEPER = ["unshare", "--net", "cat"]


def available():
    """Can this user make them?"""
    if os.geteuid() != 0 or not all(map(shutil.which, ("ip", "unshare", "nsenter"))):
        return False
    pair = ["ip", "link", "add", "one", "type", "veth", "peer", "name", "other"]
    return subprocess.run(["unshare", "--net", *pair], capture_output=True, check=False).returncode == 0


def _ip(*words, check=True):
    return subprocess.run(["ip", *words], check=check, capture_output=True, text=True)


def _in_use(net):
    """Does this computer reach addresses in `net` by another way than to all others?"""
    routes = _ip("-4", "route", "show", "match", net).stdout.splitlines()
    return any(not route.startswith("default") for route in routes)


class Leaf:
    """A computer with one line, to this one. Goes with the test."""

    def __init__(self, test):
        self.process = subprocess.Popen(KEEPER, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        test.addCleanup(self.end)
        self.namespace = f"/proc/{self.process.pid}/ns/net"
        wait_for(lambda: os.readlink(self.namespace) != os.readlink("/proc/self/ns/net"), "a namespace")
        self.interface, self.inner, net = self.connect()
        self.address, self.hub = net + ".2", net + ".1"
        _ip("addr", "add", self.hub + "/24", "dev", self.interface)
        _ip("link", "set", self.interface, "up")
        # What comes from there goes nowhere but here.
        with open(f"/proc/sys/net/ipv4/conf/{self.interface}/forwarding", "w", encoding="ascii") as f:
            f.write("0")
        for words in (["link", "set", "lo", "up"], ["addr", "add", self.address + "/24", "dev", self.inner],
                      ["link", "set", self.inner, "up"], ["route", "add", "default", "via", self.hub]):
            self.ip(*words)

    def connect(self):
        """The devices here and there, and the net that they have: whoever has the device of that name has the net."""
        draw = random.SystemRandom()
        for _ in range(100):
            a, b = draw.randrange(200, 250), draw.randrange(256)
            here, there = f"sv{a}x{b}", f"sw{a}x{b}"
            if not _in_use(f"10.{a}.{b}.0/24") and _ip(
                    "link", "add", here, "type", "veth", "peer", "name", there, "netns", str(self.process.pid),
                    check=False).returncode == 0:
                return here, there, f"10.{a}.{b}"
        raise AssertionError("there is no net for another namespace")

    def end(self):
        # The device goes at once, also where somebody in the namespace has not ended yet.
        if hasattr(self, "interface"):
            _ip("link", "delete", self.interface, check=False)
        self.process.stdin.close()
        self.process.wait()

    def inside(self, command):
        return ["nsenter", "--net=" + self.namespace, *command]

    def ip(self, *words):
        subprocess.run(self.inside(["ip", *words]), check=True, capture_output=True)

    def run(self, command, **more):
        return subprocess.run(self.inside(command), capture_output=True, text=True, check=False, **more)

    def reaches(self, address, port, seconds=2):
        """Also where nobody listens at the port and the computer there says so."""
        code = (f"import socket,sys\ns=socket.socket()\ns.settimeout({seconds})\n"
                f"try: s.connect(({address!r},{port}))\n"
                "except ConnectionRefusedError: pass\nexcept OSError: sys.exit(1)\n")
        return self.run(["python3", "-c", code]).returncode == 0


class Line:
    """A line of their own between two leaves: an address and a device for each."""

    addresses = ("10.199.0.1", "10.199.0.2")

    def __init__(self, a, b):
        number = f"{os.getpid()}x{next(_numbers)}"
        self.devices = (f"sj{number}", f"sk{number}")
        # Made where it is used: names in other namespaces do not matter.
        a.ip("link", "add", self.devices[0], "type", "veth", "peer", "name", self.devices[1], "netns",
             str(b.process.pid))
        for leaf, device, address in zip((a, b), self.devices, self.addresses):
            leaf.ip("addr", "add", address + "/24", "dev", device)
            leaf.ip("link", "set", device, "up")
