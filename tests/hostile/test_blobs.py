"""What strangers try with files: to fill the server's disk and memory, to unpack half a terabyte on
somebody's machine, to read what is not theirs, and to write on somebody's terminal. Rows are those
of the list in docs/hostile.md."""
import hashlib
import http.client
import os
import random
import subprocess
import unittest

import souk
from lending import LendingTest, needs_sandbox
from souk import DEADLINE_S, SOUK, MarketTest, Server, wait_for

CHUNK = 4 << 20


def name_of(content):
    return hashlib.blake2b(content, digest_size=32).hexdigest()


def noise(size, seed):
    return random.Random(seed).randbytes(size)


def number(value):
    """LEB128, as manifests have it."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def manifest(files):
    """The list of a folder's files: (path, size, names of chunks), in order of their paths."""
    out, before = b"soukdir\1" + number(len(files)), ""
    for path, size, chunks in files:
        shared = len(os.path.commonprefix([before, path]))
        rest = path[shared:].encode()
        out += number(shared) + number(len(rest)) + rest + b"\0" + number(size)
        out += b"".join(bytes.fromhex(c) for c in chunks)
        before = path
    return out


class FilesTest(MarketTest):
    """A market where ann is the operator and lends, and bob and eve have accounts."""

    machines = 0

    def setUp(self):
        super().setUp()
        self.ann, self.bob, self.eve = (self.sign_up(n) for n in ("ann", "bob", "eve"))
        self.quick_settings(self.ann)
        self.souk("account", "grant", "bob", "10", token=self.ann)
        self.souk("account", "grant", "eve", "0.01", token=self.ann)

    def raw(self, method, path, token, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=DEADLINE_S)
        try:
            connection.request(method, path, body, {"Authorization": "Bearer " + token})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def put(self, content, token):
        """Uploads a chunk; the status and the text of the answer."""
        status, text = self.raw("PUT", "/v1/blobs/" + name_of(content), token, b"\0" + content)
        return status, text.decode()

    def send(self, content, token):
        status, text = self.put(content, token)
        self.assertEqual(status, 200, text)
        return name_of(content)

    def fill(self, token, size, most, seed):
        """Uploads chunks until one is refused: how many were taken, and the refusal."""
        for i in range(most):
            status, text = self.put(noise(size, f"{seed}-{i}"), token)
            if status != 200:
                return i, status, text
        self.fail(f"{most} uploads of {size} bytes, and none was refused")

    def submit(self, token, blobs, budget=0.001):
        inputs = [{"path": f"d{i}", "blob": b, "file": False} for i, b in enumerate(blobs)]
        return self.server.call("POST", "/v1/jobs", {
            "name": "x", "kind": "batch", "class": "c1", "workers": {"min": 1, "max": 1}, "limit": 1,
            "budget": budget, "batch": {"run": "true", "inputs": inputs}}, token)

    def memory_mib(self):
        with open(f"/proc/{self.server.process.pid}/status", encoding="utf-8") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) >> 10

    def leased(self, blobs=()):
        """A running lease of ann's on a job of bob's: the job's and the lease's ids and epoch."""
        self.machines += 1
        offer = self.lend(self.ann, name=f"box{self.machines}")
        beat = f"/v1/machines/{offer['machine']}/heartbeat"
        self.good("POST", beat, {"leases": []}, self.ann)
        answer = self.submit(self.bob, blobs, budget=1)
        self.assertEqual(answer.status, 201, answer.text)
        job = answer.json["id"]

        def lease():
            self.good("POST", beat, {"leases": []}, self.ann)
            return self.good("GET", f"/v1/jobs/{job}/leases", token=self.bob)["items"]
        found = wait_for(lease, "a lease")[0]
        self.good("POST", f"/v1/leases/{found['id']}/start", {"epoch": found["epoch"]}, self.ann)
        return job, found["id"], found["epoch"]


