"""What strangers try with the line that installs souk (docs/hostile.md)."""
import socket
import subprocess
import unittest

from packages import bundle, trainer
from souk import DEADLINE_S, MarketTest, wait_for


class LendLine(MarketTest):
    def setUp(self):
        self.flags = ("--bundle", bundle(), "--trainer", trainer())
        super().setUp()

    def ask(self, request):
        """Sends these bytes; what comes back until the server closes."""
        with socket.create_connection(("127.0.0.1", self.server.port), DEADLINE_S) as s:
            s.sendall(request)
            out = b""
            while piece := s.recv(1 << 16):
                out += piece
        return out.decode()

    def script(self, host, *more, target="/lend"):
        lines = [f"GET {target} HTTP/1.1", f"Host: {host}", *more, "Connection: close", "", ""]
        return self.ask("\r\n".join(lines).encode())

    def test_no_host_becomes_a_command(self):
        """Row 27: a Host that a shell would run."""
        for host in ("x'; touch /tmp/souk-hostile; '", "$(id)", "`id`", "a;id", "a|id", "a&id", "a\tid", "a b",
                     "a/../b", "u@h", "-oX", "a\\b", '"id"', "a{b,c}", "a$b", "~", "*", "a,b", "h:1;id", "h:99999999",
                     "[::1;id]", "\xc3\xa4", "a" * 300, ""):
            answer = self.script(host)
            self.assertRegex(answer, r"^HTTP/1\.1 400 ", host)
            self.assertNotIn("#!/bin/sh", answer)

    def test_a_strange_host_is_told_to_its_sender_only(self):
        """Row 27: a Host of the attacker's, to be kept by a cache for others."""
        answer = self.script("evil.example", "X-Forwarded-Host: worse.example", "Forwarded: host=worse.example")
        head, _, body = answer.partition("\r\n\r\n")
        self.assertIn("Cache-Control: no-store", head)
        self.assertIn("\nmarket='http://evil.example'\n", body)
        self.assertNotIn("worse", body)
        self.assertIn(f"\nmarket='{self.server.url}'\n", self.server.call("GET", "/lend").text)
        subprocess.run(["sh", "-n"], input=body.partition("#!/bin/sh")[2], text=True, check=True)

    def test_two_hosts_or_an_address_in_the_first_line_make_no_other_script(self):
        """Row 27: what two servers on the way could understand differently."""
        own = f"127.0.0.1:{self.server.port}"
        self.assertRegex(self.script(own, "Host: evil.example"), r"^HTTP/1\.1 400 ")
        answer = self.script(own, target="http://evil.example/lend")
        self.assertNotIn("evil.example", answer.partition("\r\n\r\n")[2])

    def test_slow_readers_do_not_take_all_downloads(self):
        """Row 28: bundles and trainers that are never read to their end."""
        slow = []
        for name in ("bundle", "trainer") * 2:
            s = socket.create_connection(("127.0.0.1", self.server.port), DEADLINE_S)
            self.addCleanup(s.close)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.sendall(f"GET /v1/agent/{name} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            self.assertIn(b"200 OK", s.recv(1024))
            slow.append(s)
        for name in ("bundle", "trainer"):
            fifth = self.ask(f"GET /v1/agent/{name} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            self.assertRegex(fifth, r"^HTTP/1\.1 (429|503) ")
            self.assertIn("Retry-After", fifth)
        # Members' own downloads have a budget of their own.
        ann = self.sign_up("ann")
        budgets = {b["name"]: b["used"] for b in self.good("GET", "/v1/accounts/ann/budgets", token=ann)["items"]}
        self.assertEqual((budgets["downloads"], budgets["bundle-downloads"]), (0, 0))
        slow.pop().close()
        wait_for(lambda: self.whole_bundle(), "a place")

    def whole_bundle(self):
        done = subprocess.run(["curl", "-fsS", "-o", "/dev/null", "-w", "%{size_download}",
                               self.server.url + "/v1/agent/bundle"], capture_output=True, text=True, check=False)
        return done.returncode == 0 and int(done.stdout) > 1_000_000


if __name__ == "__main__":
    unittest.main()
