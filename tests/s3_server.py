"""A real S3 server for tests: SeaweedFS (`weed`), started on free ports of loopback in a folder of its own."""
import http.client
import http.server
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import unittest

from ports import free_ports
from souk import DEADLINE_S, wait_for

KEY, SECRET = "SOUKTESTKEY", "a+secret/with=letters"
NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # SHA-256 of no bytes.


def find_weed():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../build/python/bin/weed")
    return beside if os.access(beside, os.X_OK) else shutil.which("weed")


needs_s3 = unittest.skipUnless(find_weed(), "SeaweedFS is not installed: scripts/setup fetches it")


class S3Server:
    """With one bucket, `souk`, that one key may use."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="souk-s3-")
        os.mkdir(os.path.join(self.folder, "data"))
        with open(os.path.join(self.folder, "s3.json"), "w", encoding="utf-8") as out:
            json.dump({"identities": [{"name": "souk", "credentials": [
                {"accessKey": KEY, "secretKey": SECRET}],
                "actions": ["Admin", "Read", "Write", "List", "Tagging"]}]}, out)
        names = ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port",
                 "filer.port.grpc", "s3.port", "s3.port.grpc")
        self.ports = dict(zip(names, free_ports(len(names))))
        self.endpoint = f"http://127.0.0.1:{self.ports['s3.port']}"
        self.env = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
        self.process = None
        self.start()
        self.curl("-X", "PUT", path="/souk")

    def start(self):
        flags = [f"-{name}={port}" for name, port in self.ports.items()]
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(
                [find_weed(), "server", "-dir=" + os.path.join(self.folder, "data"), "-ip=127.0.0.1",
                 "-ip.bind=127.0.0.1", "-s3", "-s3.config=" + os.path.join(self.folder, "s3.json"),
                 "-s3.port.iceberg=0", "-s3.port.lance=0", "-master.volumeSizeLimitMB=64",
                 "-volume.max=20", *flags], stdout=log, stderr=log, cwd=self.folder)
        wait_for(self.answers, "the S3 server", 2 * DEADLINE_S)

    def answers(self):
        if self.process.poll() is not None:
            with open(os.path.join(self.folder, "log"), encoding="utf-8") as log:
                raise AssertionError(log.read()[-2000:])
        connection = http.client.HTTPConnection("127.0.0.1", self.ports["s3.port"], timeout=DEADLINE_S)
        try:
            connection.request("GET", "/")
            return connection.getresponse().status in (200, 403)  # Who are you?
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def stop(self):
        self.process.kill()
        self.process.wait(DEADLINE_S)

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, prefix, endpoint=None, **more):
        """What --blobs takes."""
        extra = "".join(f"&{name}={value}" for name, value in more.items())
        return f"s3://souk/{prefix}?endpoint={endpoint or self.endpoint}{extra}"

    def curl(self, *flags, path):
        """A request signed by somebody else's code."""
        done = subprocess.run(
            ["curl", "-sS", "--noproxy", "*", "--fail-with-body", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user",
             f"{KEY}:{SECRET}", "-H", "x-amz-content-sha256: " + NOTHING, *flags,
             self.endpoint + path], capture_output=True, timeout=5 * DEADLINE_S, check=False)
        if done.returncode != 0:
            raise AssertionError((done.stdout + done.stderr).decode())
        return done.stdout.decode(errors="replace")

    def keys(self, prefix):
        """The names of all chunks below a prefix."""
        text = self.curl(path=f"/souk?list-type=2&max-keys=1000&prefix={prefix}%2F")
        return {key.removeprefix(prefix + "/").replace("/", "")
                for key in re.findall(r"<Key>([^<]*)</Key>", text)}


class Gate:
    """Before the S3 server: lets so many uploads pass as the test allows, and everything else."""

    def __init__(self, test, s3):
        self.changed, self.left = threading.Condition(), 0  # None: no limit any more.
        gate = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if self.command == "PUT":
                    gate.enter()
                far = http.client.HTTPConnection("127.0.0.1", s3.ports["s3.port"], timeout=DEADLINE_S)
                try:
                    # With the name that it was signed for.
                    far.request(self.command, self.path, body, dict(self.headers))
                    answer = far.getresponse()
                    content = answer.read()
                    self.send_response(answer.status)
                    for name, value in answer.getheaders():
                        if name.lower() not in ("connection", "transfer-encoding", "content-length", "date", "server"):
                            self.send_header(name, value)
                    self.send_header("Content-Length", answer.getheader("Content-Length") or str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)
                except OSError:  # Whoever asked was killed, or nobody is there.
                    self.close_connection = True
                finally:
                    far.close()

            do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = pass_on  # noqa: N815

            def log_message(self, *args):  # pylint: disable=arguments-differ
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        test.addCleanup(self.server.server_close)
        test.addCleanup(self.server.shutdown)

    def enter(self):
        with self.changed:
            self.changed.wait_for(lambda: self.left is None or self.left > 0)
            if self.left is not None:
                self.left -= 1

    def allow(self, uploads):
        """So many more; None: all."""
        with self.changed:
            self.left = None if uploads is None else self.left + uploads
            self.changed.notify_all()
