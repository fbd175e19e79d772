"""A package index on this machine, with wheels made by hand."""
import base64
import hashlib
import http.server
import io
import os
import threading
import zipfile


def wheel(name, version, files=None, requires=(), scripts=None):
    """A wheel for any Python; its module says its version."""
    out = io.BytesIO()
    info = f"{name}-{version}.dist-info"
    content = {f"{name}.py": f"version = '{version}'\ndef main():\n    print('{name} runs')\n".encode(),
               **(files or {}),
               f"{info}/METADATA": (f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" +
                                    "".join(f"Requires-Dist: {r}\n" for r in requires)).encode(),
               f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    if scripts:
        content[f"{info}/entry_points.txt"] = ("[console_scripts]\n" + "".join(
            f"{script} = {target}\n" for script, target in scripts.items())).encode()
    record = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for path, data in content.items())
    content[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in content.items():
            archive.writestr(zipfile.ZipInfo(path, (2024, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


class PackageIndex:
    """Serves /simple/NAME/ and the wheels; `lies` are what is sent instead, from now on."""

    def __init__(self, test):
        self.files, self.lies, self.asked, self.lent = {}, {}, [], []
        index = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):  # pylint: disable=invalid-name
                if self.headers["User-Agent"] == "souk":  # Not uv's.
                    index.lent.append(self.path)
                body = index.answer(self.path)
                self.send_response(404 if body is None else 200)
                self.send_header("Content-Type", "text/html" if "simple" in self.path else "application/zip")
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(body or b"")

            do_HEAD = do_GET

            def log_message(self, *args):  # pylint: disable=arguments-differ
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        test.addCleanup(self.server.server_close)
        test.addCleanup(self.server.shutdown)
        self.host = f"127.0.0.1:{self.server.server_port}"
        # No cache of uv's from one test to the next: the port may be the same.
        self.env = {"UV_DEFAULT_INDEX": f"http://{self.host}/simple/", "UV_NO_CONFIG": "1",
                    "UV_CACHE_DIR": os.path.join(test.folder, "uv-cache")}

    def answer(self, path):
        self.asked.append(path)
        parts = path.strip("/").split("/")
        if parts[0] == "simple" and len(parts) == 2:
            links = "".join(f'<a href="/files/{name}#sha256={hashlib.sha256(data).hexdigest()}">{name}</a>'
                            for name, data in self.files.items()
                            if name.split("-")[0].replace("_", "-") == parts[1])
            return f"<!DOCTYPE html><html><body>{links}</body></html>".encode() if links else None
        return self.lies.get(parts[-1], self.files.get(parts[-1]))

    def add(self, name, version, *args, **kwargs):
        self.files[f"{name}-{version}-py3-none-any.whl"] = wheel(name, version, *args, **kwargs)
