"""Attacks on a server through its sockets and requests; the rows are those of the list in docs/hostile.md.

All of them come from loopback, which has many addresses: the attacker's are 127.0.0.2 and up, honest people
are at 127.0.0.1. Each attack is bounded in count and time.
"""
import hashlib
import http.client
import json
import os
import re
import socket
import threading
import unittest
import uuid

from souk import DEADLINE_S, PASSWORD, Answer, MarketTest, wait_for

ATTACKER = "127.0.0.2"
MIB = 1 << 20


def connect(port, address=ATTACKER, receive_buffer=0):
    """A socket from another address of this computer."""
    out = socket.socket()
    if receive_buffer:
        out.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    out.settimeout(DEADLINE_S)
    out.bind((address, 0))
    out.connect(("127.0.0.1", port))
    return out


class Siege:
    """Holds so many silent connections, in turn from these addresses, and opens new ones for the oldest as long
    as it lasts: what is answered meanwhile has not waited for the end of any."""

    def __init__(self, test, addresses, count, said=b""):
        self.test, self.addresses, self.count, self.said = test, addresses, count, said
        self.held, self.opened, self.over = [], 0, threading.Event()
        for _ in range(count):
            self.open()
        self.thread = threading.Thread(target=self.go_on)
        self.thread.start()
        test.addCleanup(self.end)

    def open(self):
        try:
            sock = connect(self.test.server.port, self.addresses[self.opened % len(self.addresses)])
            self.held.append(sock)
            if self.opened % 3 == 0:
                sock.sendall(self.said)
        except OSError:
            pass  # It was closed at once.
        self.opened += 1

    def go_on(self):
        while not self.over.wait(0.005):
            self.open()
            while len(self.held) > self.count:
                self.held.pop(0).close()

    def end(self):
        self.over.set()
        self.thread.join()
        while self.held:
            self.held.pop().close()


def read_all(sock):
    out = b""
    try:
        while piece := sock.recv(65536):
            out += piece
    except ConnectionResetError:
        pass
    return out


