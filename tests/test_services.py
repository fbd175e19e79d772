"""Services, sessions and volumes with the real binary: programs on machines that nobody can connect to."""
import http.client
import json
import os
import pty
import re
import select
import subprocess
import threading
import time
import unittest

from lending import LendingTest, needs_sandbox
from souk import DEADLINE_S, SOUK, wait_for

# Says who it is; sleeps as long as it is told; ends when it is told.
SERVER = """
import http.server, os, time, urllib.parse
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def answer(self):
        url = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(url.query)
        time.sleep(float(query.get("sleep", ["0"])[0]))
        if "die" in query: os._exit(3)
        length = int(self.headers.get("Content-Length") or 0)
        body = f"{os.environ['SOUK_INDEX']} {self.command} {url.path} {self.headers.get('X-Souk-Caller')} " \\
               f"{self.headers.get('Authorization')} {self.headers.get('Cookie')} ".encode() + self.rfile.read(length)
        self.send_response(200)
        self.send_header("Set-Cookie", "souk=stolen")
        if "stream" in query:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for i in range(int(query["stream"][0])):
                self.wfile.write(b"10000\\r\\n" + bytes([i % 256]) * 65536 + b"\\r\\n")
            self.wfile.write(b"0\\r\\n\\r\\n")
        else:
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = answer
    def log_message(self, *words): pass
class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
Server(("127.0.0.1", 8000), Handler).serve_forever()
"""


@needs_sandbox
class TunnelTest(LendingTest):
    def setUp(self):
        super().setUp()
        # What a session leaves is kept if it comes while it drains.
        self.good("PATCH", "/v1/settings", {"drain": "60s"}, self.ann)

    def job(self, job):
        return self.good("GET", f"/v1/jobs/{job}", token=self.bob)

    def logs(self, job):
        return self.souk("logs", job, token=self.bob).stdout

    def service(self, more="", name="echo", **keys):
        spec = {"port": 8000, "health": "/health", "timeout": "60s"} | keys
        spec = ", ".join(f"{k}: {v}" for k, v in spec.items())
        return self.run_job(f"kind: service\nname: {name}\nworkdir: project\nrun: python3 server.py\n"
                            f"service: {{{spec}}}\n{more}", server_py=SERVER)

    def ready(self, job, workers=1):
        def look():
            rows = self.good("GET", "/v1/services", token=self.bob)["items"]
            return next((r for r in rows if r["job"] == job), {"workers": 0})["workers"] >= workers
        wait_for(look, f"{workers} workers that can be talked to", 2 * DEADLINE_S)

    def call(self, path, token=None, method="GET", **more):
        return self.server.call(method, path, token=token or self.bob, **more)


class Services(TunnelTest):
    def test_a_program_answers_at_an_address_of_the_market(self):
        self.agent("box")
        job = self.service()
        self.ready(job)
        self.assertEqual(self.call("/v1/services/echo/a/b?x=1").text, "0 GET /a/b bob None None ",
                         "the program gets no token of the caller's")
        self.assertEqual(self.call("/v1/services/bob.echo/").text, "0 GET / bob None None ")
        posted = self.call(f"/v1/services/{job}/p", method="POST", body={"n": 1})
        self.assertEqual(posted.text, '0 POST /p bob None None {"n": 1}')
        self.assertIsNone(posted.headers.get("Set-Cookie"), "a stranger's program sets no cookies here")
        self.assertIn("sandbox", posted.headers.get("Content-Security-Policy"))
        self.assertEqual(self.call("/v1/services/bob.echo/", token=self.ann).status, 404, "its owner alone")
        self.assertEqual(self.call("/v1/services/nobody.echo/").status, 404)
        # An answer without a length comes as it is made, however long.
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=DEADLINE_S)
        self.addCleanup(connection.close)
        connection.request("GET", "/v1/services/echo/?stream=200", headers={"Authorization": "Bearer " + self.bob})
        self.assertEqual(len(connection.getresponse().read()), 200 * 65536)
        # Billed by the time and by the request.
        self.souk("cancel", job, token=self.bob)
        self.assertEqual(self.json("ledger", token=self.ann)["sum"], 0)

    def test_requests_are_paid_and_members_may_call(self):
        self.agent("box")
        path = self.job_file("kind: service\nname: echo\nworkdir: project\nrun: python3 server.py\n"
                             "service: {port: 8000, callers: members}\n"
                             "price: {limit: 1, budget: 5, request: 0.01}\n", server_py=SERVER)
        job = self.json("run", path, "--yes", token=self.bob)["id"]
        self.ready(job)
        for _ in range(10):
            self.assertEqual(self.call("/v1/services/bob.echo/", token=self.ann).status, 200)
        spent = wait_for(lambda: s if (s := self.job(job)["spent"]) >= 0.1 else None, "ten requests to be paid")
        self.assertLess(spent, 0.12, "and the time, at 0.1 an hour")
        self.assertEqual(self.job(job)["leases"][0]["requests"], 10)

    def test_a_worker_that_goes_costs_no_request(self):
        agents = [self.agent(f"box{i}") for i in range(2)]
        job = self.service("workers: 2", at_once=4)
        self.ready(job, 2)
        answers, over = [], threading.Event()

        def ask():
            while not over.is_set():
                answers.append(self.call("/v1/services/echo/?sleep=0.1").status)
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            wait_for(lambda: len(answers) > 20, "answers")
            agents[0].kill()
            wait_for(lambda n=len(answers): len(answers) > n + 20, "answers after the loss")
        finally:
            over.set()
            for thread in threads:
                thread.join()
        self.assertEqual(set(answers), {200})

    def test_it_grows_with_what_it_has_to_do(self):
        for i in range(2):
            self.agent(f"box{i}")
        job = self.service("workers: 1..2", at_once=1)
        self.ready(job)
        self.assertEqual(self.job(job)["held"], 1, "as few as it may have, at first")
        why, over = [], threading.Event()

        def ask():
            while not over.is_set():
                self.call("/v1/services/echo/?sleep=0.3")
        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            wait_for(lambda: self.job(job)["held"] == 2, "another worker", 2 * DEADLINE_S)
            why.append(self.job(job)["planned_why"])
            self.ready(job, 2)
        finally:
            over.set()
            for thread in threads:
                thread.join()
        self.assertIn("requests at a time", why[0])


