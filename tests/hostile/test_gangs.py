"""What strangers try where gangs run: to reach a gang's ports from another gang, from the lender's network and from outside, to
leave a gang's network, to join a gang without a lease of it."""
import os
import re
import socket
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from souk import wait_for  # noqa: E402
from test_gangs import GangTest  # noqa: E402

# Listens on every address of its namespace, and says who came.
LISTENER = """
import socket, time, os
server = socket.create_server(("0.0.0.0", 5000))
print("listening", flush=True)
while True:
    peer, address = server.accept()
    print("CAME", address, peer.recv(100), flush=True)
"""

# Tries everything that should lead nowhere, then what should work.
PROWLER = """
import fcntl, os, socket, struct, sys
def reach(host, port, kind=socket.SOCK_STREAM):
    s = socket.socket(socket.AF_INET, kind)
    s.settimeout(1)
    try:
        s.connect((host, port))
        if kind == socket.SOCK_DGRAM:
            s.send(b"x"); s.recv(1)
        print("REACHED", host, port, flush=True)
    except OSError as e:
        pass
for host in ["10.64.0.1", "10.64.0.2", "10.64.0.3", "worker-0", "worker-1"]:
    reach(host, 5000)
for place in sys.argv[1:]:
    host, port = place.rsplit(":", 1)
    reach(host, int(port))
    reach(host, int(port), socket.SOCK_DGRAM)
for host, port in [("127.0.0.1", int(sys.argv[1].rsplit(":", 1)[1])), ("10.0.2.2", 80), ("8.8.8.8", 53), ("169.254.169.254", 80),
                   ("10.64.255.254", 5000), ("255.255.255.255", 5000)]:
    reach(host, port)
try:
    os.open("/dev/net/tun", os.O_RDWR); print("GOT tun")
except OSError: pass
try:
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW); print("GOT packet socket")
except OSError: pass
try:
    socket.socket(socket.AF_INET, socket.SOCK_RAW, 255); print("GOT raw socket")
except OSError: pass
try:  # Another address for the interface: SIOCSIFADDR.
    fcntl.ioctl(socket.socket(), 0x8916, struct.pack("16sHH4s8s", b"souk0", 2, 0, socket.inet_aton("10.64.0.9"), bytes(8)))
    print("CHANGED address")
except OSError: pass
try:  # Another's address as the sender's.
    s = socket.socket(); s.bind(("10.64.0.7", 0)); print("BOUND to another's address")
except OSError: pass
print("interfaces", sorted(n for _, n in socket.if_nameindex()), flush=True)
print("done", flush=True)
"""


