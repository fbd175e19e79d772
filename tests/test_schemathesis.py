"""The API against its own OpenAPI document, by Schemathesis: as nobody, a user, a machine and an operator it
sends what the document allows and what it forbids. No answer may be a failure of the server (5xx) or one that
the document does not describe, and nothing that it forbids may be accepted (but for two spellings:
tolerated.py).

`scripts/setup test` fetches Schemathesis from PyPI; where that cannot be reached this test is skipped.
It sends the same requests on every machine: the document's examples, what is at the edges of what it allows,
and a few drawn from a seed. With SOUK_SCHEMATHESIS_SECONDS each role is tried for so long instead, with as many
requests as that allows, drawn from another seed each time, which is printed.
"""
import os
import random
import subprocess
import unittest

from souk import MarketTest

TESTS = os.path.dirname(os.path.abspath(__file__))
TOOL = os.path.join(TESTS, "../build/python/bin/schemathesis")
SECONDS = os.environ.get("SOUK_SCHEMATHESIS_SECONDS")
TO_TRY_S = 1_000 + int(SECONDS or 0)
CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance",
          "response_schema_conformance", "forbidden_is_refused", "unsupported_method",
          "allow_header_conformance", "missing_required_header")
# What ends the session that the others need, or streams without end.
LEFT_OUT = ("logout", "changePassword", "getEvents")


def how_many():
    if SECONDS is None:
        return ["--max-examples", "5", "--seed", "17"]
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"the seed is {seed}", flush=True)
    return ["--max-examples", "1000000", "--max-time", SECONDS, "--seed", str(seed)]


@unittest.skipUnless(os.path.exists(TOOL),
                     "schemathesis is not installed: scripts/setup test fetches it from PyPI")
class Schemathesis(MarketTest):
    flags = ("--requests", "0", "--lab-limit", "2s")

    def run_as(self, token):
        command = [TOOL, "--no-color", "run", self.server.url + "/v1/openapi.json",
                   "--checks", ",".join(CHECKS), "--phases", "examples,coverage,fuzzing",
                   *how_many(), "--no-shrink", "--request-timeout", "60",
                   "--generation-database", "none", "--warnings", "off",
                   "--suppress-health-check", "all", "--continue-on-failure",
                   "--output-sanitize", "true"]
        for operation in LEFT_OUT:
            command += ["--exclude-operation-id", operation]
        if token:
            command += ["--header", f"Authorization: Bearer {token}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TO_TRY_S, cwd=self.folder,
                              stdin=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": TESTS,
                                                             "SCHEMATHESIS_HOOKS": "tolerated"})
        self.assertEqual(done.returncode, 0, done.stdout[-20_000:] + done.stderr[-2_000:])
        self.assertEqual(self.server.call("GET", "/readyz").status, 200)

    def setUp(self):
        super().setUp()
        self.operator, self.user = self.sign_up("ann"), self.sign_up("bob")
        self.souk("account", "grant", "bob", "100", token=self.operator)
        offer = self.lend(self.user)
        self.machine = self.good("POST", "/v1/tokens", {"scope": "machine", "machine": offer["machine"]},
                                 self.user)["token"]
        self.good("POST", "/v1/jobs", {"class": "c1", "workers": {"min": 1, "max": 1}, "limit": 0.4,
                                       "budget": 1, "batch": {"run": "true"}}, self.user)

    def test_as_nobody(self):
        self.run_as(None)

    def test_as_a_machine(self):
        self.run_as(self.machine)

    def test_as_a_user(self):
        self.run_as(self.user)

    def test_as_the_operator(self):
        self.run_as(self.operator)


if __name__ == "__main__":
    unittest.main()
