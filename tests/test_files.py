"""Large inputs with real agents: machines of one job give each other its files, a slow line is no
reason to give up, a new version of a file sends what is new."""
import hashlib
import http.server
import os
import random
import threading
import unittest

from lending import LendingTest, needs_sandbox
from line import Line
from souk import DEADLINE_S, wait_for

MIB = 1 << 20


class FilesTest(LendingTest):
    def write(self, size, seed=1):
        """A file of noise in a folder; its SHA-256."""
        os.makedirs(os.path.join(self.folder, "big"), exist_ok=True)
        content = random.Random(seed).randbytes(size)
        with open(os.path.join(self.folder, "big", "data.bin"), "wb") as out:
            out.write(content)
        return hashlib.sha256(content).hexdigest()

    def agent_at(self, line, name, *flags):
        """An agent that reaches the market over `line`."""
        return self.agent(name, *flags, server=line.url)

    def sharer_at(self, line, name):
        """One that gives others what it has, as the market knows already."""
        def told():
            return sum("/sharing" in request for request in line.requests)
        before = told()
        agent = self.agent_at(line, name, "--share-chunks", "127.0.0.1:0")
        wait_for(lambda: told() > before, "the market to hear that it shares")
        return agent

    def submit(self, workers="1", then="sleep 1"):
        return self.run_job(f"run: sha256sum data/data.bin; {then}\n"
                            "inputs: [{path: data, folder: big}]\nworkers: " + workers)

    def wait_job(self, job):
        return self.souk("job", "wait", job, "--timeout", "5m", "--json", token=self.bob)

    def run_together(self, digest, workers, meanwhile=lambda: None):
        """Runs it on so many machines, each of which has its lease until all have the file."""
        job = self.submit(f"{workers}..{workers}", then="sleep 1000")
        meanwhile()
        wait_for(lambda: self.logs(job).count(digest) >= workers, "all to have the file", 5 * DEADLINE_S)
        self.souk("cancel", job, token=self.bob)

    def logs(self, job):
        return self.souk("logs", job, token=self.bob).stdout


@needs_sandbox
class Sharing(FilesTest):
    def test_four_machines_cost_the_server_little_more_than_one(self):
        size, workers = 40 * MIB, 4
        digest = self.write(size)
        line = Line(self, self.server.port)
        for i in range(workers):
            self.sharer_at(line, f"m{i}")
        before = line.sent
        self.run_together(digest, workers)
        self.assertLessEqual((line.sent - before) / size, 1.5, "of what the server would send to one")

    def test_machines_that_share_nothing_cost_it_all(self):
        """So that the test above shows something."""
        size, workers = 12 * MIB, 2
        digest = self.write(size)
        line = Line(self, self.server.port)
        for i in range(workers):
            self.agent_at(line, f"m{i}")
        before = line.sent
        self.run_together(digest, workers)
        self.assertGreaterEqual((line.sent - before) / size, 1.9)

    def test_a_machine_that_dies_while_it_shares_delays_nobody_for_long(self):
        digest = self.write(24 * MIB)
        line = Line(self, self.server.port, stall_after=8 * MIB)  # None has all of it yet.
        agents = [self.sharer_at(line, f"m{i}") for i in range(3)]

        def die():
            wait_for(lambda: line.stalled, "some of it to have come")
            agents[0].kill()
            self.set_silence("15s")
            line.release()
            self.agent_at(line, "m3", "--share-chunks", "127.0.0.1:0")
        self.run_together(digest, 3, die)


@needs_sandbox
class SlowLine(FilesTest):
    def outcomes(self, job):
        leases = self.good("GET", f"/v1/jobs/{job}/leases", token=self.bob)["items"]
        return [l["outcome"] for l in leases if "outcome" in l]

    def test_files_may_take_longer_than_the_set_up_limit_while_they_come(self):
        self.good("PATCH", "/v1/settings", {"setup": "10s"}, self.ann)
        digest = self.write(48 * MIB)
        line = Line(self, self.server.port, rate=3 * MIB)  # Sixteen seconds, a chunk in less than one.
        self.agent_at(line, "far")
        job = self.submit()
        self.wait_job(job)
        self.assertIn(digest, self.logs(job))
        self.assertEqual(self.outcomes(job), ["completed"], "one try was enough")

    def test_a_line_that_stands_still_is_given_up_and_is_the_lenders_fault(self):
        self.good("PATCH", "/v1/settings", {"setup": "2s"}, self.ann)
        self.write(12 * MIB)
        line = Line(self, self.server.port, stall_after=5 * MIB)
        self.agent_at(line, "far")
        before = self.good("GET", "/v1/machines", token=self.ann)["items"][0]["reliability"]
        job = self.submit()
        wait_for(lambda: "unstarted" in self.outcomes(job), "the lease to be given up")
        after = self.good("GET", "/v1/machines", token=self.ann)["items"][0]["reliability"]
        self.assertLess(after, before)