class HostileTest(MarketTest):
    def raw(self, text, address=ATTACKER):
        """The whole answer to exactly these bytes; the connection must end."""
        with connect(self.server.port, address) as sock:
            sock.sendall(text.encode() if isinstance(text, str) else text)
            return read_all(sock).decode(errors="replace")

    def call_from(self, address, method, path, body=None, token=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=DEADLINE_S,
                                                source_address=(address, 0))
        send = {"Idempotency-Key": uuid.uuid4().hex, **(headers or {})}
        if token:
            send["Authorization"] = "Bearer " + token
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, send)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read().decode())
        finally:
            connection.close()

    def healthy(self):
        """An honest request from this computer is answered (bench/hostile.py: how soon)."""
        answer = self.server.call("GET", "/healthz")
        self.assertEqual(answer.status, 200, answer.text)

    def rss(self):
        with open(f"/proc/{self.server.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) << 10

    def metric(self, name):
        text = self.server.call("GET", "/metrics").text
        return float(re.search(rf"^{re.escape(name)} (\S+)$", text, re.M).group(1))


class SilentSockets(HostileTest):
    """Rows 8 and 10d."""

    flags = ("--budget", "connections=40/100", "--requests", "0")

    def test_one_address_that_opens_all_it_can_keeps_nobody_out(self):
        """Row 8: half-open requests before any token."""
        Siege(self, [ATTACKER], 150, b"POST /v1/login HTTP/1.1\r\nHost: x\r\nContent-")
        for _ in range(10):
            self.healthy()
        wait_for(lambda: self.metric("souk_connections") <= 45, "the attacker's connections to go")
        # Each of those too many closes an older one, or itself if the older ones are on their way out still.
        wait_for(lambda: self.metric("souk_connections_evicted_total") > 0 and
                 self.metric("souk_connections_evicted_total") +
                 self.metric("souk_connections_refused_total") >= 110, "those too many to be closed")

    def test_many_addresses_that_fill_the_server_make_room_for_others(self):
        """Row 10d: thousands of silent sockets, a blackout."""
        Siege(self, [f"127.0.0.{2 + i}" for i in range(10)], 300)
        for address in 5 * ("127.0.0.1", "127.0.1.1"):
            self.assertEqual(self.call_from(address, "GET", "/healthz").status, 200)
        self.assertEqual(self.metric("souk_connections_limit"), 100)
        wait_for(lambda: self.metric("souk_connections") <= 100, "those who made room to be gone")

    def test_who_asks_is_told_how_many_connections_its_address_has(self):
        ann, bob = self.sign_up("ann"), self.sign_up("bob")

        def used(name, token):
            shown = self.good("GET", f"/v1/accounts/{name}/budgets", token=token)["items"]
            return {b["name"]: b["used"] for b in shown}.get("connections")
        before = used("ann", ann)
        self.assertGreaterEqual(before, 1, "that of this request")
        held = [connect(self.server.port, "127.0.0.1") for _ in range(5)]
        self.addCleanup(lambda: [s.close() for s in held])
        wait_for(lambda: used("ann", ann) >= before + 5, "the five to be counted")
        self.assertIsNone(used("bob", ann), "an operator is not told of others' addresses")
        self.assertGreaterEqual(used("bob", bob), 6, "the same address")

    def test_a_members_connection_is_not_closed_for_strangers(self):
        """Rows 8 and 10d: who has proved who they are stays."""
        ann = self.sign_up("ann")
        member = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=DEADLINE_S)
        self.addCleanup(member.close)

        def me():
            member.request("GET", "/v1/me", headers={"Authorization": "Bearer " + ann})
            return json.loads(member.getresponse().read())["name"]

        self.assertEqual(me(), "ann")
        own = member.sock
        Siege(self, [f"127.0.0.{2 + i}" for i in range(10)], 300)
        self.healthy()
        self.assertEqual(me(), "ann")
        self.assertIs(member.sock, own, "it was closed and opened again")


class Descriptors(HostileTest):
    def test_the_server_raises_its_own_limit(self):
        """Row 8: descriptors raised, and fewer connections than descriptors."""
        with open(f"/proc/{self.server.process.pid}/limits") as limits:
            soft, hard = re.search(r"Max open files\s+(\d+)\s+(\d+)", limits.read()).groups()
        self.assertEqual(soft, hard)
        self.assertLess(self.metric("souk_connections_limit"), int(hard))


class Passwords(HostileTest):
    """Row 10."""

    flags = ("--trusted-proxy", "127.0.0.9")

    def log_in(self, address, password, forwarded=None):
        headers = {"X-Forwarded-For": forwarded} if forwarded else None
        return self.call_from(address, "POST", "/v1/login", {"name": "ann", "password": password},
                              headers=headers).status

    def test_wrong_passwords_lock_the_guesser_and_not_the_owner(self):
        """Row 10: ten wrong passwords lock any name, the operator's too."""
        self.sign_up("ann")
        statuses = [self.log_in(ATTACKER, "a wrong password") for _ in range(14)]
        self.assertEqual(statuses[:10], [401] * 10)
        self.assertEqual(statuses[-1], 429)
        self.assertEqual(self.log_in("127.0.0.1", PASSWORD), 201)

    def test_people_behind_a_trusted_proxy_are_told_apart(self):
        """Row 10: behind a proxy all share one address."""
        self.sign_up("ann")
        for _ in range(12):
            last = self.log_in("127.0.0.9", "a wrong password", "203.0.113.66")
        self.assertEqual(last, 429)
        self.assertEqual(self.log_in("127.0.0.9", PASSWORD, "203.0.113.7"), 201)
        self.assertEqual(self.log_in("127.0.0.9", PASSWORD, "203.0.113.7, 203.0.113.66"), 429)
        # The whole /64 of an IPv6 guesser is one.
        for i in range(12):
            last = self.log_in("127.0.0.9", "a wrong password", f"2001:db8::{i + 1}")
        self.assertEqual(last, 429)
        self.assertEqual(self.log_in("127.0.0.9", PASSWORD, "2001:db8:0:1::1"), 201)

    def test_a_stranger_who_claims_to_forward_is_not_believed(self):
        """Row 10: a new address for each guess, in a header that anybody can write."""
        self.sign_up("ann")
        for i in range(12):
            last = self.log_in(ATTACKER, "a wrong password", f"203.0.113.{i}")
        self.assertEqual(last, 429)


