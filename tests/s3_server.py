"""A real S3 server for tests: SeaweedFS (`weed`), started on free ports of loopback in a folder of its own."""
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

from souk import DEADLINE_S, wait_for

KEY, SECRET = "SOUKTESTKEY", "a+secret/with=letters"
NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # SHA-256 of no bytes.


def find_weed():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../build/python/bin/weed")
    return beside if os.access(beside, os.X_OK) else shutil.which("weed")


needs_s3 = unittest.skipUnless(find_weed(), "SeaweedFS is not installed: scripts/setup fetches it")


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


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
        wait_for(self.answers, "the S3 server", 60)

    def answers(self):
        if self.process.poll() is not None:
            with open(os.path.join(self.folder, "log"), encoding="utf-8") as log:
                raise AssertionError(log.read()[-2000:])
        try:
            urllib.request.urlopen(self.endpoint, timeout=2)
        except urllib.error.HTTPError as error:
            return error.code == 403  # Who are you?
        except OSError:
            return False
        return True

    def stop(self):
        self.process.kill()
        self.process.wait(DEADLINE_S)

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, prefix, **more):
        """What --blobs takes."""
        extra = "".join(f"&{name}={value}" for name, value in more.items())
        return f"s3://souk/{prefix}?endpoint={self.endpoint}{extra}"

    def curl(self, *flags, path):
        """A request signed by somebody else's code."""
        done = subprocess.run(
            ["curl", "-sS", "--fail-with-body", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user",
             f"{KEY}:{SECRET}", "-H", "x-amz-content-sha256: " + NOTHING, *flags,
             self.endpoint + path], capture_output=True, timeout=DEADLINE_S, check=False)
        if done.returncode != 0:
            raise AssertionError((done.stdout + done.stderr).decode())
        return done.stdout.decode(errors="replace")

    def keys(self, prefix):
        """The names of all chunks below a prefix."""
        text = self.curl(path=f"/souk?list-type=2&max-keys=1000&prefix={prefix}%2F")
        return {key.removeprefix(prefix + "/").replace("/", "")
                for key in re.findall(r"<Key>([^<]*)</Key>", text)}
