"""The units of systemd, from the Debian package, on a computer of their own, which is booted for them."""
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from boots import PACKAGES, Machine, needs_systemd, prepare
from packages import depends, packaged
from roots import Root, needs_roots
from souk import PASSWORD, wait_for

USER = 1000  # Who lends.
UNITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../dist")
QUICK = {"shortest_term": "1s", "drain": "5s", "settle_every": "1s", "silence": "60s", "term": "10m"}
SERVE = "--listen 0.0.0.0:443 --round 200ms --challenge-slack 20 --signup-bonus 0"
LEND = "--cores 1 --memory 1G --price 0.1"


def installed_root(folder):
    """With systemd and the package, and a unit that restarts at once, for tests that wait for it."""
    deb = packaged("souk_*_amd64.deb")
    root = Root(folder, [*PACKAGES, "bubblewrap", "curl", *depends(deb)])
    prepare(root)
    shutil.copy(deb, os.path.join(folder, "tmp/souk.deb"))
    root.run("dpkg", "-i", "/tmp/souk.deb")
    root.give_to(USER)
    for name in ("etc/souk", "etc/systemd/user/souk-lend.service.d", "etc/systemd/system/souk-lend.service.d",
                 "home/lender/.config/souk"):
        os.makedirs(os.path.join(folder, name))
    for kind in ("user", "system"):
        root.write(f"etc/systemd/{kind}/souk-lend.service.d/quick.conf", "[Service]\nRestartSec=100ms\n")
    root.write("etc/souk/serve.env", f"SOUK_SERVE_FLAGS={SERVE}\n")
    return root


class Verify(unittest.TestCase):
    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed: scripts/setup test")
    def test_systemd_finds_no_mistake_in_any_unit(self):
        folder = tempfile.mkdtemp(prefix="souk-units-")
        self.addCleanup(shutil.rmtree, folder)
        units = [os.path.basename(path) for path in glob.glob(UNITS + "/*.service")]
        self.assertEqual(sorted(units), ["souk-lend.service", "souk.service"])
        for name in units:
            with open(os.path.join(UNITS, name), encoding="utf-8") as f:
                text = f.read()
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text.replace("/usr/local/bin/souk", "/bin/true"))
            for whose in ("--system", "--user"):
                done = subprocess.run(
                    ["systemd-analyze", whose, "--man=no", "verify", os.path.join(folder, name)], check=False,
                    capture_output=True, text=True, timeout=60, env={**os.environ, "XDG_RUNTIME_DIR": folder})
                said = [line for line in done.stderr.split("\n") if "souk" in line]
                self.assertEqual((done.returncode, said), (0, []), done.stderr)


