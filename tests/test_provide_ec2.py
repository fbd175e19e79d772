"""Machines on demand from EC2, against moto's server: tags, tokens, spot, throttling, lost and stale answers."""
import base64
import http.client
import http.server
import json
import os
import re
import subprocess
import sys
import threading
import time
import unittest
import unittest.mock
import urllib.parse

from souk import DEADLINE_S, SOUK, MarketTest, wait_for

PYTHON = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../build/python/bin/python")


def find_moto():
    for python in (PYTHON, "python3", sys.executable):
        try:
            if subprocess.run([python, "-c", "import moto.moto_server.werkzeug_app"], capture_output=True,
                              check=False).returncode == 0:
                return python
        except OSError:
            pass
    return None


# moto's server at a port that it finds itself; it ends when its input does, and so with the test.
SERVE = """
import os, sys, threading
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server
server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=True)
print(server.server_port, flush=True)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
server.serve_forever()
"""


MOTO = find_moto()


class Proxy:
    """Stands between souk and moto and makes EC2's own faults: `plan` gives one for each call."""

    def __init__(self, port):
        self.calls, self.plan, self.hidden = [], lambda action, n: None, 0
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                fields = dict(urllib.parse.parse_qsl(body.decode()))
                action = fields["Action"]
                proxy.calls.append((action, fields, dict(self.headers)))
                fault = proxy.plan(action, sum(1 for c in proxy.calls if c[0] == action))
                if fault == "throttle":
                    return self.answer(503, b"<Response><Errors><Error><Code>RequestLimitExceeded</Code>"
                                            b"<Message>Request limit exceeded.</Message></Error></Errors>"
                                            b"<RequestID>x</RequestID></Response>")
                if fault == "lost before":
                    return self.drop()
                upstream = http.client.HTTPConnection("127.0.0.1", port, timeout=5 * DEADLINE_S)
                upstream.request("POST", self.path, body, {
                    k: v for k, v in self.headers.items() if k.lower() != "host"} | {
                        "Host": "ec2.us-east-1.amazonaws.com" if "us-east-1" in
                        self.headers.get("Authorization", "") else "ec2.eu-west-1.amazonaws.com"})
                reply = upstream.getresponse()
                text = reply.read()
                upstream.close()
                if fault == "lost after":
                    return self.drop()
                if fault == "empty":
                    text = re.sub(rb"<reservationSet>.*</reservationSet>", b"<reservationSet/>", text,
                                  flags=re.DOTALL)
                return self.answer(reply.status, text)

            def answer(self, status, text):
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def drop(self):
                self.close_connection = True
                self.connection.close()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def end(self):
        self.server.shutdown()
        self.server.server_close()


