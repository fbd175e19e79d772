"""Images made by hand, and registries that have them: Debian's docker-registry where it is installed, and one
of a few lines that may lie."""
import gzip
import hashlib
import http.client
import http.server
import io
import json
import os
import shutil
import struct
import subprocess
import tarfile
import threading
import uuid

from ports import free_ports
from souk import DEADLINE_S, wait_for


def find_busybox():
    """One that needs no library: an image has nothing else."""
    path = shutil.which("busybox")
    if path is None:
        return None
    with open(path, "rb") as file:
        program = file.read()
    at, = struct.unpack_from("<Q", program, 32)
    size, count = struct.unpack_from("<HH", program, 54)
    kinds = [struct.unpack_from("<I", program, at + i * size)[0] for i in range(count)]
    return None if 3 in kinds else path  # PT_INTERP


BUSYBOX = find_busybox()
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def sha256(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def layer(files, links=None, more=(), packed=True):
    """A layer with these files (bytes; executable where they begin as programs do), links, and tar entries."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for path, content in files.items():
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(content), 0o755 if content[:2] in (b"#!", b"\x7fE") else 0o600
            tar.addfile(entry, io.BytesIO(content))
        for path, target in (links or {}).items():
            entry = tarfile.TarInfo(path)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            tar.addfile(entry)
        for entry in more:
            tar.addfile(entry, io.BytesIO(b"\0" * entry.size))
    return gzip.compress(out.getvalue(), mtime=0) if packed else out.getvalue()


def busybox_layer(tools="sh cat ls echo env id pwd touch ip sleep wc"):
    with open(BUSYBOX, "rb") as program:
        files = {"bin/busybox": program.read()}
    return layer(files, {f"bin/{tool}": "busybox" for tool in tools.split()})


class Image:
    """What a registry stores of an image."""

    def __init__(self, layers, **config):
        self.config = json.dumps({"architecture": "amd64", "os": "linux", "config": config}).encode()
        self.blobs = [self.config, *layers]
        self.manifest = json.dumps({
            "schemaVersion": 2, "mediaType": MANIFEST,
            "config": {"mediaType": "application/vnd.oci.image.config.v1+json",
                       "digest": sha256(self.config), "size": len(self.config)},
            "layers": [{"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": sha256(blob),
                        "size": len(blob)} for blob in layers]}).encode()
        self.digest = sha256(self.manifest)


class HandRegistry:
    """Has what it is given; `lies` are answers instead of what has that digest."""

    def __init__(self, test):
        self.content, self.lies, self.asked = {}, {}, []
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):  # pylint: disable=invalid-name
                digest = self.path.rsplit("/", 1)[-1]
                registry.asked.append(self.path)
                body = registry.lies.get(digest, registry.content.get(digest))
                self.send_response(404 if body is None else 200)
                self.send_header("Content-Length", str(len(body or b"")))
                self.send_header("Content-Type", MANIFEST)
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *args):  # pylint: disable=arguments-differ
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        test.addCleanup(self.server.server_close)
        test.addCleanup(self.server.shutdown)
        self.host = f"127.0.0.1:{self.server.server_port}"

    def push(self, name, image):
        for content in (*image.blobs, image.manifest):
            self.content[sha256(content)] = content
        return f"{self.host}/{name}@{image.digest}"


class RealRegistry:
    """Debian's docker-registry, on a free port."""

    def __init__(self, test):
        self.folder = os.path.join(test.folder, "registry")
        os.makedirs(self.folder)
        self.log = os.path.join(self.folder, "log")
        self.mark = uuid.uuid4().hex  # In its answers: at its port another's could be.
        self.process = None
        test.addCleanup(self.end)
        wait_for(self.started, "the registry")

    def started(self):
        """A port that was free a moment ago may have been taken since: then another is tried."""
        if self.process is None or self.process.poll() is not None:
            self.host = f"127.0.0.1:{free_ports(1)[0]}"
            config = os.path.join(self.folder, "config.yml")
            with open(config, "w", encoding="utf-8") as out:
                out.write(f"version: 0.1\nstorage: {{filesystem: {{rootdirectory: {self.folder}/data}}}}\n"
                          f"http: {{addr: {self.host}, headers: {{X-Souk-Test: [{self.mark}]}}}}\n")
            with open(self.log, "wb") as log:
                self.process = subprocess.Popen(["docker-registry", "serve", config], stdout=log, stderr=log)
        return self.answers()

    def end(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait(DEADLINE_S)

    def answers(self):
        try:
            answer = self.call("GET", "/v2/")
            return answer.status == 200 and answer.getheader("X-Souk-Test") == self.mark
        except (OSError, http.client.HTTPException):
            return False

    def call(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection(self.host, timeout=DEADLINE_S)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer

    def push(self, name, image):
        for blob in image.blobs:
            place = self.call("POST", f"/v2/{name}/blobs/uploads/").getheader("Location")
            path = place.split(self.host, 1)[-1]
            path += ("&" if "?" in path else "?") + "digest=" + sha256(blob)
            answer = self.call("PUT", path, blob, {"Content-Type": "application/octet-stream"})
            assert answer.status == 201, answer.status
        answer = self.call("PUT", f"/v2/{name}/manifests/latest", image.manifest, {"Content-Type": MANIFEST})
        assert answer.status == 201, answer.status
        return f"{self.host}/{name}@{image.digest}"


def registry(test):
    return (RealRegistry if shutil.which("docker-registry") else HandRegistry)(test)