@needs_roots
@needs_systemd
class Services(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="souk-units-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.root = installed_root(os.path.join(cls.folder, "root"))
        cls.machine = Machine(cls.root, os.path.join(cls.folder, "boot.log"))
        cls.addClassCleanup(cls.machine.end)
        cls.machine.wait()
        cls.machine.run("systemctl", "enable", "--now", "souk")
        pin = wait_for(lambda: re.search(r"fingerprint .* ([0-9a-f]{64})", cls.journal("souk")), "the server")
        cls.env = {"SOUK_SERVER": "https://127.0.0.1:443", "SOUK_PIN": pin.group(1), "SOUK_PASSWORD": PASSWORD}
        cls.operator = cls.sign_up("operator")
        cls.lender, cls.borrower = cls.sign_up("lender"), cls.sign_up("borrower")
        cls.souk(cls.operator, "settings", "set", *(f"{k}={v}" for k, v in QUICK.items()))
        cls.souk(cls.operator, "account", "grant", "borrower", "100")
        cls.token = cls.json(cls.lender, "account", "token", "create", "--label", "den")["token"]
        settings = "".join(f"{name}={value}\n" for name, value in (
            ("SOUK_SERVER", cls.env["SOUK_SERVER"]), ("SOUK_PIN", cls.env["SOUK_PIN"]), ("SOUK_TOKEN", cls.token),
            ("SOUK_LEND_FLAGS", LEND)))
        for path in ("etc/souk/lend.env", "home/lender/.config/souk/lend.env"):
            cls.root.write(path, settings)
            os.chmod(os.path.join(cls.root.folder, path), 0o600)
        cls.root.give_to(USER)
        cls.machine.run("loginctl", "enable-linger", "lender")
        wait_for(lambda: cls.systemctl("is-system-running").strip() == "running", "the user's systemd")

    @classmethod
    def souk(cls, token, *argv):
        env = cls.env if token is None else {**cls.env, "SOUK_TOKEN": token}
        return cls.machine.run("souk", *argv, env=env).stdout

    @classmethod
    def json(cls, token, *argv):
        return json.loads(cls.souk(token, *argv, "--json"))

    @classmethod
    def sign_up(cls, name):
        return cls.json(None, "account", "create", name)["token"]

    @classmethod
    def systemctl(cls, *argv):
        """Of the user's own systemd."""
        return cls.machine.run("systemctl", "--user", *argv, user=USER, check=False).stdout

    @classmethod
    def journal(cls, unit, user=None):
        whose = ["--user"] if user else []
        return cls.machine.run("journalctl", *whose, "--no-pager", "-o", "cat", "-u", unit, user=user).stdout

    def shown(self, unit, *names, user=None):
        """These properties of a unit."""
        whose = ["--user"] if user else []
        text = self.machine.run("systemctl", *whose, "show", unit, "--property", ",".join(names), user=user).stdout
        return tuple(dict(line.split("=", 1) for line in text.strip().split("\n"))[name] for name in names)

    def wait_server(self):
        """Until it answers, with the certificate that it had before."""
        env = {**self.env, "SOUK_TOKEN": self.operator}
        wait_for(lambda: self.machine.run("souk", "account", "list", check=False, env=env).returncode == 0, "the server")

    def run_job(self, text):
        with open(os.path.join(self.root.folder, "root/job.yaml"), "w", encoding="utf-8") as f:
            f.write(text + "\nprice: {limit: 1, budget: 5}\n")
        return self.json(self.borrower, "run", "/root/job.yaml", "--yes")["id"]

    def start_lending(self):
        before = self.said().count("lending ")
        self.machine.run("systemctl", "--user", "enable", "--now", "souk-lend", user=USER)
        self.addCleanup(self.machine.run, "systemctl", "--user", "stop", "souk-lend", user=USER)
        self.wait_lending(before)

    def said(self):
        return self.journal("souk-lend", USER)

    def wait_lending(self, before):
        wait_for(lambda: self.said().count("lending ") > before, "the agent")

    def finish(self, job):
        self.souk(self.borrower, "job", "wait", job, "--timeout", "120s")
        out = f"/root/{job}"
        self.souk(self.borrower, "results", job, "-o", out)
        with open(os.path.join(self.root.folder, out[1:], "answer"), encoding="utf-8") as f:
            return f.read().strip()

    def earned(self):
        return self.json(self.lender, "account", "show")["available"]

    def test_a_job_runs_on_a_machine_lent_by_a_users_service_and_is_paid(self):
        before = self.earned()
        self.start_lending()
        self.assertEqual(self.finish(self.run_job("run: sleep 1; echo $((6 * 7)) > answer\noutputs: [answer]")), "42")
        wait_for(lambda: self.earned() > before, "pay")

    def test_what_is_killed_comes_back_and_nothing_is_lost(self):
        self.start_lending()
        before = self.json(self.operator, "account", "list")
        self.machine.run("systemctl", "kill", "-s", "KILL", "souk")
        wait_for(lambda: self.shown("souk", "NRestarts", "SubState") == ("1", "running"), "the server's restart")
        self.wait_server()
        self.assertEqual(self.json(self.operator, "account", "list"), before)
        count = self.said().count("lending ")
        self.machine.run("systemctl", "--user", "kill", "--kill-who=main", "-s", "KILL", "souk-lend", user=USER)
        self.wait_lending(count)
        self.assertEqual(self.finish(self.run_job("run: echo back > answer\noutputs: [answer]")), "back")

    def test_to_stop_gives_programs_their_notice_and_keeps_what_they_saved(self):
        self.start_lending()
        job = self.run_job(
            "run: |\n"
            "  if [ -e ckpt/saved ]; then cp ckpt/saved answer; exit; fi\n"
            "  mkdir -p ckpt; trap 'echo noticed >ckpt/saved; exit' TERM; echo ready\n"
            "  while :; do sleep 0.1; done\n"
            "outputs: [answer]\ncheckpoint: {path: ckpt, every: 1h}")
        wait_for(lambda: "ready" in self.souk(self.borrower, "logs", job), "the program")
        self.machine.run("systemctl", "--user", "stop", "souk-lend", user=USER)
        self.assertEqual(self.shown("souk-lend", "Result", "SubState", "ExecMainStatus", user=USER),
                         ("success", "dead", "0"))
        self.assertIn("earned", self.said())
        self.start_lending()
        self.assertEqual(self.finish(job), "noticed")

    def test_the_market_is_nobodys_and_nobody_else_reads_it(self):
        pid, = self.shown("souk", "MainPID")
        status = self.machine.run("cat", f"/proc/{pid}/status").stdout
        self.assertNotRegex(status, r"Uid:\s0")
        self.assertRegex(status, r"CapEff:\s0{13}400\n")  # To listen at 443.
        self.assertRegex(status, r"NoNewPrivs:\s1\n(?:.*\n)*?Seccomp:\s2\n")
        self.assertNotEqual(self.machine.run("ls", "/var/lib/souk/", user=USER, check=False).returncode, 0)

    def test_a_certificate_that_only_root_can_read_is_served(self):
        for name in ("certificate", "key"):
            text = self.machine.run("cat", f"/var/lib/souk/tls-{name}.pem").stdout
            path = f"etc/souk/{name}.pem"
            self.root.write(path, text)
            os.chmod(os.path.join(self.root.folder, path), 0o600)
        drop_in = os.path.join(self.root.folder, "etc/systemd/system/souk.service.d")
        os.mkdir(drop_in)
        self.root.write("etc/systemd/system/souk.service.d/tls.conf",
                        "[Service]\nLoadCredential=cert:/etc/souk/certificate.pem\n"
                        "LoadCredential=key:/etc/souk/key.pem\n")
        self.root.write("etc/souk/serve.env", f"SOUK_SERVE_FLAGS={SERVE} --tls-cert /run/credentials/souk.service/cert "
                                              "--tls-key /run/credentials/souk.service/key\n")
        self.machine.run("systemctl", "daemon-reload")
        self.machine.run("systemctl", "restart", "souk")
        self.wait_server()

    def test_one_line_installs_a_service_that_lends(self):
        self.root.write("etc/souk/market.pem", self.machine.run("cat", "/var/lib/souk/tls-certificate.pem").stdout)
        before = self.said().count("lending ")
        line = (f"curl -fsS --cacert /etc/souk/market.pem {self.env['SOUK_SERVER']}/lend | "
                f"SOUK_CA=/etc/souk/market.pem sh -s {self.token} --service {LEND}")
        said = self.machine.run("sh", "-c", line, user=USER).stderr
        self.addCleanup(self.machine.run, "systemctl", "--user", "disable", "--now", "souk-lend", user=USER)
        self.assertIn("lending as a service", said)
        self.wait_lending(before)
        self.assertIn("/home/lender/.local/share/souk/", self.shown("souk-lend", "ExecStart", user=USER)[0])
        self.assertEqual(self.finish(self.run_job("run: echo line > answer\noutputs: [answer]")), "line")

    def test_wrong_flags_are_said_and_not_tried_again(self):
        path = "home/lender/.config/souk/lend.env"
        with open(os.path.join(self.root.folder, path), encoding="utf-8") as f:
            right = f.read()
        self.addCleanup(self.root.write, path, right)
        self.root.write(path, right.replace(LEND, "--coers 1"))
        self.machine.run("systemctl", "--user", "start", "souk-lend", user=USER, check=False)
        wait_for(lambda: self.shown("souk-lend", "SubState", user=USER) == ("failed",), "the unit to give up")
        wait_for(lambda: "unknown flag '--coers'" in self.said(), "its reason in systemd's journal")
        self.machine.run("systemctl", "--user", "reset-failed", "souk-lend", user=USER)

    def test_a_system_service_lends_as_an_ordinary_user(self):
        folder = os.path.join(self.root.folder, "etc/systemd/system")
        shutil.copy(os.path.join(self.root.folder, "usr/lib/systemd/user/souk-lend.service"), folder)
        self.root.write("etc/systemd/system/souk-lend.service.d/user.conf",
                        "[Service]\nUser=lender\nCacheDirectory=souk\nEnvironment=XDG_CACHE_HOME=%C\n"
                        "[Install]\nWantedBy=multi-user.target\n")
        self.machine.run("systemctl", "daemon-reload")
        self.machine.run("systemctl", "enable", "--now", "souk-lend")
        self.addCleanup(self.machine.run, "systemctl", "disable", "--now", "souk-lend")
        self.assertEqual(self.finish(self.run_job("run: id -u > answer\noutputs: [answer]")), str(USER))


if __name__ == "__main__":
    unittest.main()