class Quotas(FilesTest):
    flags = ("--round", "200ms", "--requests", "0", "--budget", "blob-bytes=1M", "--budget",
             "blob-chunks=20", "--budget", "pins=15")

    def test_an_account_without_a_credit_fills_the_store(self):
        """Row 9: bytes."""
        taken, status, text = self.fill(self.eve, 300_000, 10, "eve")
        self.assertEqual((taken, status), (3, 429), text)
        self.assertIn("blob-bytes", text)
        self.send(noise(300_000, "bob"), self.bob)  # Others have their own.
        self.server.kill()
        self.server.start()
        self.assertEqual(self.put(noise(300_000, "again"), self.eve)[0], 429, "forgotten at a restart")
        self.assertEqual(self.put(noise(300_000, "eve-0"), self.eve)[0], 200, "it is there")
        freed = self.json("blobs", "clean", "--free", "10M", token=self.ann)["bytes"]
        self.assertGreater(freed, 1_200_000)
        self.send(noise(300_000, "again"), self.eve)  # What is gone does not count.

    def test_an_account_fills_the_store_with_small_chunks(self):
        """Row 9: chunks."""
        taken, status, text = self.fill(self.eve, 10, 30, "small")
        self.assertEqual((taken, status), (20, 429), text)
        self.assertIn("blob-chunks", text)

    def test_a_job_worth_a_micro_credit_pins_the_whole_store(self):
        """Row 9: what live jobs keep."""
        names = [self.send(noise(10, i), self.eve) for i in range(10)]
        first = self.send(manifest([(f"f{i}", 10, [n]) for i, n in enumerate(names)]), self.eve)
        second = self.send(manifest([(f"g{i}", 10, [n]) for i, n in enumerate(names)]), self.eve)
        answer = self.submit(self.eve, [first])
        self.assertEqual(answer.status, 201, answer.text)
        self.assertEqual(self.submit(self.eve, [first]).status, 201, "the same folder counts once")
        answer = self.submit(self.eve, [second])
        self.assertEqual(answer.status, 429, answer.text)
        self.assertIn("pins", answer.text)
        self.assertEqual(self.json("blobs", "clean", "--free", "1M", token=self.ann)["bytes"],
                         len(manifest([(f"g{i}", 10, [n]) for i, n in enumerate(names)])) + 1,
                         "all but what the live jobs need")
        for j in self.good("GET", "/v1/jobs", token=self.eve)["items"]:
            self.good("POST", f"/v1/jobs/{j['id']}/cancel", {"reason": ""}, self.eve)
        self.send(manifest([(f"g{i}", 10, [n]) for i, n in enumerate(names)]), self.eve)
        wait_for(lambda: self.submit(self.eve, [second]).status == 201, "what was pinned to go")


class Pins(FilesTest):
    def test_a_long_list_of_files_is_named_in_one_job_again_and_again(self):
        """Row 4."""
        absent = [name_of(str(i).encode()) for i in range(100_000)]
        nothing = self.send(manifest([("f", len(absent) * CHUNK, absent)]), self.eve)
        answer = self.submit(self.eve, [nothing] * 60)
        self.assertEqual(answer.status, 400, "none of its chunks is there: " + answer.text)
        zeros = self.send(bytes(CHUNK), self.eve)
        much = self.send(manifest([("f", 100_000 * CHUNK, [zeros] * 100_000)]), self.eve)
        before = self.memory_mib()
        for _ in range(4):
            answer = self.submit(self.eve, [much] * 60)
            self.assertEqual(answer.status, 201, answer.text)
        self.assertLess(self.memory_mib() - before, 200)
        self.server.kill()
        self.server.start()
        self.assertLess(self.memory_mib(), before + 200)
        self.assertEqual(self.raw("GET", "/v1/blobs/" + zeros, self.eve)[0], 200)


def can_mount():
    return subprocess.run(["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=1M souk /mnt"],
                          check=False, capture_output=True).returncode == 0