class Sessions(TunnelTest):
    def shell(self, job):
        """`souk shell` at a terminal of its own: the process and our end."""
        ours, theirs = pty.openpty()
        env = {k: v for k, v in os.environ.items() if not k.startswith("SOUK_")}
        env.update(SOUK_SERVER=self.server.url, SOUK_TOKEN=self.bob, HOME=self.folder)
        process = subprocess.Popen([SOUK, "shell", job], env=env, stdin=theirs, stdout=theirs, stderr=theirs,
                                   start_new_session=True)
        os.close(theirs)
        self.addCleanup(os.close, ours)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, ours

    def until(self, fd, text):
        seen, end = "", time.monotonic() + 2 * DEADLINE_S
        while text not in seen:
            self.assertLess(time.monotonic(), end, f"{text!r} is not in {seen!r}")
            if select.select([fd], [], [], 0.2)[0]:
                try:
                    seen += os.read(fd, 65536).decode(errors="replace")
                except OSError:
                    break
        return seen

    def test_a_terminal_whose_volume_outlives_it(self):
        self.agent("box")
        text = "kind: session\nvolumes: [work]\nidle: 20m"
        job = self.run_job(text)
        process, fd = self.shell(job)
        self.until(fd, "connected")
        os.write(fd, b"echo $((6*7)) > work/answer; echo written-$((1+1)); tty; stty size\n")
        seen = self.until(fd, "24 80")
        self.assertIn("written-2", seen)
        self.assertNotIn("not a tty", seen)
        os.write(fd, b"\x1d")  # Ctrl-] leaves it running.
        self.until(fd, "left;")
        self.assertEqual(process.wait(DEADLINE_S), 0)
        process, fd = self.shell(job)
        self.until(fd, "written-2")  # What was on the screen.
        os.write(fd, b"exit\n")
        self.until(fd, "the session has ended")
        self.souk("job", "wait", job, "--timeout", "5m", token=self.bob)
        volumes = self.good("GET", "/v1/volumes", token=self.bob)["items"]
        self.assertEqual([(v["name"], v["job"]) for v in volumes], [("work", job)])
        # Another session, perhaps elsewhere, goes on with it.
        again = self.run_job(text)
        process, fd = self.shell(again)
        self.until(fd, "connected")
        os.write(fd, b"cat work/answer; echo more > work/more; echo done-$((2+2))\n")
        self.assertIn("42", self.until(fd, "done-4"))
        self.souk("cancel", again, token=self.bob)
        kept = os.path.join(self.folder, "kept")
        wait_for(lambda: self.good("GET", "/v1/volumes", token=self.bob)["items"][0]["job"] == again,
                 "what was there when it was cancelled")
        self.souk("volume", "get", "work", "-o", kept, token=self.bob)
        self.assertEqual(sorted(os.listdir(os.path.join(kept, "work"))), ["answer", "more"])
        self.souk("volume", "remove", "work", token=self.bob)
        self.assertEqual(self.good("GET", "/v1/volumes", token=self.bob)["items"], [])

    def test_a_port_of_a_session_is_reached_from_here_and_idleness_ends_it(self):
        self.agent("box")
        job = self.run_job("kind: session\nport: 9000\nidle: 20s\n"
                           "run: mkdir page; echo hello > page/x; cd page; exec python3 -m http.server 9000 -b 127.0.0.1")
        env = {k: v for k, v in os.environ.items() if not k.startswith("SOUK_")}
        env.update(SOUK_SERVER=self.server.url, SOUK_TOKEN=self.bob, HOME=self.folder)
        process = subprocess.Popen([SOUK, "forward", job, "9000", "--local", "0"], env=env, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        port = int(re.search(r"127\.0\.0\.1:(\d+)", process.stdout.readline()).group(1))

        def get():
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE_S)
                connection.request("GET", "/x")
                return connection.getresponse().read()
            except (OSError, http.client.HTTPException):
                return None
            finally:
                connection.close()
        self.assertEqual(wait_for(get, "the page"), b"hello\n")
        self.assertEqual(self.call(f"/v1/jobs/{job}/connect?port=9000", token=self.ann).status, 409, "its owner alone")
        self.souk("job", "wait", job, "--timeout", "5m", token=self.bob)
        self.assertIn("nobody used it", json.dumps(self.good("GET", f"/v1/jobs/{job}/leases", token=self.bob)))


if __name__ == "__main__":
    unittest.main()
