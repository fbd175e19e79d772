"""Network namespaces for tests and benchmarks: computers that reach this one and not each other."""
import itertools
import os
import shutil
import subprocess

_numbers = itertools.count(1)


def available():
    """Can this user make them?"""
    if os.geteuid() != 0 or not shutil.which("ip"):
        return False
    probe = f"souk-probe-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, check=False).returncode == 0
    if made:
        subprocess.run(["ip", "netns", "delete", probe], check=False)
    return made


def _ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Leaf:
    """A computer with one line, to this one. Goes with the test."""

    def __init__(self, test):
        number = os.getpid() % 200 * 250 + next(_numbers) % 250
        self.name = f"souk{number}"
        net = f"10.{200 + number // 250 % 50}.{number % 250}"
        self.address, self.hub = net + ".2", net + ".1"
        here, there = f"sv{number}", f"sw{number}"
        _ip("netns", "add", self.name)
        test.addCleanup(subprocess.run, ["ip", "netns", "delete", self.name], check=False)
        _ip("link", "add", here, "type", "veth", "peer", "name", there, "netns", self.name)
        _ip("addr", "add", self.hub + "/24", "dev", here)
        _ip("link", "set", here, "up")
        # What comes from there goes nowhere but here.
        with open(f"/proc/sys/net/ipv4/conf/{here}/forwarding", "w", encoding="ascii") as f:
            f.write("0")
        for words in (["link", "set", "lo", "up"], ["addr", "add", self.address + "/24", "dev", there],
                      ["link", "set", there, "up"], ["route", "add", "default", "via", self.hub]):
            _ip("-n", self.name, *words)
        self.interface, self.inner = here, there

    def inside(self, command):
        return ["ip", "netns", "exec", self.name, *command]

    def run(self, command, **more):
        return subprocess.run(self.inside(command), capture_output=True, text=True, check=False, **more)

    def reaches(self, address, port):
        code = ("import socket,sys\ns=socket.socket()\ns.settimeout(2)\n"
                f"try: s.connect(({address!r},{port}))\nexcept OSError: sys.exit(1)\n")
        return self.run(["python3", "-c", code]).returncode == 0


class Line:
    """A line of their own between two leaves: an address and a device for each."""

    addresses = ("10.199.0.1", "10.199.0.2")

    def __init__(self, a, b):
        number = f"{os.getpid() % 1000}x{next(_numbers)}"
        self.devices = (f"sj{number}", f"sk{number}")
        _ip("link", "add", self.devices[0], "type", "veth", "peer", "name", self.devices[1])
        for leaf, device, address in zip((a, b), self.devices, self.addresses):
            _ip("link", "set", device, "netns", leaf.name)
            _ip("-n", leaf.name, "addr", "add", address + "/24", "dev", device)
            _ip("-n", leaf.name, "link", "set", device, "up")