class ServerOnDisk(Server):
    """A server whose data folder is a disk of its own, which nobody else sees."""

    def __init__(self, data, size, *flags):
        super().__init__(data, *flags)
        os.makedirs(data)
        self.keeper = subprocess.Popen(
            ["unshare", "-m", "sh", "-c",
             f"mount -t tmpfs -o size={size} souk {data} && echo ready && exec sleep 600"],
            stdout=subprocess.PIPE, text=True)
        assert self.keeper.stdout.readline() == "ready\n"

    def start(self, port=0):
        # Server.start() runs the program that SOUK names: here through a shell that enters the disk.
        script = self.data + ".sh"
        with open(script, "w", encoding="utf-8") as out:
            out.write(f'#!/bin/sh\nexec nsenter -t {self.keeper.pid} -m "{os.path.abspath(SOUK)}" "$@"\n')
        os.chmod(script, 0o700)
        before, souk.SOUK = souk.SOUK, script
        try:
            return super().start(port)
        finally:
            souk.SOUK = before

    def inside(self, name=""):
        return f"/proc/{self.keeper.pid}/root{self.data}/{name}"

    def fill(self):
        """Another program takes all that is left of the disk."""
        with open(self.inside("filler"), "ab", buffering=0) as out:
            for size in (1 << 20, 1 << 12, 1):
                try:
                    while True:
                        if out.write(bytes(size)) < size:
                            break
                except OSError:
                    pass

    def end(self):
        if self.process.poll() is None:
            self.kill()
        self.keeper.kill()
        self.keeper.wait()
        self.keeper.stdout.close()


@unittest.skipUnless(can_mount(), "cannot mount a small disk here: run as root")
class FullDisk(FilesTest):
    def setUp(self):
        super().setUp()
        self.server.kill()
        self.server = ServerOnDisk(os.path.join(self.folder, "small"), "40M", "--requests", "0",
                                   *self.more_flags)
        self.addCleanup(self.server.end)
        self.server.start()
        self.ann, self.eve = self.sign_up("ann"), self.sign_up("eve")

    def _end(self):
        pass

    more_flags = ("--blobs", "1G", "--budget", "blob-bytes=1G")

    def grant(self):
        return self.server.call("POST", "/v1/accounts/eve/grant", {"amount": 1}, self.ann).status

    def test_uploads_fill_the_disk_until_the_journal_fails(self):
        """Row 10a: the reserve."""
        taken, status, text = self.fill(self.eve, 1 << 20, 60, "disk")
        self.assertGreater(taken, 20)
        self.assertEqual(status, 503, text)
        self.assertIn("kept free", text)
        for _ in range(20):
            self.assertEqual(self.grant(), 200, "the journal has room")
        self.server.kill()
        self.server.start()
        self.assertEqual(self.grant(), 200)
        self.assertEqual(self.raw("GET", "/v1/blobs/" + name_of(noise(1 << 20, "disk-0")), self.eve)[0],
                         200)
        self.assertGreater(self.json("blobs", "clean", "--free", "5M", token=self.ann)["bytes"],
                           5_000_000)
        self.send(noise(1 << 20, "more"), self.eve)

    def test_a_disk_that_others_filled_to_the_last_byte(self):
        """Row 10a: reads and the operator's clean-up work, nothing that was acknowledged is lost."""
        kept = self.send(noise(1 << 20, "kept"), self.eve)
        self.assertEqual(self.grant(), 200)
        self.server.fill()
        wait_for(lambda: self.grant() == 503, "writes to be refused")
        self.assertIsNone(self.server.process.poll())
        for again in (False, True):
            if again:
                self.server.kill()
                self.server.start()
            self.assertEqual(self.good("GET", "/v1/accounts/eve", token=self.ann)["available"], 1)
            self.assertEqual(self.raw("GET", "/v1/blobs/" + kept, self.eve)[0], 200)
            self.assertEqual(self.put(noise(100, "new"), self.eve)[0], 503)
            self.assertEqual(self.grant(), 503)
        # Enough for the journal, if not for files.
        self.assertGreater(self.json("blobs", "clean", "--free", "1M", token=self.ann)["bytes"], 1 << 20)
        wait_for(lambda: self.grant() == 200, "writes to be accepted again")
        os.remove(self.server.inside("filler"))
        self.send(noise(1 << 20, "new"), self.eve)