class WebServer:
    """Files at an address, from which agents fetch; `moved` are redirects, `cut` sends half of it once."""

    def __init__(self, test):
        self.files, self.moved, self.cut, self.asked = {}, {}, set(), []
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):  # pylint: disable=invalid-name
                web.asked.append(self.path)
                if self.path in web.moved:
                    self.send_response(302)
                    self.send_header("Location", web.moved[self.path])
                    self.send_header("Content-Length", "0")
                    return self.end_headers()
                content = web.files.get(self.path)
                begin = int((self.headers["Range"] or "bytes=0-")[6:-1])
                self.send_response(404 if content is None else 206 if begin else 200)
                body = (content or b"")[begin:]
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.path in web.cut:
                    web.cut.discard(self.path)
                    self.wfile.write(body[:len(body) // 2])
                    self.close_connection = True
                else:
                    self.wfile.write(body)
                return None

            def log_message(self, *args):  # pylint: disable=arguments-differ
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        test.addCleanup(self.server.server_close)
        test.addCleanup(self.server.shutdown)

    def put(self, path, content):
        self.files[path] = content
        return hashlib.sha256(content).hexdigest()


@needs_sandbox
class FromTheWeb(FilesTest):
    """`fetch: lender`: the bytes do not pass the market."""

    def setUp(self):
        super().setUp()
        self.web = WebServer(self)
        self.content = random.Random(7).randbytes(3 * MIB)
        self.digest = self.web.put("/data.bin", self.content)

    def fetching(self, url=None, digest=None):
        return self.run_job("run: sha256sum data.bin && ! touch data.bin\n"
                            f"inputs: [{{path: data.bin, url: '{url or self.web.url + '/data.bin'}', "
                            f"hash: '{digest or self.digest}', fetch: lender}}]")

    def lender(self, name="m"):
        return self.agent(name, "--fetch", self.web.url)

    def refusal(self, job):
        """Why its first lease ended without a start."""
        leases = lambda: self.good("GET", f"/v1/jobs/{job}/leases", token=self.bob)["items"]  # noqa: E731
        return wait_for(lambda: next((l["detail"] for l in leases() if l.get("outcome") == "unstarted"), None),
                        "a lease that ends without a start")

    def test_a_lender_that_allows_the_host_fetches_once_for_all_its_leases(self):
        self.web.cut.add("/data.bin")  # And goes on where the line broke.
        self.lender()
        for _ in range(2):
            job = self.fetching()
            self.wait_job(job)
            self.assertIn(self.digest, self.logs(job))
        self.assertEqual(self.web.asked, ["/data.bin"] * 2, "one file in two pieces, then none")

    def test_a_machine_whose_owner_did_not_allow_it_gets_no_such_job(self):
        self.agent("m")
        job = self.fetching()
        wait_for(lambda: "@fetch:127.0.0.1" in self.souk("why", job, token=self.bob).stdout, "the reason")
        self.assertEqual(self.web.asked, [])

    def test_another_file_than_the_hash_names_is_not_given_to_the_program(self):
        self.lender()
        reason = self.refusal(self.fetching(digest="0" * 64))
        self.assertIn("is not the file with SHA-256 000", reason)

    def test_a_redirect_to_another_host_is_refused(self):
        inner = WebServer(self)
        inner.put("/secret", b"of the lender's network")
        self.web.moved["/data.bin"] = inner.url + "/secret"
        self.lender()
        reason = self.refusal(self.fetching())
        self.assertIn("may not be asked", reason)
        self.assertEqual(inner.asked, [])

    def test_a_borrower_may_fetch_it_itself_over_redirects(self):
        self.web.moved["/moved"] = "/data.bin"
        self.agent("m")
        job = self.run_job("run: sha256sum data.bin\n"
                           f"inputs: [{{path: data.bin, url: '{self.web.url}/moved', hash: {self.digest}}}]")
        self.wait_job(job)
        self.assertIn(self.digest, self.logs(job))


class Versions(FilesTest):
    def test_a_new_version_sends_what_is_new(self):
        size = 48 * MIB
        self.write(size)
        self.submit()
        path = os.path.join(self.folder, "big", "data.bin")
        with open(path, "rb") as f:
            content = f.read()
        with open(path, "wb") as f:
            f.write(content[:size // 2] + b"a few bytes that were not there" + content[size // 2:])
        before = self.blob_bytes()
        self.submit()
        fresh = self.blob_bytes() - before
        self.assertGreater(fresh, 0)
        self.assertLess(fresh, 12 * MIB, "at most three chunks and the list of files")

    def blob_bytes(self):
        budgets = self.good("GET", "/v1/accounts/bob/budgets", token=self.bob)["items"]
        return next(b["used"] for b in budgets if b["name"] == "blob-bytes")


if __name__ == "__main__":
    unittest.main()
