"""Environments of Python with the real binary: those that lenders have, and those that jobs bring along."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from lending import LendingTest, needs_sandbox
from package_index import PackageIndex
from souk import wait_for

TESTS = os.path.dirname(os.path.abspath(__file__))
SYSTEM_PYTHON = "/usr/bin/python3"
UV = shutil.which("uv") or os.path.join(TESTS, "../build/python/bin/uv")


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    os.chmod(path, mode)


def install(site, name, version):
    """A package, as an installer leaves it."""
    write(f"{site}/{name}/__init__.py", f"version = '{version}'\n")
    write(f"{site}/{name}-{version}.dist-info/METADATA", f"Name: {name}\nVersion: {version}\n")


class EnvironmentTest(LendingTest):
    def venv(self, name, python=sys.executable):
        """A virtual environment with the package `lathe`; returns its path and its site-packages."""
        path = os.path.join(self.folder, name, ".venv")
        subprocess.run([python, "-m", "venv", "--without-pip", path], check=True)
        site = subprocess.run([f"{path}/bin/python3", "-c",
                               "import site; print(site.getsitepackages()[0])"],
                              check=True, capture_output=True, text=True).stdout.strip()
        install(site, "lathe", "2.5.0")
        return path, site

    def conda(self, name):
        """A prefix like those of conda, with the package `planer` and its own python3."""
        path = os.path.join(self.folder, name)
        write(f"{path}/conda-meta/python-3.11.2-h0_cpython.json", "{}")
        write(f"{path}/conda-meta/cuda-version-12.4-h1_0.json", "{}")
        site = f"{path}/lib/python3.11/site-packages"
        install(site, "planer", "1.0")
        write(f"{path}/bin/python3", f'#!/bin/sh\nPYTHONPATH={site} exec {SYSTEM_PYTHON} "$@"\n', 0o755)
        return path

    def ended(self, job):
        return self.souk("job", "wait", job, "--timeout", "120s", "--json", token=self.bob, check=False)

    def output(self, text, **files):
        job = self.run_job(text, **files)
        self.ended(job)
        return self.souk("logs", job, token=self.bob).stdout


@needs_sandbox
class LentEnvironments(EnvironmentTest):
    def test_a_job_gets_the_environment_that_has_its_packages(self):
        venv, site = self.venv("wood")
        conda = self.conda("steel")
        secret = os.path.join(self.folder, "secret")
        write(secret, "not for strangers\n")
        os.symlink(secret, f"{site}/borrowed.txt")
        agent = self.agent("box", "--env", venv, "--env", f"mill={conda}")
        self.assertIn(f"environment wood: {venv} (venv, Python ", agent.text())
        spec = self.good("GET", "/v1/machines", token=self.ann)["items"][0]["spec"]
        lists = {e["name"]: e["packages"] for e in spec["environments"]}
        self.assertIn("lathe==2.5.0", lists["wood"])
        self.assertLessEqual({"python==3.11.2", "cuda==12.4", "planer==1.0"}, set(lists["mill"]))

        said = self.output(f"""packages: ['lathe>=2.4,<3']
setup: python3 -c 'import lathe'
run: |
  python3 -c 'import lathe, sys; print(lathe.version, sys.prefix)'
  cat {site}/borrowed.txt || echo no secret
  touch {site}/mine || echo read-only
  ls {self.folder}
