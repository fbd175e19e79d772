"""Lending with one pasted line, on a computer that has curl, a shell and little else."""
import contextlib
import http.client
import http.server
import os
import re
import shutil
import stat
import subprocess
import threading
import unittest
import urllib.parse

from lending import LendingTest
from packages import bundle, trainer
from roots import OldRoot, Root, needs_roots, start_for
from souk import DEADLINE_S, wait_for

BARE = ["dash", "coreutils", "sed", "grep", "tar", "gzip", "curl"]
USER = 1000
EXAMPLES = os.path.join(os.path.dirname(__file__), "../examples")


@needs_roots
class BareComputer(LendingTest):
    def setUp(self):
        self.flags = (*LendingTest.flags, "--bundle", bundle(), "--trainer", self.trainer())
        super().setUp()
        os.chmod(self.folder, 0o755)

    def trainer(self):
        """What the market gives to lenders who have no trainer."""
        return "none"

    def root(self, *more):
        """A bare computer, lent by an ordinary user."""
        root = Root(os.path.join(self.folder, "root"), [*BARE, *more])
        root.give_to(USER)
        return root

    def machine(self, name="den"):
        """As the console does it: a machine, and a token that can act for it only."""
        spec = {"cores": 1, "memory_mib": 1}
        machine = self.good("POST", "/v1/machines", {"name": name, "spec": spec}, self.ann)
        token = self.good("POST", "/v1/tokens",
                          {"scope": "machine", "machine": machine["id"], "label": name}, self.ann)
        return machine["id"], token["token"]

    def line(self, token, *flags, market=None):
        # In a variable, as the shell that people paste it into does not have it in its arguments either.
        return ["env", "T=" + token, "sh", "-c",
                f"curl -fsS {market or self.server.url}/lend | sh -s $T {' '.join(flags)}"]

    def home(self, root, path):
        return os.path.join(root.folder, "home/lender", path)

    def paste(self, root, *line):
        """The line, in the background."""
        return start_for(self, root.command(*line, user=USER), "pasted")


    LENDS = ("--cores", "1", "--memory", "1G", "--price", "0.1")

    def lends(self, root, *line):
        """The line, until the machine is lent; its process, and what it said."""
        process, said = self.paste(root, *line)
        wait_for(lambda: "lending den" in said() or process.poll() is not None, "the agent", 4 * DEADLINE_S)
        self.assertIn("lending den", said())
        return process, said

    def packages(self, machine):
        return self.good("GET", f"/v1/machines/{machine}", token=self.ann)["spec"]["packages"]


