#!/usr/bin/env python3
"""Throughput and latency of a gang's network, against a plain veth of the same run.

Two network namespaces that reach this one and not each other, with an agent in each, make a gang of two. Its
programs measure one TCP connection between them: through `souk relay`, through the market's server, and directly
(with a line between the namespaces). The same program measures the same over a plain veth, turn by turn.

    bench/gang_net.py [--seconds 3] [--rounds 3] [--mbit 0] [--json]

--mbit shapes every line to so much (tc). SOUK_BIN names the binary. Needs root, for the namespaces. Exit status 1 when a bar is
missed: a relay gives half of a direct connection, and adds less than 0.3 ms to a round trip, at the median.
"""
import argparse
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../tests"))
import netns  # noqa: E402
from lending import LendingTest  # noqa: E402
from souk import SOUK, wait_for  # noqa: E402

BARS = {"throughput": 0.5, "added_ms": 0.3}

# Rank 0 receives and echoes; rank 1 sends for so long, then asks so many times.
PROGRAM = '''
import os, socket, sys, time
rank, host, port, seconds, asks = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5])
if rank == 0:
    server = socket.create_server(("", port))
    peer, _ = server.accept()
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    room = memoryview(bytearray(1 << 20))
    total = 0
    while total < 1 or room[0] != 2:  # The first byte of what is sent says what follows.
        n = peer.recv_into(room)
        if n == 0: sys.exit(1)
        total += n
        if n == 1: break
    peer.sendall(b"k")
    for _ in range(asks):
        peer.sendall(peer.recv(1))
else:
    for _ in range(600):
        try:
            peer = socket.create_connection((host, port), 5)
            break
        except OSError:
            time.sleep(0.05)
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    peer.settimeout(60)
    data = bytes(1 << 20)
    begun, sent = time.monotonic(), 0
    while time.monotonic() - begun < seconds:
        peer.sendall(data)
        sent += len(data)
    time.sleep(0.2)
    peer.sendall(b"\\2")
    peer.recv(1)
    took = time.monotonic() - begun - 0.2
    trips = []
    for _ in range(asks):
        at = time.perf_counter()
        peer.sendall(b"x")
        peer.recv(1)
        trips.append(time.perf_counter() - at)
    trips.sort()
    print("RESULT %.6g %.6g %.6g" % (sent / took, 1e3 * trips[len(trips) // 2], 1e3 * trips[len(trips) * 99 // 100]))
'''


class Net(LendingTest):
    def setUp(self):
        super().setUp()
        self.leaves = [netns.Leaf(self), netns.Leaf(self)]
        self.program = os.path.join(self.folder, "measure.py")
        with open(self.program, "w", encoding="utf-8") as f:
            f.write(PROGRAM)

    def shape(self, leaf, device):
        if ARGS.mbit:
            rate = ["root", "tbf", "rate", f"{ARGS.mbit}mbit", "burst", "256k", "latency", "50ms"]
            subprocess.run(leaf.inside(["tc", "qdisc", "add", "dev", device, *rate]), check=True)

    def relay(self, *flags):
        """`souk relay` at this computer's ends of the lines; gives its port."""
        with socket.create_server(("", 0)) as free:
            port = free.getsockname()[1]
        flags = [flag.format(port=port) for flag in flags]
        process = subprocess.Popen([SOUK, "relay", "--server", self.server.url, "--listen", f"0.0.0.0:{port}", *flags],
                                   stdout=subprocess.PIPE, text=True,
                                   env={"SOUK_TOKEN": self.ann, "HOME": self.folder, "PATH": os.environ["PATH"]})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return int(re.search(r":(\d+),", process.stdout.readline()).group(1))

    def plain(self):
        one, other = self.leaves
        server = subprocess.Popen(one.inside(["python3", self.program, "0", "", "4000", str(ARGS.seconds), str(ARGS.asks)]))
        done = other.run(["python3", self.program, "1", self.line.addresses[0], "4000", str(ARGS.seconds), str(ARGS.asks)])
        server.wait(60)
        return [float(x) for x in done.stdout.split()[1:]]

    def gang(self):
        job = self.run_job("kind: gang\nworkers: 2\nworkdir: project\n"
                           f"run: python3 measure.py $RANK worker-0 4000 {ARGS.seconds} {ARGS.asks}",
                           measure_py=PROGRAM)
        self.souk("job", "wait", job, "--timeout", "110s", token=self.bob)
        return [float(x) for x in re.search(r"RESULT (.*)", self.souk("logs", job, token=self.bob).stdout).group(1).split()]

    def agents(self, way):
        if way == "direct":  # Both on this computer.
            return [self.agent(f"{way}{i}") for i in range(2)]
        return [self.agent(f"{way}{i}", leaf=leaf, server=f"http://{leaf.hub}:{self.port}")
                for i, leaf in enumerate(self.leaves)]

    def measure(self, way):
        agents, got, base = self.agents(way), [], []
        for _ in range(ARGS.rounds):
            base.append(self.plain())
            got.append(self.gang())
        for agent in agents:
            agent.end()
        return {"gang": [statistics.median(c) for c in zip(*got)],
                "veth": [statistics.median(c) for c in zip(*base)],
                "path": re.findall(r"of a gang, (.*)", agents[0].text())[-1]}

    def runTest(self):
        for leaf in self.leaves:
            self.shape(leaf, leaf.inner)
        self.line = netns.Line(*self.leaves)
        for leaf, device in zip(self.leaves, self.line.devices):
            self.shape(leaf, device)
        self.port = self.relay()  # The way to the market, for those who cannot reach it.
        ROW["server"] = self.measure("server")
        ROW["direct"] = self.measure("direct")
        meeting = self.relay("--gangs", "--url", f"http://{self.leaves[0].hub}:{{port}}")
        del meeting
        wait_for(lambda: self.good("GET", "/v1/relays", token=self.ann)["items"], "the relay")
        ROW["relay"] = self.measure("relay")


def main():
    print(f"gang_net.py: one TCP connection between two workers of a gang, {ARGS.rounds} x {ARGS.seconds:g} s, beside the same "
          f"over a veth{f', lines of {ARGS.mbit} Mbit/s' if ARGS.mbit else ''}", flush=True)
    result = unittest.TextTestRunner(verbosity=0, stream=open(os.devnull, "w")).run(Net())
    for _, trace in result.errors + result.failures:
        print(trace, file=sys.stderr)
    if not result.wasSuccessful():
        return 2
    good = True
    for way, row in ROW.items():
        (rate, trip, p99), (base_rate, base_trip, _) = row["gang"], row["veth"]
        row["share"], row["added_ms"] = rate / base_rate, trip - base_trip
        print(f"  {way:7} {8e-9 * rate:6.2f} Gbit/s, veth {8e-9 * base_rate:6.2f}: {row['share']:.2f}; round trip {trip:.3f} ms, "
              f"veth {base_trip:.3f}: +{row['added_ms']:.3f} ms (p99 {p99:.3f}); {row['path']}")
        if way == "relay":
            good = row["share"] >= BARS["throughput"] and row["added_ms"] < BARS["added_ms"]
    if ARGS.json:
        print(json.dumps({"bars": BARS} | ROW))
    return 0 if good else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--asks", type=int, default=2000)
    parser.add_argument("--mbit", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    ARGS, ROW = parser.parse_args(), {}
    if not netns.available():
        sys.exit("gang_net.py: network namespaces cannot be made here")
    sys.exit(main())
