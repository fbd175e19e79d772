#!/usr/bin/env python3
"""A service under load while its machines are killed (kill -9), one every so often: what callers notice.

    bench/service.py [--rate 200] [--seconds 60] [--kill-every 10] [--workers 3] [--json]

Requests come at a steady rate, whether or not the ones before are answered. The program takes 5 ms for each. SOUK_BIN names
the binary. Exit status 1 when a request that the market accepted was not answered.
"""
import argparse
import http.client
import json
import os
import queue
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../tests"))
from lending import LendingTest  # noqa: E402
from souk import wait_for  # noqa: E402

PROGRAM = '''
import http.server, time
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    def do_GET(self):
        if self.path != "/health": time.sleep(0.005)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
    def log_message(self, *words): pass
class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
Server(("127.0.0.1", 8000), Handler).serve_forever()
'''


class Load:
    """So many requests a second, each from the moment it was due."""

    def __init__(self, port, token, path):
        self.due, self.seen, self.lock = queue.Queue(), [], threading.Lock()
        self.port, self.path, self.headers = port, path, {"Authorization": "Bearer " + token}
        self.threads = [threading.Thread(target=self.work, daemon=True) for _ in range(64)]
        for thread in self.threads:
            thread.start()

    def work(self):
        connection = None
        while (at := self.due.get()) is not None:
            try:
                connection = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
                connection.request("GET", self.path, headers=self.headers)
                answer = connection.getresponse()
                answer.read()
                status = answer.status
            except (OSError, http.client.HTTPException) as error:
                status, connection = repr(error), None
            with self.lock:
                self.seen.append((at, time.monotonic() - at, status))

    def run(self, rate, seconds):
        begun = time.monotonic()
        for i in range(int(rate * seconds)):
            at = begun + i / rate
            if (wait := at - time.monotonic()) > 0:
                time.sleep(wait)
            self.due.put(at)
        for _ in self.threads:
            self.due.put(None)
        for thread in self.threads:
            thread.join()


class Service(LendingTest):
    def runTest(self):
        agents = [self.agent(f"box{i}") for i in range(ARGS.workers + 1)]
        job = self.run_job(f"kind: service\nname: echo\nworkdir: project\nrun: python3 server.py\nworkers: {ARGS.workers}\n"
                           "service: {port: 8000, health: /health, at_once: 16, timeout: 30s}", server_py=PROGRAM)

        def ready(n):
            rows = self.good("GET", "/v1/services", token=self.bob)["items"]
            return rows and rows[0]["workers"] >= n
        wait_for(lambda: ready(ARGS.workers), "the service", 60)
        load, kills, over = Load(self.server.port, self.bob, "/v1/services/echo/x"), [], threading.Event()

        def kill():
            while not over.wait(ARGS.kill_every):
                at = {l["machine"] for l in self.good("GET", f"/v1/jobs/{job}", token=self.bob)["leases"]
                      if l["state"] == "running"}
                busy = [a for a in agents if any(f"({m})" in a.text() for m in at)]
                machine = busy[len(kills) % len(busy)]
                machine.kill()
                kills.append(time.monotonic())
                if over.wait(ARGS.kill_every / 3):
                    return
                machine.start()
        killer = threading.Thread(target=kill)
        killer.start()
        load.run(ARGS.rate, ARGS.seconds)
        over.set()
        killer.join()
        took = sorted(t for _, t, status in load.seen if status == 200)
        bad = [status for _, _, status in load.seen if status != 200]
        refused = [s for s in bad if s in (429, 503)]
        ROW.update(requests=len(load.seen), answered=len(took), refused=len(refused), lost=len(bad) - len(refused),
                   kills=len(kills), p50_ms=1e3 * took[len(took) // 2], p99_ms=1e3 * took[len(took) * 99 // 100],
                   worst_ms=1e3 * took[-1], bad=sorted(set(map(str, bad)))[:5])


def main():
    print(f"service.py: {ARGS.rate:g} requests/s for {ARGS.seconds:g} s to {ARGS.workers} workers, one killed every "
          f"{ARGS.kill_every:g} s", flush=True)
    result = unittest.TextTestRunner(verbosity=0, stream=open(os.devnull, "w")).run(Service())
    for _, trace in result.errors + result.failures:
        print(trace, file=sys.stderr)
    if not result.wasSuccessful():
        return 2
    print(f"  {ROW['requests']} requests, {ROW['answered']} answered, {ROW['refused']} refused, {ROW['lost']} lost, {ROW['kills']} kills; "
          f"p50 {ROW['p50_ms']:.1f} ms, p99 {ROW['p99_ms']:.1f} ms, worst {ROW['worst_ms']:.0f} ms {ROW['bad'] or ''}")
    if ARGS.json:
        print(json.dumps(ROW))
    return 0 if ROW["lost"] == 0 else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--kill-every", type=float, default=10)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    ARGS, ROW = parser.parse_args(), {}
    sys.exit(main())