class LendLine(BareComputer):
    def test_from_the_pasted_line_to_the_first_paid_lease(self):
        root = self.root("bubblewrap")
        machine, token = self.machine()
        job = self.run_job("run: echo hello > out; sleep 2\noutputs: [out]")
        _, said = self.lends(root, *self.line(token, *self.LENDS))
        self.assertIn("built-in trainings cannot run here: souk-torch is not installed", said())
        self.assertNotIn(token, everybodys_arguments())
        paid = wait_for(lambda: [l for l in self.good("GET", "/v1/leases", token=self.ann)["items"]
                                 if l["machine"] == machine and l["earned"] > 0], "pay", 4 * DEADLINE_S)
        self.assertEqual(paid[0]["machine"], machine)
        self.souk("job", "wait", job, "--timeout", "120s", token=self.bob)
        settings = self.home(root, ".config/souk/lend.env")
        self.assertEqual(stat.S_IMODE(os.stat(settings).st_mode), 0o600)
        with open(settings, encoding="utf-8") as f:
            self.assertEqual(sorted(f.read().split("\n")),
                             ["", "SOUK_LEND_FLAGS=--cores 1 --memory 1G --price 0.1",
                              f"SOUK_SERVER={self.server.url}", f"SOUK_TOKEN={token}"])
        self.assertEqual(self.json("ledger", token=self.ann)["sum"], 0)

    def test_without_bubblewrap_it_says_how_to_get_it(self):
        root = self.root()
        _, token = self.machine()
        done = root.run(*self.line(token), user=USER, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("first: sudo apt install bubblewrap", done.stderr)
        again = "sh /home/lender/.local/share/souk/lend.sh"
        self.assertIn("then:  " + again, done.stderr)
        path = os.path.join(root.folder, "etc/os-release")
        os.unlink(path)
        for text, fix in (('ID=fedora\n', "dnf install"), ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "dnf install"),
                          ('ID=manjaro\nID_LIKE=arch\n', "pacman -S"), ('ID="opensuse-leap"\n', "zypper install"),
                          ('ID=other\n', "install the package bubblewrap")):
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            done = root.run("sh", "-c", again, user=USER, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(fix, done.stderr)

    def test_install_only_lends_nothing_and_gives_a_souk_that_runs(self):
        root = self.root("bubblewrap")
        machine, token = self.machine()
        done = root.run(*self.line(token, "--install-only"), user=USER)
        self.assertIn("is installed: /home/lender/.local/bin/souk", done.stderr)
        self.assertFalse(self.good("GET", f"/v1/machines/{machine}", token=self.ann)["offers"])
        said = root.run("/home/lender/.local/bin/souk", "--version", user=USER).stdout
        self.assertRegex(said, r"^souk \d+\.\d+\.\d+ \(")
        # Its own C library, not the computer's; and nothing of that reaches the programs it starts.
        said = root.run("sh", "-c", "cd ~/.local/share/souk/current && "
                        "lib/ld-linux-x86-64.so.2 --library-path $PWD/lib --list lib/souk", user=USER).stdout
        for found in re.findall(r"=> (/\S+)", said):
            self.assertTrue(found.startswith("/home/lender/.local/share/souk/"), found)

    def test_a_bundle_that_is_not_the_announced_one_is_not_installed(self):
        root = self.root("bubblewrap")
        script = self.server.call("GET", "/lend").text
        market = Impostor(script, self.server.url)
        self.addCleanup(market.close)
        done = root.run(*self.line("souk_x", market=market.url), user=USER, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("SHA-256 differs; nothing was installed", done.stderr)
        self.assertFalse(os.path.lexists(self.home(root, ".local/bin/souk")))
        self.assertEqual(os.listdir(self.home(root, ".local/share/souk")), ["lend.sh"])

    def test_a_token_is_shown_to_its_own_market_only(self):
        root = self.root("bubblewrap")
        _, token = self.machine()
        root.run(*self.line(token, "--install-only"), user=USER)
        script = self.server.call("GET", "/lend").text
        other = Impostor(script, self.server.url)
        self.addCleanup(other.close)
        done = root.run("sh", "-c", f"curl -fsS {other.url}/lend | sh", user=USER, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("a token is missing", done.stderr)

    def test_mistakes_are_said_and_do_nothing(self):
        root = self.root()
        script = self.server.call("GET", "/lend").text
        self.assertTrue(script.endswith('\nmain "$@"\n'))
        with open(os.path.join(root.folder, "tmp/part.sh"), "w", encoding="utf-8") as f:
            f.write(script[:-len('main "$@"\n')])
        root.run("sh", "/tmp/part.sh", user=USER)  # A script that arrived in part.
        self.assertEqual(os.listdir(os.path.join(root.folder, "home/lender")), [])
        for argument, answer in (("secret", "is not a token"), ("souk_a;b", "copy the line again"),
                                 ("", "a token is missing")):
            done = root.run(*self.line(argument), user=USER, check=False)
            self.assertEqual(done.returncode, 1, argument)
            self.assertIn(answer, done.stderr)


class Trainer(BareComputer):
    """Computers without souk-torch and without libtorch, at a market that has a trainer to give."""

    FETCHING = "fetching the built-in trainer from the market"

    def trainer(self):
        return trainer()

    def train(self):
        """A model of a few parameters on data that comes along."""
        for name in ("regression.yaml", "houses.csv"):
            shutil.copy(os.path.join(EXAMPLES, name), self.folder)
        return self.json("run", os.path.join(self.folder, "regression.yaml"), "--yes", token=self.bob)["id"]

    def test_a_model_is_trained_on_a_computer_that_has_nothing_and_its_lender_is_paid(self):
        root = self.root("bubblewrap")
        self.assertFalse([name for _, _, names in os.walk(root.folder) for name in names if "libtorch" in name])
        machine, token = self.machine()
        process, said = self.lends(root, *self.line(token, *self.LENDS))
        self.assertIn(self.FETCHING, said())
        self.assertIn("@torch", self.packages(machine))
        job = self.train()
        self.souk("job", "wait", job, "--timeout", f"{8 * DEADLINE_S}s", token=self.bob)
        self.assertEqual(self.good("GET", f"/v1/jobs/{job}", token=self.bob)["state"], "succeeded")
        paid = [l["earned"] for l in self.good("GET", "/v1/leases", token=self.ann)["items"]
                if l["machine"] == machine and l["job"] == job]
        self.assertGreater(sum(paid), 0)
        self.assertEqual(self.json("ledger", token=self.ann)["sum"], 0)

        said = self.predict(root, job)
        self.assertRegex(said, r'^\{"value":\d+')
        self.serve_with_it()

        process.kill()
        process.wait(DEADLINE_S)
        _, said = self.lends(root, "sh", "/home/lender/.local/share/souk/lend.sh")
        self.assertNotIn(self.FETCHING, said())
        self.assertIn("@torch", self.packages(machine))

    def predict(self, root, job):
        """With the trainer that was fetched."""
        command = root.command("/home/lender/.local/bin/souk", "predict", job, user=USER,
                               env={"SOUK_SERVER": self.server.url, "SOUK_TOKEN": self.bob})
        done = subprocess.run(command, input="[100, 4, 10, 1, 0, 0, 0]\n", capture_output=True, text=True, check=False,
                              timeout=2 * DEADLINE_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def serve_with_it(self):
        """A service finds the trainer of its lender, too."""
        job = self.run_job("kind: service\nname: version\nrun: $SOUK_TORCH --version; sleep 600\n"
                           "env: {SOUK_TORCH: lender}\n"
                           "service: {port: 8000}")
        wait_for(lambda: "souk-torch 0" in self.souk("logs", job, token=self.bob, check=False).stdout, "the version",
                 4 * DEADLINE_S)
        self.souk("job", "cancel", job, token=self.bob)

    def test_a_lender_may_refuse_it(self):
        root = self.root("bubblewrap")
        machine, token = self.machine()
        _, said = self.lends(root, *self.line(token, *self.LENDS, "--no-trainer"))
        self.assertNotIn(self.FETCHING, said())
        self.assertIn("built-in trainings cannot run here: souk-torch is not installed", said())
        self.assertNotIn("@torch", self.packages(machine))

    def test_a_trainer_that_is_not_the_announced_one_is_not_used_and_the_machine_lends_without(self):
        root = self.root("bubblewrap")
        machine, token = self.machine()
        market = Forger(self.server.url)
        self.addCleanup(market.close)
        _, said = self.lends(root, *self.line(token, *self.LENDS, market=market.url))
        self.assertIn("built-in trainings cannot run here: the market's trainer cannot be used: it is not the one that "
                      "the market announced: SHA-256 differs", said())
        self.assertNotIn("@torch", self.packages(machine))
        left = self.home(root, ".cache/souk/lend")
        self.assertFalse([n for n in os.listdir(left) + os.listdir(left + "/trees") if "trainer" in n])


class OlderDebian(BareComputer):
    def test_an_older_debian_runs_it_and_says_what_is_too_old_to_lend(self):
        root = OldRoot(os.path.join(self.folder, "root"), "bullseye", [*BARE, "base-files", "bubblewrap"])
        root.give_to(USER)
        self.assertIn("2.31", root.run("sh", "-c", "ls -l /lib/x86_64-linux-gnu/libc.so.6", user=USER).stdout)
        _, token = self.machine()
        done = root.run(*self.line(token), user=USER, check=False)
        self.assertIn("is installed: /home/lender/.local/bin/souk", done.stderr)
        self.assertIn("bubblewrap 0.4.1 is too old", done.stderr)
        self.assertEqual(done.returncode, 1)
        doctor = root.run("/home/lender/.local/bin/souk", "doctor", user=USER, check=False)
        self.assertEqual(doctor.returncode, 1, doctor.stdout)
        self.assertIn("bubblewrap 0.8 or later", doctor.stdout)
        said = root.run("/home/lender/.local/bin/souk", "faq", "--server", self.server.url, user=USER).stdout
        self.assertIn("lend", said)
        archive = trainer()
        subprocess.run(["tar", "--zstd", "-xf", archive, "-C", os.path.join(root.folder, "tmp")], check=True)
        program = f"/tmp/{os.path.basename(archive).removesuffix('.tar.zst')}/bin/souk-torch"
        self.assertIn("souk-torch ", root.run(program, "--version", user=USER).stdout)


class NoBundle(LendingTest):
    def test_a_market_without_a_bundle_says_so(self):
        self.server.stop()
        self.server.env = {"SOUK_BUNDLE": "none"}
        self.server.start()
        script = self.server.call("GET", "/lend").text
        done = subprocess.run(["sh"], input=script, capture_output=True, text=True, check=False, timeout=DEADLINE_S)
        self.assertEqual(done.returncode, 1)
        self.assertIn("this market has no bundle", done.stderr)
        self.assertIn("souk serve --bundle FILE", done.stderr)


class Impostor:
    """Serves the script of a market, and another bundle than it announces."""

    def __init__(self, script, market):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = self.server.script if self.path == "/lend" else b"\x1f\x8b\x08 something else"
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.server.script = script.replace(market, self.url).encode()
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class Forger:
    """Passes on what the market is asked and what it answers, but for the trainer."""

    def __init__(self, market):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                connection = http.client.HTTPConnection(urllib.parse.urlsplit(market).netloc,
                                                        timeout=2 * DEADLINE_S)
                with contextlib.closing(connection):
                    connection.request(self.command, self.path, body, dict(self.headers))
                    answer = connection.getresponse()
                    content = answer.read()
                if self.path == "/v1/agent/trainer":
                    content = content[:-1] + bytes([content[-1] ^ 1])
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = pass_on

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.block_on_close = False  # Agents wait for work with requests that last.
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def everybodys_arguments():
    """What `ps` shows to everybody."""
    out = ""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as f:
                arguments = f.read().split("\0")
        except OSError:
            continue  # It has ended.
        # bwrap is this test's own way to start the line.
        if arguments[0] not in ("bwrap", "setpriv"):
            out += " ".join(arguments) + "\n"
    return out


if __name__ == "__main__":
    unittest.main()