@unittest.skipUnless(MOTO, "moto is not installed: scripts/setup test fetches it from PyPI")
class Ec2Test(MarketTest):
    flags = ("--round", "200ms", "--requests", "0")

    @classmethod
    def setUpClass(cls):
        moto = subprocess.Popen([MOTO, "-c", SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, env={**os.environ, "AWS_DEFAULT_REGION": "us-east-1"})

        def end():
            moto.stdin.close()
            moto.wait(DEADLINE_S)
            moto.stdout.close()
        cls.addClassCleanup(end)
        cls.port = int(moto.stdout.readline())
        # What it reads at the first question takes longer than any answer: souk asks after that.
        for region in ("us-east-1", "eu-west-1"):
            cls.ask(f"ec2.{region}.amazonaws.com", "Action=RunInstances&ImageId=ami-12c6146b&MinCount=1&MaxCount=1&"
                    "InstanceType=m5.large&Version=2016-11-15", region)
            for action in ("DescribeInstances", "DescribeSpotPriceHistory", "DescribeInstanceTypes"):
                cls.ask(f"ec2.{region}.amazonaws.com", f"Action={action}&Version=2016-11-15", region)

    @classmethod
    def ask(cls, host, body, region="us-east-1"):
        """moto's answer, past the proxy; signatures mean nothing to it."""
        connection = http.client.HTTPConnection("127.0.0.1", cls.port, timeout=5 * DEADLINE_S)
        try:
            connection.request("POST", "/", body, {
                "Host": host, "Content-Type": "application/x-www-form-urlencoded",
                "Authorization": f"AWS4-HMAC-SHA256 Credential=x/20260101/{region}/ec2/aws4_request"})
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    def setUp(self):
        keys = unittest.mock.patch.dict(os.environ)
        keys.start()
        self.addCleanup(keys.stop)
        for name in [name for name in os.environ if name.startswith("AWS_")]:  # Somebody's own.
            del os.environ[name]
        super().setUp()
        self.ann, self.bob = self.sign_up("ann"), self.sign_up("bob")
        self.souk("account", "grant", "bob", "100", token=self.ann)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_S)
        connection.request("POST", "/moto-api/reset")
        connection.getresponse().read()
        connection.close()
        self.proxy = Proxy(self.port)
        self.addCleanup(self.proxy.end)
        self.env = {"AWS_ACCESS_KEY_ID": "AKIATEST", "AWS_SECRET_ACCESS_KEY": "secret"}

    def provide_cli(self, *args, check=True):
        return self.souk("provide", *args, token=self.ann, check=check, env=self.env)

    def provide(self, *flags, region="us-east-1"):
        log = open(os.path.join(self.folder, "provide.log"), "ab")
        env = {k: v for k, v in os.environ.items() if not k.startswith("SOUK_")}
        env.update(self.env, SOUK_SERVER=self.server.url, SOUK_TOKEN=self.ann, HOME=self.folder)
        process = subprocess.Popen(
            [SOUK, "provide", "ec2", "--region", region, "--type", "m5.large", "--image",
             "ami-12c6146b", "--endpoint", self.proxy.url, "--max-spend", "20", "--every", "300ms",
             "--spot", *flags], stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=env)
        log.close()

        def end():
            if process.poll() is None:
                process.kill()
            process.wait(DEADLINE_S)
        self.addCleanup(end)
        return process

    def log(self):
        with open(os.path.join(self.folder, "provide.log"), encoding="utf-8") as log:
            return log.read()

    def instances(self, *states):
        """What moto has."""
        text = self.ask("ec2.us-east-1.amazonaws.com", "Action=DescribeInstances&Version=2016-11-15")
        found = re.findall(r"<instanceId>(i-\w+)</instanceId>.*?<instanceState>.*?<name>([\w-]+)</name>",
                           text, re.DOTALL)
        return sorted(i for i, state in found if state in (states or ("pending", "running")))

    def test_an_instance_has_its_tags_and_its_end_with_it_and_stop_leaves_none(self):
        process = self.provide("--min", "2", "--max", "2")
        wait_for(lambda: len(self.instances()) == 2, "two instances", 2 * DEADLINE_S)
        # A call that was slow may have been made again, for the same instance.
        calls = {fields["ClientToken"]: (fields, headers)
                 for action, fields, headers in self.proxy.calls if action == "RunInstances"}
        [(fields, headers), _] = calls.values()
        self.assertEqual(fields["MinCount"] + fields["MaxCount"], "11")
        self.assertTrue(fields["ClientToken"].startswith("souk.ann-"))
        self.assertEqual(fields["TagSpecification.1.ResourceType"], "instance")
        self.assertEqual(fields["InstanceInitiatedShutdownBehavior"], "terminate")
        self.assertEqual(fields["MetadataOptions.HttpTokens"], "required")
        self.assertEqual(fields["InstanceMarketOptions.MarketType"], "spot")
        self.assertIn("AWS4-HMAC-SHA256 Credential=AKIATEST/", headers["Authorization"])
        script = base64.b64decode(fields["UserData"]).decode()
        self.assertLess(script.index("shutdown -h +240"), script.index("curl"))
        self.assertIn("spot/instance-action", script)
        self.assertEqual(subprocess.run(["sh", "-n"], input=script, text=True).returncode, 0)
        self.provide_cli("stop", "--all", "--wait", "5m")
        self.assertEqual(self.instances(), [])
        self.assertEqual(process.wait(DEADLINE_S), 0)
        self.assertEqual(self.good("GET", "/v1/machines", token=self.ann)["items"], [])

    def test_faults_of_ec2_neither_double_nor_lose_an_instance(self):
        order = ["throttle", "lost after", "lost before", "lost after", None]

        def plan(action, n):
            if action == "RunInstances":
                return order[(n - 1) % len(order)]
            if action == "DescribeInstances":
                return {2: "empty", 3: "empty", 5: "lost after"}.get(n % 7)
            if action == "TerminateInstances":
                return {1: "throttle", 2: "lost before"}.get(n)
            return None
        self.proxy.plan = plan
        process = self.provide("--min", "2", "--max", "2")
        wait_for(lambda: len(self.instances()) == 2, "two instances", 5 * DEADLINE_S)
        process.kill()
        process.wait(DEADLINE_S)
        self.proxy.plan = lambda action, n: None
        process = self.provide("--min", "2", "--max", "2")
        before = self.instances()
        asked = len([c for c in self.proxy.calls if c[0] == "DescribeInstances"])
        wait_for(lambda: len([c for c in self.proxy.calls if c[0] == "DescribeInstances"]) > asked + 3,
                 "some rounds", 2 * DEADLINE_S)
        # One whose reply was lost and that listings did not show was given up, and is stopped when it shows: another
        # stands in for it. What was known is kept.
        wait_for(lambda: len(self.instances()) == 2, "two instances again", 5 * DEADLINE_S)
        self.assertTrue(set(before) & set(self.instances()), self.log())
        self.provide_cli("stop", "--all", "--wait", "5m")
        self.assertEqual(self.instances(), [])

    def test_a_dry_run_compares_regions_and_starts_nothing(self):
        said = json.loads(self.provide_cli(
            "ec2", "--region", "us-east-1", "--region", "eu-west-1", "--type", "m5.large", "--spot",
            "--image", "ami-12c6146b", "--endpoint", self.proxy.url, "--max-spend", "5", "--max", "3",
            "--dry-run", "--json").stdout)
        self.assertEqual(sorted(k["where"] for k in said["kinds"]), ["eu-west-1", "us-east-1"])
        prices = [k["hourly"] for k in said["kinds"]]
        self.assertEqual(prices, sorted(prices))
        self.assertAlmostEqual(said["worst_case"]["per_hour"], 3 * max(prices), places=5)
        self.assertEqual(said["worst_case"]["in_all"], 5)
        self.assertEqual(self.instances(), [])

    def test_prices_become_a_catalog_that_the_planner_reads(self):
        path = os.path.join(self.folder, "catalog.json")
        today = [time.strftime("%Y-%m-%d", time.gmtime())]
        self.provide_cli("ec2", "prices", "--region", "us-east-1", "--type", "m5.large", "--type",
                         "g4dn.xlarge", "--endpoint", self.proxy.url, "-o", path)
        with open(path, encoding="utf-8") as text:
            catalog = json.load(text)
        today.append(time.strftime("%Y-%m-%d", time.gmtime()))  # Midnight may have been between.
        self.assertIn(catalog["date"], today)
        self.assertEqual({t["name"] for t in catalog["types"]}, {"m5.large", "g4dn.xlarge"})
        profile = os.path.join(self.folder, "profile.json")
        with open(profile, "w", encoding="utf-8") as out:
            json.dump({"types": [{"name": "m5.large", "quota": 4, "batch": 64, "step_s": 0.8,
                                  "gpus": 0}], "model_mb": 11.5,
                       "hub": {"bandwidth_mb_s": 1200, "folds_per_s": 900}}, out)
        plan = self.souk("plan", "--algorithm", "exact", "--profile", profile, "--samples", "1e6",
                         "--time", "10h", "--prices", path, "--buy", "spot", "--json")
        self.assertIn("m5.large", plan.stdout)

    def test_a_key_that_is_missing_is_told(self):
        self.env = {}
        done = self.provide_cli("ec2", "--region", "us-east-1", "--type", "m5.large", "--image", "ami-1",
                                "--spot", "--dry-run", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("AWS_ACCESS_KEY_ID", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