class SmallDisk(FullDisk):
    more_flags = ()
    test_a_disk_that_others_filled_to_the_last_byte = None

    def test_uploads_fill_the_disk_until_the_journal_fails(self):
        """Row 10a: without a word of the operator's, files take half of the disk, and one account
        half of that."""
        taken, status, text = self.fill(self.eve, 1 << 20, 60, "disk")
        self.assertIn(taken, range(6, 11))
        self.assertEqual(status, 429, text)
        bob = self.sign_up("bob")
        self.fill(bob, 1 << 20, 60, "bob")
        self.assertEqual(self.grant(), 200)


class Bombs(FilesTest):
    flags = ("--round", "200ms", "--requests", "0")

    def test_a_lender_says_that_a_result_has_half_a_terabyte(self):
        """Row 18, on the borrower's side."""
        job, lease, epoch = self.leased()
        zeros = self.send(bytes(CHUNK), self.ann)
        bomb = self.send(manifest([("model", 120_000 * CHUNK, [zeros] * 120_000)]), self.ann)
        self.good("POST", f"/v1/leases/{lease}/finish",
                  {"epoch": epoch, "outcome": "completed", "result": bomb}, self.ann)
        out = os.path.join(self.folder, "out")
        done = self.souk("results", job, "-o", out, token=self.bob, check=False)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("469 GiB", done.stderr)
        self.assertIn("--max-size", done.stderr)
        self.assertEqual(os.listdir(out), [])

    def test_a_lender_prints_escape_sequences(self):
        """Row 22."""
        job, lease, epoch = self.leased()
        text = "a\x1b]0;owned\x07b\x1b[2Jc\x1b[31md\x9b2Je\rf\u202eg\n"
        self.good("POST", f"/v1/leases/{lease}/log", {"epoch": epoch, "offset": 0, "text": text},
                  self.ann)
        self.assertEqual(self.souk("logs", job, token=self.bob).stdout, "abcd?2Je\nf?g\n")
        done = subprocess.run([SOUK, "logs", job, "--raw"], capture_output=True, timeout=DEADLINE_S,
                              check=True, env=dict(os.environ, SOUK_SERVER=self.server.url,
                                                   SOUK_TOKEN=self.bob, HOME=self.folder))
        self.assertEqual(done.stdout.decode(), text, "those who pipe get what was printed")

    def test_a_log_is_read_from_the_end_of_the_world(self):
        """Smaller: it answered 503."""
        _, lease, epoch = self.leased()
        self.good("POST", f"/v1/leases/{lease}/log", {"epoch": epoch, "offset": 0, "text": "hello"},
                  self.ann)
        for at in ("6", "9223372036854775806", "9223372036854775807", "18446744073709551615"):
            answer = self.server.call("GET", f"/v1/leases/{lease}/log?from={at}", token=self.bob)
            self.assertLess(answer.status, 500, answer.text)


class Logs(FilesTest):
    flags = ("--round", "200ms", "--requests", "0", "--budget", "log-bytes=1M")

    def test_a_program_prints_until_the_disk_is_full(self):
        """Smaller: what is printed is bounded for each borrower, old logs go first."""
        old, lease, epoch = self.leased()

        def write(lease, epoch):
            size = 0
            for _ in range(8):
                piece = {"epoch": epoch, "offset": size, "text": "x" * 200_000}
                size = self.good("POST", f"/v1/leases/{lease}/log", piece, self.ann)["size"]
            return size
        self.assertEqual(write(lease, epoch), 1_000_000)
        self.good("POST", f"/v1/leases/{lease}/finish", {"epoch": epoch, "outcome": "completed"},
                  self.ann)
        wait_for(lambda: self.good("GET", f"/v1/jobs/{old}", token=self.bob).get("ended"), "its end")
        _, lease, epoch = self.leased()
        self.assertEqual(write(lease, epoch), 1_000_000)
        self.assertEqual(self.souk("logs", old, token=self.bob).stdout, "")