""")
        self.assertIn(f"2.5.0 {venv}\n", said)
        self.assertIn("no secret\n", said)
        self.assertIn("read-only\n", said)
        self.assertTrue(said.endswith("wood\n"), "nothing but the environment is there: " + said)
        said = self.output("packages: [planer, cuda>=12]\n"
                           "run: python3 -c 'import planer; print(planer.version)'")
        self.assertEqual(said, "1.0\n")

        # Both are on the machine, but not in one place.
        job = self.run_job("packages: [lathe, planer]\nrun: 'true'")
        why = self.json("why", job, token=self.bob)
        self.assertEqual([r["kind"] for r in why["relaxations"]], ["environment"])
        self.assertIn("bring the packages with the job: environment: {requirements: "
                      "['lathe', 'planer']}", self.souk("why", job, token=self.bob).stdout)
        job = self.run_job("packages: [lathe>=3]\nrun: 'true'")
        self.assertIn("of box (wood) lacks lathe>=3 (it has 2.5.0)\n",
                      self.souk("why", job, token=self.bob).stdout)

    def test_a_python_of_the_owner_comes_along(self):
        """The Python of uv or pyenv lies below a home folder, where the environment only links to it."""
        venv, _ = self.venv("wood")
        base = os.path.join(self.folder, "home/python")
        version = f"python3.{sys.version_info.minor}"
        write(f"{base}/lib/{version}/os.py", "")
        write(f"{base}/bin/python3", "#!/bin/sh\necho the owner has his own python\n", 0o755)
        for name in ("python", "python3"):
            if os.path.lexists(f"{venv}/bin/{name}"):
                os.remove(f"{venv}/bin/{name}")
        os.symlink(f"{base}/bin/python3", f"{venv}/bin/python3")
        write(f"{venv}/pyvenv.cfg", f"home = {base}/bin\nversion_info = 3.12.8.final.0\n")
        self.agent("box", "--env", venv)
        self.assertEqual(self.output("packages: ['python>=3.12,<3.13']\nrun: python3"),
                         "the owner has his own python\n")

    def test_what_is_no_environment_is_refused_with_a_reason(self):
        home = os.path.join(self.folder, "home")
        os.makedirs(home + "/bin")
        for path, reason in ((home, "holds a home folder"), ("/etc", "folders of their own"),
                             ("/", "not only an environment"), (self.folder + "/none", "is not there"),
                             (os.path.dirname(SYSTEM_PYTHON), "is no environment")):
            done = self.souk("lend", "--env", path, token=self.ann, check=False, env={"HOME": home})
            self.assertNotEqual(done.returncode, 0, path)
            self.assertIn(reason, done.stderr)
        self.assertEqual(self.good("GET", "/v1/machines", token=self.ann)["items"], [])

    def test_more_packages_than_a_market_takes_and_huge_files_of_theirs(self):
        venv, site = self.venv("wood")
        for i in range(1_500):
            os.makedirs(f"{site}/part{i}-1.{i}.dist-info")
            write(f"{site}/part{i}-1.{i}.dist-info/METADATA", "")
        os.truncate(f"{site}/lathe-2.5.0.dist-info/METADATA", 1 << 36)
        os.mkfifo(f"{site}/lathe-2.5.0.dist-info/direct_url.json")
        agent = self.agent("box", "--env", venv)
        self.assertIn("the market does not hear of", agent.text())
        self.assertEqual(self.output("packages: [lathe]\nrun: echo it has"), "it has\n")

    def test_a_job_names_no_path_of_the_lender(self):
        for environment, field in (({"blob": "/etc", "python": "3.11"}, "blob"),
                                   ({"blob": "0" * 64, "python": "../3"}, "python"),
                                   ({"blob": "", "python": "3.11"}, "blob"),
                                   ({"blob": "0" * 64, "python": "3.11", "arch": "/x"}, "arch")):
            answer = self.server.call("POST", "/v1/jobs",
                                      {"class": "c1", "limit": 1, "budget": 1, "batch":
                                       {"run": "true", "environment": environment}}, self.bob)
            self.assertIn(answer.status, (400, 409, 422), answer.text)
            self.assertIn(field, answer.text)


class Unsandboxed(EnvironmentTest):
    def test_an_environment_is_used_where_there_is_no_sandbox(self):
        venv, _ = self.venv("wood")
        self.agent("box", "--env", venv, "--unsafe-no-sandbox")
        said = self.output("packages: [lathe]\nenv: {PYTHONPATH: /work/own}\nworkdir: project\n"
                           "run: python3 -c 'import lathe, mine; print(lathe.version, mine.x)'",
                           own__mine_py="x = 3\n")
        self.assertEqual(said, "2.5.0 3\n")


@needs_sandbox
@unittest.skipUnless(os.path.exists(UV), "uv is not installed: scripts/setup test fetches it from PyPI")
class OwnEnvironments(EnvironmentTest):
    @classmethod
    def setUpClass(cls):
        """Fetches from PyPI what these tests need; after that they need nobody."""
        super().setUpClass()
        cache = tempfile.mkdtemp(prefix="souk-uv-")
        cls.addClassCleanup(shutil.rmtree, cache, ignore_errors=True)
        cls.uv = {"SOUK_UV": UV, "UV_CACHE_DIR": cache, "UV_OFFLINE": "1", "UV_NO_CONFIG": "1"}
        env = {**os.environ, **cls.uv, "UV_OFFLINE": "0"}
        for packages in (["six==1.16.0", "idna>=3"], ["python-dateutil==2.9.0.post0"]):
            if not any(cls.fetch(packages, cache, env) for _ in range(3)):
                raise unittest.SkipTest("PyPI cannot be reached")

    @staticmethod
    def fetch(packages, cache, env):
        try:
            return subprocess.run(
                [UV, "pip", "install", "--quiet", "--no-python-downloads", "--python", SYSTEM_PYTHON,
                 "--target", os.path.join(cache, "fetched"), *packages],
                capture_output=True, timeout=120, env=env, check=False).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def run_with(self, text):
        path = self.job_file(text + "\nprice: {limit: 1, budget: 5}\n")
        done = self.souk("run", path, "--yes", "--wait", token=self.bob, env=self.uv)
        job = done.stderr.split("submitted ")[1].split()[0].rstrip(":")
        return done.stderr, self.souk("logs", job, token=self.bob).stdout, job

    def test_packages_from_pypi_come_with_the_job_and_the_next_one_sends_nothing(self):
        version = subprocess.run([SYSTEM_PYTHON, "-c",
                                  "import sys; print('%d.%d' % sys.version_info[:2])"],
                                 check=True, capture_output=True, text=True).stdout.strip()
        self.agent("box")
        text = (f"environment: {{requirements: ['six==1.16.0', 'idna>=3'], python: '{version}'}}\n"
                "run: python3 -c 'import six, idna; print(six.__version__, six.__file__)'")
        notes, said, first = self.run_with(text)
        self.assertEqual(said, "1.16.0 /env/six.py\n")
        self.assertIn(f"building an environment of 2 packages for Python {version}", notes)
        notes, said, second = self.run_with(text)
        self.assertEqual(said, "1.16.0 /env/six.py\n")
        self.assertIn("built before", notes)
        self.assertNotIn("building", notes)
        jobs = [self.good("GET", f"/v1/jobs/{j}", token=self.bob) for j in (first, second)]
        self.assertEqual(jobs[0]["batch"]["environment"], jobs[1]["batch"]["environment"])
        minor = int(version.split(".")[1])
        self.assertIn(f"python>=3.{minor},<3.{minor + 1}", jobs[0]["constraints"]["packages"])
        trees = os.path.join(self.folder, "agent-box/souk/lend/trees")
        self.assertEqual(len(os.listdir(trees)), 1, "unpacked once, for both")

    def test_only_what_the_lender_lacks_travels(self):
        venv, site = self.venv("wood", SYSTEM_PYTHON)
        install(site, "six", "1.17.0")
        version = subprocess.run([f"{venv}/bin/python3", "-c",
                                  "import sys; print('%d.%d' % sys.version_info[:2])"],
                                 check=True, capture_output=True, text=True).stdout.strip()
        self.agent("box", "--env", venv)
        notes, said, _ = self.run_with(
            f"environment: {{requirements: [python-dateutil==2.9.0.post0], on: six, python: '{version}'}}\n"
            "run: python3 -c 'import six, dateutil; print(six.__file__, dateutil.__file__)'")
        self.assertEqual(said, f"{site}/six/__init__.py /env/dateutil/__init__.py\n")
        self.assertIn("environment: 1 package", notes)

    def test_what_cannot_be_resolved_is_said_and_nothing_is_submitted(self):
        path = self.job_file("environment: {requirements: ['six==0.0.999']}\nrun: 'true'\n")
        done = self.souk("run", path, "--yes", token=self.bob, env=self.uv, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("six==0.0.999", done.stderr)
        self.assertEqual(self.good("GET", "/v1/jobs", token=self.bob)["items"], [])


def system_version():
    return subprocess.run([SYSTEM_PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                          check=True, capture_output=True, text=True).stdout.strip()


@needs_sandbox
@unittest.skipUnless(os.path.exists(UV), "uv is not installed: scripts/setup test fetches it from PyPI")
class IndexTest(EnvironmentTest):
    """With an index on this machine: nothing is needed of PyPI."""

    def setUp(self):
        super().setUp()
        self.index = PackageIndex(self)
        self.uv = {"SOUK_UV": UV, **self.index.env}
        self.python = system_version()
        for version in ("1.0", "2.0"):
            self.index.add("anvil", version, requires=["tongs"], scripts={"strike": "anvil:main"})
        self.index.add("tongs", "1.1", files={"big.bin": os.urandom(3 << 20)})
        self.index.add("rivet", "0.5")

    def sent(self):
        """Bytes of files that the market has got."""
        return sum(os.path.getsize(os.path.join(folder, name))
                   for folder, _, names in os.walk(os.path.join(self.data, "blobs")) for name in names)

    def run_with(self, environment, run="python3 -c 'import anvil; print(anvil.version, anvil.__file__)'", **files):
        path = self.job_file(f"environment: {environment}\nrun: {run}\nprice: {{limit: 1, budget: 5}}\n", **files)
        done = self.souk("run", path, "--yes", "--wait", token=self.bob, env=self.uv)
        job = done.stderr.split("submitted ")[1].split()[0].rstrip(":")
        return done.stderr, self.souk("logs", job, token=self.bob).stdout, job


class FilesOfRequirements(IndexTest):
    def test_a_pyproject_and_a_uv_lock_are_read_and_a_similar_environment_sends_what_differs(self):
        self.agent("box")
        project = ("[project]\nname = 'mine'\nversion = '1'\nrequires-python = '>=3.9'\n"
                   "dependencies = ['anvil<2']\n")
        notes, said, _ = self.run_with(f"{{requirements: project/pyproject.toml, python: '{self.python}'}}",
                                       pyproject_toml=project)
        self.assertEqual(said, "1.0 /env/anvil.py\n")
        self.assertIn("building an environment of 2 packages", notes)
        sent = self.sent()
        self.assertGreater(sent, 3 << 20)
        subprocess.run([UV, "lock", "--quiet", "--no-python-downloads", "--project", self.folder + "/project"],
                       check=True, env={**os.environ, **self.uv}, capture_output=True)
        notes, said, _ = self.run_with(f"{{requirements: project/uv.lock, python: '{self.python}'}}")
        self.assertEqual(said, "1.0 /env/anvil.py\n")
        # Another version of one package, and one more: the three megabytes stay where they are.
        notes, said, _ = self.run_with(f"{{requirements: [anvil>=2, rivet], python: '{self.python}'}}")
        self.assertEqual(said, "2.0 /env/anvil.py\n")
        self.assertIn("building an environment of 3 packages", notes)
        self.assertLess(self.sent() - sent, 100 << 10)

    def test_a_job_for_another_python_waits_for_a_machine_that_has_it(self):
        self.agent("box")
        other = "3.8"
        path = self.job_file(f"environment: {{requirements: [rivet], python: '{other}'}}\nrun: 'true'\n"
                             "price: {limit: 1, budget: 5}\n")
        job = self.json("run", path, "--yes", token=self.bob, env=self.uv)["id"]
        self.assertIn(f"lacks python>={other},<3.9 (it has ", self.souk("why", job, token=self.bob).stdout)


class BuiltByLenders(IndexTest):
    def wanted(self, *packages, more=""):
        return f"{{requirements: [{', '.join(packages)}], python: '{self.python}', build: lender{more}}}"

    def lend(self, name="box", *flags):
        return self.agent(name, "--build-environments", "--index", f"http://{self.index.host}", *flags)

    def test_a_lender_fetches_the_packages_once_and_the_borrower_sends_nothing(self):
        self.lend()
        notes, said, job = self.run_with(self.wanted("anvil==1.0"), run="strike; python3 -c 'import anvil, tongs, "
                                         "os; print(anvil.version, anvil.__file__, os.path.getsize(\"/env/big.bin\"))'")
        self.assertEqual(said, f"anvil runs\n1.0 /env/anvil.py {3 << 20}\n")
        self.assertIn("environment: 2 packages for Python", notes)
        self.assertIn("built by the lender", notes)
        self.assertNotIn("building an environment", notes)
        self.assertLess(self.sent(), 100 << 10)
        constraints = self.good("GET", f"/v1/jobs/{job}", token=self.bob)["constraints"]["packages"]
        self.assertIn(f"@index:{self.index.host}", constraints)
        self.assertEqual(len(self.index.lent), 2)
        self.assertEqual(self.run_with(self.wanted("anvil==1.0"))[1], "1.0 /env/anvil.py\n")
        self.assertEqual(len(self.index.lent), 2, "kept by what it is made of")
        trees = os.listdir(os.path.join(self.folder, "agent-box/souk/lend/trees"))
        self.assertEqual([name[:4] for name in trees], ["env-"])

    def test_it_stands_on_what_the_lender_has(self):
        venv, site = self.venv("wood", SYSTEM_PYTHON)
        install(site, "tongs", "1.1")
        self.lend("box", "--env", venv)
        notes, said, _ = self.run_with(self.wanted("anvil==1.0", more=", on: tongs"),
                                       run="python3 -c 'import anvil, tongs; print(anvil.__file__, tongs.__file__)'")
        self.assertEqual(said, f"/env/anvil.py {site}/tongs/__init__.py\n")
        self.assertIn("environment: 1 package ", notes)

    def test_who_does_not_allow_it_gets_no_such_job(self):
        self.agent("box")
        path = self.job_file(f"environment: {self.wanted('rivet')}\nrun: 'true'\nprice: {{limit: 1, budget: 5}}\n")
        job = self.json("run", path, "--yes", token=self.bob, env=self.uv)["id"]
        self.assertIn(f"lacks @index:{self.index.host}", self.souk("why", job, token=self.bob).stdout)

    def refused(self, job, reason):
        lease = wait_for(lambda: next((l for l in self.good("GET", f"/v1/jobs/{job}/leases", token=self.bob)
                                       ["items"] if l["state"] == "closed"), None), "the end of the lease")
        self.souk("job", "cancel", job, token=self.bob, check=False)
        self.assertIn(reason, lease["detail"])
        trees = os.path.join(self.folder, "agent-box/souk/lend/trees")
        self.assertEqual(os.listdir(trees), [])
        self.assertFalse(os.path.exists(os.path.join(trees, "../planted.py")))

    def submit(self, **environment):
        return self.server.call("POST", "/v1/jobs", {"class": "c1", "limit": 1, "budget": 5, "batch": {
            "run": "true", "environment": {"python": self.python, **environment}}}, self.bob)

    def test_wheels_that_lie_or_lead_out_are_refused_and_nothing_stays(self):
        self.index.add("evil", "1.0", files={"../../planted.py": b"x = 1\n"})
        self.index.add("bomb", "1.0", files={"zeros": bytes(150 << 20)})
        self.lend("box", "--cache", "200M")
        for package, reason in (("evil", "leads out of it"), ("bomb", "does not fit")):
            path = self.job_file(f"environment: {self.wanted(package)}\nrun: 'true'\n"
                                 "price: {limit: 1, budget: 5}\n")
            self.refused(self.json("run", path, "--yes", token=self.bob, env=self.uv)["id"], reason)
        url = f"http://{self.index.host}/files/rivet-0.5-py3-none-any.whl"
        # Whose lock a job claims to have decides nothing: it is kept by the hashes of its wheels.
        answer = self.submit(lock="0" * 64, wheels=[{"url": url, "sha256": "0" * 64}])
        self.assertEqual(answer.status, 201, answer.text)
        self.refused(answer.json["id"], "is not the file with SHA-256")
        self.assertIn(self.submit(wheels=[{"url": "file:///etc/x.whl", "sha256": "0" * 64}]).status, (400, 422))
        self.assertIn(self.submit(wheels=[{"url": url, "sha256": "../x"}]).status, (400, 422))
        self.assertIn(self.submit(blob="0" * 64, wheels=[{"url": url, "sha256": "0" * 64}]).status, (400, 422))


if __name__ == "__main__":
    unittest.main()
