"""What `make package` makes: installed in a clean root folder, and used there."""
import gzip
import http.client
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

from packages import FOLDER, bundle, depends, packaged, trainer
from roots import Root, needs_roots, start_for
from souk import DEADLINE_S, PASSWORD, SOUK, wait_for


USER = 1000


class Temporary(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="souk-package-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)


@needs_roots
class Deb(Temporary):
    def start(self, root, *argv, env=None):
        return start_for(self, root.command(*argv, env=env, user=USER), argv[1])[1]

    def test_it_installs_on_a_bare_debian_and_a_job_runs_there(self):
        deb = packaged("souk_*_amd64.deb")
        root = Root(os.path.join(self.folder, "root"), [*depends(deb), "bubblewrap"])
        shutil.copy(deb, os.path.join(root.folder, "tmp/souk.deb"))
        root.run("dpkg", "-i", "/tmp/souk.deb")  # It refuses where something is missing.
        os.chmod(self.folder, 0o755)
        root.give_to(USER)
        said = self.start(root, "/usr/bin/souk", "serve", "--data", "/tmp/market", "--listen", "127.0.0.1:0",
                          "--round", "200ms", "--challenge-slack", "20")
        url = wait_for(lambda: re.search(r"listening on (http://127\.0\.0\.1:(\d+))", said()), "the server")
        env = {"SOUK_SERVER": url.group(1), "SOUK_PASSWORD": PASSWORD}
        root.run("souk", "account", "create", "ann", env=env, user=USER)
        root.run("souk", "account", "grant", "ann", "10", env=env, user=USER)
        with open(os.path.join(root.folder, "tmp/job.yaml"), "w", encoding="utf-8") as f:
            f.write("run: echo $((6 * 7)) > answer\noutputs: [answer]\nprice: {limit: 1, budget: 2}\n")
        agent = self.start(root, "/usr/bin/souk", "lend", "--cores", "1", "--memory", "1G", "--no-trainer", env=env)
        wait_for(lambda: "lending " in agent(), "the agent")
        root.run("souk", "run", "/tmp/job.yaml", "--yes", "--wait", env=env, user=USER)
        root.run("souk", "results", "j1", "-o", "/tmp/out", env=env, user=USER)
        found = subprocess.run(["grep", "-r", "^42$", os.path.join(root.folder, "tmp/out")], check=False,
                               capture_output=True, text=True)
        self.assertEqual(found.returncode, 0, found)
        # The market that was installed gives souk to others.
        connection = http.client.HTTPConnection("127.0.0.1", int(url.group(2)), timeout=DEADLINE_S)
        self.addCleanup(connection.close)
        connection.request("GET", "/v1/agent")
        given = json.loads(connection.getresponse().read())
        self.assertTrue(given["available"])
        self.assertEqual(given["trainer"]["bytes"], os.path.getsize(trainer()))

    def test_it_brings_units_manuals_and_completion(self):
        deb = packaged("souk_*_amd64.deb")
        listed = subprocess.run(["dpkg-deb", "-c", deb], check=True, capture_output=True, text=True).stdout
        for path in ("usr/bin/souk", "usr/lib/systemd/user/souk-lend.service", "usr/lib/systemd/system/souk.service",
                     "usr/share/man/man1/souk.1.gz", "usr/share/man/man1/souk-lend.1.gz",
                     "usr/share/bash-completion/completions/souk", "usr/share/zsh/vendor-completions/_souk",
                     "usr/share/fish/vendor_completions.d/souk.fish", "usr/share/doc/souk/copyright"):
            self.assertRegex(listed, rf"(?m)^-.* root/root .* \./{re.escape(path)}$")
        subprocess.run(["dpkg-deb", "-x", deb, self.folder], check=True)
        for unit in ("user/souk-lend.service", "system/souk.service"):
            with open(os.path.join(self.folder, "usr/lib/systemd", unit), encoding="utf-8") as f:
                self.assertIn("\nExecStart=/usr/bin/souk ", f.read())
        with gzip.open(os.path.join(self.folder, "usr/share/man/man1/souk-lend.1.gz"), "rt") as f:
            self.assertIn(".B \\-\\-weekly WINDOW\n", f.read())


class Files(Temporary):
    def test_sums_are_right(self):
        packaged("SHA256SUMS")
        subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=FOLDER, check=True)

    def test_the_bundle_is_one_folder_with_all_it_needs(self):
        with tarfile.open(bundle()) as tar:
            names = tar.getnames()
            self.assertEqual({(m.uid, m.gid) for m in tar.getmembers()}, {(0, 0)})
            self.assertFalse([m.name for m in tar.getmembers() if not (m.isfile() or m.isdir())])
        top = os.path.basename(bundle()).removesuffix(".tar.gz")
        self.assertEqual({name.split("/")[0] for name in names}, {top})
        self.assertIn(f"{top}/lib/libc.so.6", names)
        self.assertIn(f"{top}/share/souk/souk-lend.service", names)
        subprocess.run(["tar", "-xzf", bundle(), "-C", self.folder], check=True)
        done = subprocess.run([os.path.join(self.folder, top, "bin/souk"), "version", "--json"], check=True,
                              capture_output=True, text=True, cwd="/")
        self.assertEqual(json.loads(done.stdout)["version"], top.split("-")[1])

    def test_the_trainer_is_one_folder_with_all_it_needs_and_nothing_that_it_does_not(self):
        subprocess.run(["tar", "--zstd", "-xf", trainer(), "-C", self.folder], check=True)
        top, = os.listdir(self.folder)
        self.assertEqual(top, os.path.basename(trainer()).removesuffix(".tar.zst"))
        lib = os.path.join(self.folder, top, "lib")
        libraries = os.listdir(lib)
        self.assertFalse([n for n in libraries if re.match(r"lib(opencv|av|sw)", n)])
        self.assertLess(len(libraries), 60)
        loader = [os.path.join(lib, "ld-linux-x86-64.so.2"), "--library-path", lib]
        listed = subprocess.run([*loader, "--list", os.path.join(lib, "souk-torch")], check=True, capture_output=True,
                                text=True, env={}, cwd="/").stdout
        self.assertNotIn("not found", listed)
        found = re.findall(r"=> (\S+)", listed)
        self.assertFalse([path for path in found if not path.startswith(lib + "/")])
        self.assertLessEqual({os.path.basename(path) for path in found}, set(libraries))
        said = subprocess.run([os.path.join(self.folder, top, "bin/souk-torch"), "--version"], check=True,
                              capture_output=True, text=True, cwd="/").stdout
        self.assertRegex(said, r"^souk-torch \d")

    def test_the_list_of_contents_names_each_library_and_the_consoles_packages(self):
        with open(packaged("souk-*.cdx.json"), encoding="utf-8") as f:
            bom = json.load(f)
        self.assertEqual((bom["bomFormat"], bom["specVersion"]), ("CycloneDX", "1.5"))
        names = {c["name"] for c in bom["components"]}
        self.assertLessEqual({"libc6", "libssl3", "libsodium23", "react", "libboost1.81-dev"}, names)
        self.assertEqual(len({c["bom-ref"] for c in bom["components"]}), len(bom["components"]))
        with tarfile.open(bundle()) as tar:
            shipped = {os.path.basename(n).removesuffix(".txt") for n in tar.getnames() if "/share/doc/" in n}
        self.assertLessEqual(shipped - {"souk"}, names)