class Rights(FilesTest):
    flags = ("--round", "200ms", "--requests", "0")

    def missing(self, names, token):
        return self.good("POST", "/v1/blobs/missing", {"names": names}, token)["names"]

    def test_a_name_is_enough_to_read_what_others_uploaded(self):
        """Smaller: any token read any blob, and heard whether it exists."""
        secret = self.send(b"bob's secret", self.bob)
        folder = self.send(manifest([("f", 12, [secret])]), self.bob)
        self.assertEqual(self.missing([secret, folder], self.bob), [])
        self.assertEqual(self.missing([secret, folder], self.eve), [secret, folder])
        for name in (secret, folder):
            for query in ("", "?job=j1", "?lease=l1"):
                self.assertEqual(self.raw("GET", f"/v1/blobs/{name}{query}", self.eve)[0], 404, query)
        self.assertEqual(self.submit(self.eve, [folder]).status, 400, "through a job of her own")
        mine = self.send(manifest([("g", 12, [secret])]), self.eve)
        self.assertEqual(self.submit(self.eve, [mine]).status, 400, "through a folder of her own")
        draft = {"yaml": "run: cat f\nworkdir: .\n", "files": mine}
        self.assertEqual(self.server.call("POST", "/v1/jobs/prepare", draft, self.eve).status, 400)
        self.assertEqual(self.raw("GET", "/v1/blobs/" + secret, self.bob), (200, b"\0bob's secret"))
        self.send(b"bob's secret", self.eve)  # Whoever has the content may send it,
        self.assertEqual(self.missing([secret], self.eve), [])  # and then it is hers too.

    def test_a_lender_reads_and_names_what_is_none_of_its_leases(self):
        """Smaller: a lease gives a right to what its job needs, and to nothing else."""
        needed = self.send(b"needed", self.bob)
        folder = self.send(manifest([("f", 6, [needed])]), self.bob)
        other = self.send(b"other", self.bob)
        _, lease, epoch = self.leased([folder])
        for name in (needed, folder):
            self.assertEqual(self.raw("GET", f"/v1/blobs/{name}?lease={lease}", self.eve)[0], 404)
        machine = self.good("GET", "/v1/machines", token=self.ann)["items"][0]["id"]
        agent = self.good("POST", "/v1/tokens", {"scope": "machine", "machine": machine},
                          self.ann)["token"]
        for name in (needed, folder):
            self.assertEqual(self.raw("GET", f"/v1/blobs/{name}?lease={lease}", agent)[0], 200)
        self.assertEqual(self.raw("GET", f"/v1/blobs/{other}?lease={lease}", agent)[0], 404)
        finish = {"epoch": epoch, "outcome": "completed", "result": other}
        self.assertEqual(self.server.call("POST", f"/v1/leases/{lease}/finish", finish, agent).status,
                         400, "as its result")
        self.good("POST", f"/v1/leases/{lease}/finish", {"epoch": epoch, "outcome": "completed"}, agent)
        self.assertEqual(self.raw("GET", f"/v1/blobs/{needed}?lease={lease}", agent)[0], 404, "is over")


@needs_sandbox
class Agents(LendingTest):
    put, raw, send, submit = FilesTest.put, FilesTest.raw, FilesTest.send, FilesTest.submit

    def test_a_few_bytes_unpack_to_more_than_the_lender_has(self):
        """Rows 18 and 19: a manifest says 2 GiB, and then half a terabyte, of one chunk."""
        agent = self.agent("box", "--cache", "64M")
        zeros = self.send(bytes(CHUNK), self.bob)
        for chunks in (512, 120_000):
            bomb = self.send(manifest([("f", chunks * CHUNK, [zeros] * chunks)]), self.bob)
            answer = self.submit(self.bob, [bomb], budget=1)
            self.assertEqual(answer.status, 201, answer.text)
            job = answer.json["id"]

            def refused():
                leases = self.good("GET", f"/v1/jobs/{job}/leases", token=self.bob)["items"]
                return [lease for lease in leases if "GiB in 1 files" in lease.get("detail", "")]
            wait_for(refused, "the lease to be refused")
            self.good("POST", f"/v1/jobs/{job}/cancel", {"reason": ""}, self.bob)
        size = sum(os.path.getsize(os.path.join(at, f)) for at, _, files in os.walk(agent.folder)
                   for f in files)
        self.assertLess(size, 64 << 20)
        self.assertIsNone(agent.process.poll(), agent.text())
        job = self.run_job("run: echo fine")
        self.souk("job", "wait", job, "--timeout", "60s", token=self.bob)


if __name__ == "__main__":
    unittest.main()