class Work(HostileTest):
    """Row 6."""

    flags = ("--round", "100ms", "--requests", "0")

    def test_a_machine_with_many_leases_of_a_long_job_gets_a_bounded_answer(self):
        """Row 6: the job's text once a lease: 236 MiB, and others wait for seconds."""
        ann, bob = self.sign_up("ann"), self.sign_up("bob")
        self.souk("account", "grant", "bob", "1000", token=ann)
        slots = 400
        machine = self.good("POST", "/v1/machines", {
            "name": "big", "spec": {"cores": slots, "memory_mib": slots * 4096}}, ann)["id"]
        self.good("POST", "/v1/offers",
                  {"machine": machine, "class": "c1", "slots": slots, "price": 0.1}, ann)
        job = self.good("POST", "/v1/jobs", {
            "class": "c1", "workers": {"min": slots, "max": slots}, "limit": 0.2, "budget": 500,
            "batch": {"run": "true " + "x" * 60_000}}, bob)["id"]
        beat = {"leases": []}

        def leases():
            self.good("POST", f"/v1/machines/{machine}/heartbeat", beat, ann)
            return self.good("GET", f"/v1/jobs/{job}/leases?limit=1", token=bob)["items"]

        wait_for(leases, "the leases")
        answer = self.server.call("GET", f"/v1/machines/{machine}/work", token=ann)
        self.assertEqual(answer.status, 200)
        self.assertEqual(len(answer.json["leases"]), slots)
        self.assertLess(len(answer.text), 8 * MIB)
        with_task = [lease["id"] for lease in answer.json["leases"] if "task" in lease]
        self.assertGreater(len(with_task), 10)
        self.assertEqual(len(with_task) + len(answer.json["later"]), slots)
        # Those that started make room for the others.
        by_id = {lease["id"]: lease for lease in answer.json["leases"]}
        for lease in with_task:
            self.good("POST", f"/v1/leases/{lease}/start", {"epoch": by_id[lease]["epoch"]}, ann)
        again = self.good("GET", f"/v1/machines/{machine}/work", token=ann)
        fresh = {lease["id"] for lease in again["leases"] if "task" in lease}
        self.assertTrue(fresh)
        self.assertFalse(fresh & set(with_task))


