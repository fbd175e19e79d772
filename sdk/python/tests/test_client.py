"""The client against the real server."""

from __future__ import annotations

import http.server
import json
import os
import re
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request
import uuid
from pathlib import Path
from typing import Any

import conversation  # noqa: F401  Finds the sources.

import souk

BINARY = Path(
    os.environ.get("SOUK_BIN", Path(__file__).resolve().parents[3] / "build/release/bin/souk")
)
PASSWORD = "correct horse battery"
DEADLINE_S = 120
HERE = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # By no proxy of this computer's.
BATCH = {"run": "python3 -c 'print(6 * 7)' > answer", "outputs": ["answer"]}


@unittest.skipUnless(BINARY.exists(), f"{BINARY} is not built (SOUK_BIN names another)")
class Market(unittest.TestCase):
    """A market of its own for all tests, with an operator, ann, and a borrower, bob."""

    server: subprocess.Popen[str]
    url: str
    ann: str  # Her token.

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="souk-client-")
        cls.addClassCleanup(folder.cleanup)
        log = open(Path(folder.name) / "log", "ab")
        cls.addClassCleanup(log.close)
        cls.server = subprocess.Popen(
            [str(BINARY), "serve", "--data", f"{folder.name}/market", "--listen", "127.0.0.1:0",
             "--challenge-every", "0s", "--signup-bonus", "0"],
            stdout=subprocess.PIPE, stderr=log, text=True,
            env={k: v for k, v in os.environ.items() if not k.startswith("SOUK_")},
        )  # fmt: skip
        cls.addClassCleanup(cls._end)
        assert cls.server.stdout is not None
        line = cls.server.stdout.readline()
        match = re.search(r"http://127\.0\.0\.1:\d+", line)
        assert match, f"serve said {line!r}"
        cls.url = match.group(0)
        cls.ann = cls.call("/v1/accounts", {"name": "ann", "password": PASSWORD})["token"]
        cls.call("/v1/accounts", {"name": "bob", "password": PASSWORD})
        cls.call("/v1/accounts/bob/grant", {"amount": 10}, cls.ann)

    @classmethod
    def _end(cls) -> None:
        cls.server.terminate()
        cls.server.wait(DEADLINE_S)
        assert cls.server.stdout is not None
        cls.server.stdout.close()

    @classmethod
    def call(cls, path: str, body: Any = None, token: str = "") -> Any:
        """What the client has no method for: things that operators and lenders do."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if body is not None:
            headers["Idempotency-Key"] = uuid.uuid4().hex
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(cls.url + path, data, headers)
        with HERE.open(request, timeout=DEADLINE_S) as response:
            return json.loads(response.read())

    def setUp(self) -> None:
        self.bob = souk.Client.login(self.url, "bob", PASSWORD)

    def test_account_and_prices(self) -> None:
        me = self.bob.account()
        self.assertEqual((me.name, me.operator), ("bob", False))
        self.assertLessEqual(me.available + me.escrow, 10)
        self.assertEqual(me.raw["name"], "bob")
        prices = self.bob.prices("c1", days=2)
        self.assertEqual(prices.slot_class, "c1")
        self.assertGreater(prices.suggested, 0)
        self.assertEqual(self.bob.prices().slot_class, prices.slot_class)

    def test_a_job_is_submitted_found_and_cancelled(self) -> None:
        job = self.bob.submit(
            {"name": "sum", "workers": 2, "limit": 0.5, "budget": 1, "batch": BATCH}
        )
        self.assertEqual((job.name, job.state, job.workers), ("sum", "queued", (2, 2)))
        self.assertTrue(job.live)
        self.assertEqual(self.bob.account().escrow, 1)
        self.assertEqual(self.bob.job(job.id).raw["batch"]["run"], BATCH["run"])
        self.assertIn(job.id, [j.id for j in self.bob.jobs()])
        self.assertIn(job.id, [j.id for j in self.bob.jobs(state="queued")])
        self.assertIn("summary", self.bob.why(job))
        with self.assertRaises(souk.Error) as caught:
            self.bob.wait(job, timeout_s=0.1)
        self.assertEqual(caught.exception.code, "unavailable")
        self.assertEqual(list(self.bob.logs(job)), [])
        self.assertEqual(self.bob.cancel(job, reason="wrong data").state, "cancelled")
        done = self.bob.wait(job, timeout_s=DEADLINE_S)
        self.assertFalse(done.live or done.succeeded)
        self.assertEqual(self.bob.account().escrow, 0)

    def test_lists_go_over_many_pages(self) -> None:
        made = [self.bob.submit({"workers": 1, "limit": 0.01, "budget": 0.01}) for _ in range(5)]
        self.addCleanup(lambda: [self.bob.cancel(job) for job in made])
        souk.client._PAGE, before = 2, souk.client._PAGE
        try:
            listed = [job.id for job in self.bob.jobs(state="queued")]
        finally:
            souk.client._PAGE = before
        self.assertEqual(
            [i for i in listed if i in {j.id for j in made}], [j.id for j in made][::-1]
        )

    def test_what_a_worker_prints_is_read_to_its_end(self) -> None:
        machine = self.call(
            "/v1/machines", {"name": "box", "spec": {"cores": 8, "memory_mib": 32768}}, self.ann
        )["id"]
        self.call(
            "/v1/offers", {"machine": machine, "class": "c1", "slots": 1, "price": 0.1}, self.ann
        )
        job = self.bob.submit({"class": "c1", "limit": 0.5, "budget": 1, "batch": BATCH})
        work: dict[str, Any] = {"leases": [], "version": 0}
        end = time.monotonic() + DEADLINE_S
        while not work["leases"] and time.monotonic() < end:
            work = self.call(
                f"/v1/machines/{machine}/work?seen={work['version']}&wait=5s", token=self.ann
            )
        lease, epoch = work["leases"][0]["id"], work["leases"][0]["epoch"]
        self.call(f"/v1/leases/{lease}/start", {"epoch": epoch}, self.ann)
        self.call(
            f"/v1/leases/{lease}/log", {"epoch": epoch, "offset": 0, "text": "füßchen\n"}, self.ann
        )
        self.assertEqual([t.text for t in self.bob.logs(job)], ["füßchen\n"])
        self.call(f"/v1/leases/{lease}/finish", {"epoch": epoch, "outcome": "completed"}, self.ann)
        self.assertTrue(self.bob.wait(job, timeout_s=DEADLINE_S).succeeded)
        told = list(self.bob.logs(job, worker=0, follow=True))
        self.assertEqual(told, [souk.LogText(lease, 0, "füßchen\n")])

    def test_refusals_say_code_message_and_hint(self) -> None:
        cases: list[tuple[str, Any]] = [
            ("not_found", lambda: self.bob.job("j999")),
            ("not_found", lambda: self.bob.prices("no such class")),
            ("invalid", lambda: list(self.bob.jobs(state="dancing"))),
            ("invalid", lambda: self.bob.submit({"workers": 1, "budget": 1, "colour": "red"})),
            ("unauthenticated", lambda: souk.Client(self.url, "souk_wrong").account()),
            ("unauthenticated", lambda: souk.Client.login(self.url, "bob", "not the password")),
            ("unavailable", lambda: souk.Client("http://127.0.0.1:1", "x").account()),
            ("invalid", lambda: souk.Client("file:///etc/passwd")),
        ]
        for code, call in cases:
            with self.assertRaises(souk.Error) as caught:
                call()
            self.assertEqual(caught.exception.code, code, caught.exception)
            self.assertTrue(caught.exception.message)

    def test_environment_names_the_market(self) -> None:
        os.environ.update(SOUK_SERVER=self.url, SOUK_TOKEN=self.ann)
        try:
            self.assertEqual(souk.Client().account().name, "ann")
        finally:
            del os.environ["SOUK_SERVER"], os.environ["SOUK_TOKEN"]


class Wire(unittest.TestCase):
    """What goes over the wire when servers misbehave."""

    def serve(self, answers: list[tuple[int, dict[str, str], bytes]]) -> tuple[str, list[Any]]:
        seen: list[Any] = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.do_GET()

            def do_GET(self) -> None:
                seen.append(dict(self.headers))
                status, headers, body = answers[len(seen) - 1]
                if status:  # 0: the connection breaks before the answer.
                    self.send_response(status)
                    for item in {**headers, "Content-Length": str(len(body))}.items():
                        self.send_header(*item)
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(server.server_close)  # In the reverse order.
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}", seen

    def test_a_lost_answer_is_asked_for_again_with_the_same_key(self) -> None:
        url, seen = self.serve([(0, {}, b""), (201, {}, b'{"token":"t"}')])
        souk.Client.login(url, "bob", PASSWORD)
        keys = [headers["Idempotency-Key"] for headers in seen]
        self.assertEqual(len(keys), 2)
        self.assertEqual(len(set(keys)), 1)

    def test_the_token_follows_no_redirect(self) -> None:
        other, seen = self.serve([(200, {}, b"{}")])
        url, _ = self.serve([(302, {"Location": other}, b"")])
        with self.assertRaises(souk.Error):
            souk.Client(url, "secret").account()
        self.assertEqual(seen, [])

    def test_an_answer_that_is_not_souks_is_an_error(self) -> None:
        for status, body in ((200, b"<html>"), (200, b"[]"), (500, b"oops"), (400, b'{"code":1}')):
            url, _ = self.serve([(status, {}, body)] * 2)
            with self.assertRaises(souk.Error) as caught:
                souk.Client(url, "x").account()
            self.assertEqual(caught.exception.code, "internal")

    def test_client_needs_no_numpy(self) -> None:
        import sys

        code = "import sys; sys.modules['numpy'] = None; import souk; souk.Client('http://x')"
        path = str(conversation.SOURCES)
        subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": path})


if __name__ == "__main__":
    unittest.main()