class GangAttacks(GangTest):
    def start_listeners(self):
        job = self.run_job("kind: gang\nworkers: 2\nworkdir: project\nrun: python3 listen.py", listen_py=LISTENER)
        wait_for(lambda: self.logs(job).count("listening") == 2, "the gang that is attacked")
        return job

    def own_address(self):
        """Of this computer in its network, as the lender's."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            try:
                s.connect(("192.0.2.1", 9))
                return s.getsockname()[0]
            except OSError:
                return "127.0.0.1"

    def test_no_port_of_a_gang_is_reached_and_a_gang_reaches_nothing_else(self):
        agents = self.agents(4)
        victim = self.start_listeners()
        # From the lender's network, and from this computer itself. Somebody else may have that address out there.
        for host in ("10.64.0.1", "10.64.0.2", "127.0.0.1", self.own_address()):
            with socket.socket() as s:
                s.settimeout(1)
                try:
                    s.connect((host, 5000))
                    s.sendall(b"hello")
                except OSError:
                    pass
        # From another gang; and from that gang to the market, to this computer and to the internet.
        lenders, udp = self.lenders_ports()
        with lenders, udp:
            port = lenders.getsockname()[1]
            places = [f"{self.own_address()}:{port}", f"{self.own_address()}:{self.server.port}", f"127.0.0.1:{port}"]
            job = self.run_job("kind: gang\nworkers: 2\nworkdir: project\nrun: python3 prowl.py " + " ".join(places),
                               prowl_py=PROWLER)
            self.wait_job(job)
            with self.assertRaises(OSError):
                lenders.accept()
            with self.assertRaises(OSError):
                udp.recv(1)
        logs = self.logs(job)
        self.assertEqual(logs.count("done"), 2)
        for word in ("REACHED", "GOT", "CHANGED", "BOUND"):
            self.assertNotIn(word, logs)
        self.assertEqual(logs.count("interfaces ['lo', 'souk0']"), 2)
        self.assertNotIn("CAME", self.logs(victim))
        # The ports that agents open while a gang forms let nobody in who has no key of it.
        ports = {int(p) for agent in agents for p in self.listening(agent)}
        for number in ports:
            for text in (b"GET / HTTP/1.1\r\n\r\n", b"SKG1\0\0\0\1" + b"\xff" * 64,
                         b"SKG1\0\1\0\0" + struct.pack("<I", 40) + bytes(40), b"SKG1"):
                with socket.socket() as s:
                    s.settimeout(5)
                    try:
                        s.connect(("127.0.0.1", number))
                        s.sendall(text)
                        said = s.recv(4096)
                    except OSError:
                        said = b""
                    self.assertNotIn(b"HTTP", said)
        self.assertNotIn("CAME", self.logs(victim))
        self.assertEqual(self.job(victim)["state"], "running", "and the gang goes on")
        self.souk("cancel", victim, token=self.bob)

    def lenders_ports(self):
        """A listening socket, and one for datagrams at the same port."""
        while True:
            listening = socket.create_server(("0.0.0.0", 0))
            udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            for each in (listening, udp):
                each.settimeout(0.1)
            try:
                udp.bind(("0.0.0.0", listening.getsockname()[1]))
                return listening, udp
            except OSError:
                listening.close()
                udp.close()

    def listening(self, agent):
        """TCP ports on which a process listens."""
        inodes = set()
        for fd in os.listdir(f"/proc/{agent.process.pid}/fd"):
            try:
                match = re.match(r"socket:\[(\d+)\]", os.readlink(f"/proc/{agent.process.pid}/fd/{fd}"))
            except OSError:
                continue
            if match:
                inodes.add(match.group(1))
        for name in ("tcp", "tcp6"):
            with open(f"/proc/{agent.process.pid}/net/{name}", encoding="ascii") as table:
                for row in list(table)[1:]:
                    columns = row.split()
                    if columns[3] == "0A" and columns[9] in inodes:
                        yield int(columns[1].rsplit(":", 1)[1], 16)

    def test_nobody_joins_a_gang_without_a_lease_of_it(self):
        self.agents(2)
        victim = self.start_listeners()
        lease = self.job(victim)["leases"][0]
        eve = self.sign_up("eve")
        machine = self.good("POST", "/v1/machines", {"name": "eve", "spec": {"cores": 1, "memory_mib": 2048}}, eve)["id"]
        token = self.good("POST", "/v1/tokens", {"scope": "machine", "machine": machine}, eve)["token"]
        join = {"epoch": lease["epoch"], "key": "ab" * 32, "port": 9}
        for who in (eve, token, self.bob):
            self.assertEqual(self.server.call("PUT", f"/v1/leases/{lease['id']}/network", join, who).status, 404)
            self.assertEqual(self.server.call("GET", f"/v1/leases/{lease['id']}/tunnel?to=1", token=who).status, 404)
            self.assertEqual(self.server.call("GET", f"/v1/leases/{lease['id']}/line", token=who).status, 404)
        self.assertEqual(self.server.call("GET", f"/v1/jobs/{victim}/connect?port=5000", token=eve).status, 404)
        # The lender's own token is good for its own machines, under the epoch that they have.
        late = join | {"epoch": lease["epoch"] - 1}
        self.assertEqual(self.server.call("PUT", f"/v1/leases/{lease['id']}/network", late, self.ann).status, 409)
        # Relays are the operator's to name.
        here = {"url": "http://10.0.0.1:1", "key": "ab" * 32}
        self.assertEqual(self.server.call("PUT", "/v1/relays", here, eve).status, 403)
        self.assertNotIn("CAME", self.logs(victim))
        self.souk("cancel", victim, token=self.bob)


del GangTest  # Its own tests are elsewhere.

if __name__ == "__main__":
    unittest.main()