class Downloads(HostileTest):
    """Row 7."""

    flags = ("--round", "100ms", "--requests", "0", "--budget", "downloads=6/100")

    def put(self, token, content):
        """A chunk as blob/chunk.h has it; its name."""
        name = hashlib.blake2b(content, digest_size=32).hexdigest()
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=DEADLINE_S)
        connection.request("PUT", f"/v1/blobs/{name}", b"\0" + content,
                           {"Authorization": "Bearer " + token, "Idempotency-Key": name})
        response = connection.getresponse()
        self.assertEqual(response.status, 200, response.read())
        connection.close()
        return name

    def upload_large_file(self, token, path, chunk, times):
        """A folder with one file, as blob/manifest.h has it."""
        def number(n):
            out = b""
            while n >= 0x80:
                out += bytes([n & 0x7f | 0x80])
                n >>= 7
            return out + bytes([n])

        digest = bytes.fromhex(self.put(token, chunk))
        return self.put(token, b"soukdir\1" + number(1) + number(0) + number(len(path)) +
                        path.encode() + b"\0" + number(len(chunk) * times) + digest * times)

    def test_slow_readers_of_results_hold_little_memory_and_few_places(self):
        """Row 7: eight sockets, 2 GiB."""
        ann, bob = self.sign_up("ann"), self.sign_up("bob")
        self.souk("account", "grant", "bob", "10", token=ann)
        offer = self.lend(ann, slots=1, price=0.1)
        job = self.good("POST", "/v1/jobs", {
            "class": "c1", "workers": {"min": 1, "max": 1}, "limit": 0.2, "budget": 1,
            "batch": {"run": "true", "outputs": ["out"]}}, bob)["id"]
        work = f"/v1/machines/{offer['machine']}/work"

        def leases():
            self.good("POST", f"/v1/machines/{offer['machine']}/heartbeat", {"leases": []}, ann)
            return self.good("GET", work, token=ann)["leases"]

        lease = wait_for(leases, "a lease")[0]
        content = os.urandom(4 * MIB)
        root = self.upload_large_file(ann, "large", content, 16)
        report = {"epoch": lease["epoch"]}
        self.good("POST", f"/v1/leases/{lease['id']}/start", report, ann)
        self.good("POST", f"/v1/leases/{lease['id']}/finish",
                  {**report, "outcome": "completed", "result": root}, ann)
        before = self.rss()
        path = f"/v1/jobs/{job}/file?path=large&part=0"
        request = (f"GET {path} HTTP/1.1\r\nHost: x\r\n"
                   f"Authorization: Bearer {bob}\r\n\r\n").encode()
        readers = [connect(self.server.port, receive_buffer=4096) for _ in range(6)]
        self.addCleanup(lambda: [s.close() for s in readers])
        for reader in readers:
            reader.sendall(request)
            self.assertTrue(reader.recv(12).startswith(b"HTTP/1.1 200"))

        def download():
            connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=DEADLINE_S)
            try:
                connection.request("GET", path, headers={"Authorization": "Bearer " + bob})
                response = connection.getresponse()
                return response.status, response.read()
            finally:
                connection.close()

        status, text = download()
        self.assertEqual(status, 429, text)
        self.assertIn(b"downloads", text)
        self.assertLess(self.rss() - before, 6 * 12 * MIB)
        for reader in readers:
            reader.close()
        wait_for(lambda: download() == (200, content * 16), "a place")


class Scans(HostileTest):
    """Row 10c."""

    flags = ("--requests", "0")

    def test_who_scans_all_offers_soon_has_no_more_requests(self):
        """Row 10c: cost is not counted."""
        ann, bob, mallory = (self.sign_up(name) for name in ("ann", "bob", "mallory"))
        for m in range(10):  # 10 machines x 64 offers.
            machine = self.good("POST", "/v1/machines", {
                "name": f"m{m}", "spec": {"cores": 64, "memory_mib": 262144}}, ann)["id"]
            for _ in range(64):
                self.good("POST", "/v1/offers", {"machine": machine, "class": "c1", "slots": 1,
                                                 "price": 0.5}, ann)
        # From now on one request a second, of one account and of one address, and two at once. 640 offers are
        # looked at: as much work as a dozen simple requests.
        self.server.kill()
        self.server.flags = ("--requests", "1")
        self.server.start()

        def statuses(times, path, token):
            return [self.call_from(f"127.1.0.{i + 1}", "GET", path, token=token).status for i in range(times)]
        scans = statuses(10, "/v1/offers?where=price%3E1000", mallory)
        self.assertEqual(scans[0], 200)
        self.assertGreaterEqual(scans.count(429), 5, scans)
        self.assertEqual(statuses(2, "/v1/me", bob), [200, 200], "two simple requests are not too many")
        self.assertEqual(self.call_from("127.0.0.3", "GET", "/v1/me", token=ann).status, 200)