class Shell(Temporary):
    def complete(self, *words):
        """What bash offers for the last of these words."""
        with open(os.path.join(self.folder, "souk.bash"), "wb") as out:
            subprocess.run([SOUK, "completion", "bash"], stdout=out, check=True)
        script = ('. ./souk.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _souk; printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", script, "bash", *words], cwd=self.folder, check=True, capture_output=True,
                              text=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_completes_commands_flags_and_files(self):
        self.assertEqual(self.complete("souk", "len"), ["lend"])
        self.assertEqual(self.complete("souk", "lend", "--wee"), ["--weekly"])
        self.assertIn("submit", self.complete("souk", "job", ""))
        self.assertEqual(self.complete("souk", "serve", "--data", "souk.b"), ["souk.bash"])
        self.assertEqual(self.complete("souk", "lend", "--cores", ""), [])
        self.assertEqual(self.complete("souk", "account", "create", "lend", "--js"), ["--json"])

    def test_other_shells_parse_their_scripts(self):
        for shell in ("zsh", "fish"):
            done = subprocess.run([SOUK, "completion", shell], check=True, capture_output=True, text=True)
            self.assertIn("souk", done.stdout)
            if shutil.which(shell):
                subprocess.run([shell, "-n"], input=done.stdout, check=True, text=True)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_manuals_have_no_mistakes(self):
        subprocess.run([SOUK, "man", "--out", self.folder], check=True)
        pages = [p for p in os.listdir(self.folder) if p.endswith(".1")]
        self.assertGreater(len(pages), 30)
        for page in pages:
            done = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-Wbreak", "-z", page], cwd=self.folder, check=False,
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)


if __name__ == "__main__":
    unittest.main()