class Bodies(HostileTest):
    """Bodies are read before the token is checked."""

    def test_a_large_body_is_refused_before_it_is_sent(self):
        self.sign_up("ann")
        name = "0" * 64
        for head, status in (
                (f"PUT /v1/blobs/{name} HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000\r\n\r\n", 401),
                (f"PUT /v1/blobs/{name} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer souk_x\r\n"
                 "Content-Length: 4000000\r\n\r\n", 401),
                ("POST /v1/login HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n", 413),
                ("POST /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer souk_x\r\n"
                 "Content-Length: 2000000\r\n\r\n", 413),
                ("POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n", 405)):
            answer = self.raw(head)  # The body never comes.
            self.assertTrue(answer.startswith(f"HTTP/1.1 {status} "), head + answer)
            self.assertIn("application/problem+json", answer)
            self.assertIn("no-store", answer)

    def test_strangers_with_half_sent_bodies_hold_no_memory(self):
        before = self.rss()
        held = []
        for _ in range(100):
            held.append(connect(self.server.port))
            held[-1].sendall(b"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer souk_x\r\n"
                             b"Content-Length: 1000000\r\n\r\n")
        self.addCleanup(lambda: [s.close() for s in held])
        for sock in held:
            self.assertIn(b" 401 ", sock.recv(100))
        self.assertLess(self.rss() - before, 20 * MIB)


class Requests(HostileTest):
    """The smaller ones that are HTTP."""

    def test_requests_that_two_servers_could_understand_differently_are_refused(self):
        for text in ("GET /healthz HTTP/1.1\r\n\r\n",
                     "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                     "GET /healthz HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n"):
            self.assertTrue(self.raw(text).startswith("HTTP/1.1 400 "), text)

    def test_parameters_that_are_empty_wrong_or_there_twice_are_refused(self):
        ann = self.sign_up("ann")
        for query in ("limit=", "limit=0", "limit=501", "limit=5&limit=6", "limit=x", "all=",
                      "state=&limit=1", "state=nonsense"):
            answer = self.server.call("GET", f"/v1/jobs?{query}", token=ann)
            self.assertEqual(answer.status, 400, query)
        self.assertEqual(self.server.call("GET", "/v1/jobs?limit=500", token=ann).status, 200)
        self.assertEqual(self.server.call("GET", "/v1/prices?days=401", token=ann).status, 400)

    def test_allow_names_the_methods_of_this_path_alone(self):
        ann = self.sign_up("ann")
        for method, path, allow in (("DELETE", "/v1/blobs/missing", "POST"),
                                    ("GET", "/v1/blobs/missing", "POST"),
                                    ("DELETE", "/v1/jobs", "GET, POST"),
                                    ("POST", "/healthz", "GET")):
            answer = self.server.call(method, path, token=ann)
            self.assertEqual(answer.status, 405, path)
            self.assertEqual(answer.headers["Allow"], allow, path)

    def test_names_that_people_cannot_read_are_refused(self):
        ann = self.sign_up("ann")
        for name in (" ", "box\u202excod", "\u200b"):
            answer = self.server.call("POST", "/v1/machines", {
                "name": name, "spec": {"cores": 1, "memory_mib": 1024}}, ann)
            self.assertEqual(answer.status, 400, repr(name))

    def test_a_page_of_another_site_cannot_claim_a_fresh_market(self):
        """DNS rebinding: the browser is on this computer, the page is not."""
        body = {"name": "mallory", "password": PASSWORD}
        for headers in ({"Host": "evil.example:7070"},
                        {"Host": f"127.0.0.1:{self.server.port}", "Origin": "http://evil.example"},
                        {"Host": "127.0.0.1.evil.example"}):
            answer = self.server.call("POST", "/v1/accounts", body, headers=headers)
            self.assertEqual(answer.status, 403, headers)
        made = self.server.call("POST", "/v1/accounts", {**body, "name": "ann"},
                                headers={"Host": f"localhost:{self.server.port}"})
        self.assertEqual(made.status, 201, made.text)
        self.assertTrue(made.json["account"]["operator"])


if __name__ == "__main__":
    unittest.main()
