"""Root folders with a few Debian packages and nothing else, made of this computer's own packages:
their files and their rows of dpkg's database. Needs no network. Programs run there under bwrap."""
import hashlib
import os
import shutil
import subprocess
import tempfile
import unittest

from souk import DEADLINE_S

STATUS = "/var/lib/dpkg/status"
INFO = "/var/lib/dpkg/info"
SKIPPED = ("/usr/share/doc/", "/usr/share/man/", "/usr/share/locale/", "/usr/share/info/")

needs_roots = unittest.skipUnless(
    os.path.exists(STATUS) and shutil.which("bwrap"),
    "clean root folders are made of Debian's packages, with bubblewrap: scripts/setup test")


class Installed:
    """The packages of this computer."""

    def __init__(self):
        self.rows, self.provides = {}, {}
        with open(STATUS, encoding="utf-8") as f:
            for row in f.read().split("\n\n"):
                fields = dict(line.split(": ", 1) for line in row.split("\n")
                              if ": " in line and not line.startswith(" "))
                if fields.get("Status") != "install ok installed":
                    continue
                name = fields["Package"]
                self.rows[name] = (row, fields)
                for provided in names(fields.get("Provides", "")):
                    self.provides.setdefault(provided[0], name)

    def closure(self, wanted):
        """These packages, all that they depend on, and what every Debian has."""
        out, todo = set(), list(wanted)
        todo += [name for name, (_, f) in self.rows.items() if f.get("Essential") == "yes"]
        while todo:
            name = todo.pop()
            if name in out:
                continue
            if name not in self.rows:
                raise unittest.SkipTest(f"the package {name} is not installed: scripts/setup test")
            out.add(name)
            fields = self.rows[name][1]
            for choices in names(fields.get("Depends", "")) + names(fields.get("Pre-Depends", "")):
                found = [self.known(c) for c in choices if self.known(c)]
                todo += found[:1]
        return out

    def known(self, name):
        return name if name in self.rows else self.provides.get(name)


def names(field):
    """'a (>= 1) | b, c:any' -> [[a, b], [c]]"""
    return [[choice.split("(")[0].strip().split(":")[0] for choice in item.split("|")]
            for item in field.split(",") if item.strip()]


def files_of(package):
    for name in (package + ".list", package + ":amd64.list"):
        path = os.path.join(INFO, name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                return [line for line in f.read().split("\n") if line and line != "/."]
    return []


class Folder:
    """A root folder to run programs in."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("bin", "sbin", "lib", "lib64"):  # /usr is merged.
            os.makedirs(os.path.join(folder, "usr", name), exist_ok=True)
            os.symlink("usr/" + name, os.path.join(folder, name))
        for name in ("tmp", "proc", "dev", "home/lender", "root", "run", "etc"):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
        self.write("etc/passwd", "root:x:0:0:root:/root:/bin/sh\nlender:x:1000:1000::/home/lender:/bin/sh\n")
        self.write("etc/group", "root:x:0:\nlender:x:1000:\n")

    def write(self, path, text):
        with open(os.path.join(self.folder, path), "w", encoding="utf-8") as f:
            f.write(text)

    def fill_in(self):
        """What packages make when they are installed, as far as programs need it."""
        for target, link in (("dash", "usr/bin/sh"), ("mawk", "usr/bin/awk")):
            path = os.path.join(self.folder, link)
            if os.path.exists(os.path.join(self.folder, "usr/bin", target)) and not os.path.lexists(path):
                os.symlink(target, path)
        subprocess.run(["/sbin/ldconfig", "-r", self.folder], check=False, stderr=subprocess.DEVNULL)

    def give_to(self, user):
        """Lets this user run programs in here, whose home is /home/lender."""
        os.chmod(self.folder, 0o755)
        subprocess.run(["chown", "-R", str(user), os.path.join(self.folder, "home/lender"),
                        os.path.join(self.folder, "tmp")], check=True)

    def command(self, *argv, env=None, user=None):
        """The command line that runs `argv` in there, on this computer's network: as root of there, or as
        a user."""
        out = []
        if user is not None and os.geteuid() == 0:
            out += ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        out += ["bwrap", "--bind", self.folder, "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/run",
               "--unshare-pid", "--die-with-parent", "--clearenv"]
        if user is not None:
            out += ["--unshare-user"]
        elif os.geteuid() == 0:
            out += ["--cap-add", "ALL"]
        else:
            out += ["--unshare-user", "--uid", "0", "--gid", "0"]
        full = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/home/lender",
                "SOUK_CORE_SCOPE": self.folder[-80:]}  # Tests have more agents than there are cores.
        for name, value in {**full, **(env or {})}.items():
            out += ["--setenv", name, value]
        return [*out, "--chdir", "/", *argv]

    def run(self, *argv, check=True, timeout=600, **more):
        done = subprocess.run(self.command(*argv, **more), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=timeout, check=False)
        if check and done.returncode != 0:
            raise AssertionError(f"{argv}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done


class Root(Folder):
    """With these packages of this computer, and what they need."""

    def __init__(self, folder, packages):
        super().__init__(folder)
        installed = Installed()
        self.packages = installed.closure(packages)
        os.makedirs(os.path.join(folder, "var/lib/dpkg/updates"))
        paths = set()
        for package in self.packages:
            paths.update(p for p in files_of(package) if not p.startswith(SKIPPED))
        listed = "\0".join(p[1:] for p in sorted(paths) if os.path.lexists(p) and not os.path.isdir(p))
        tar = subprocess.Popen(["tar", "-C", "/", "--null", "--no-recursion", "-T", "-", "-c"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        untar = subprocess.Popen(["tar", "-C", folder, "--keep-directory-symlink", "-x"], stdin=tar.stdout)
        tar.stdin.write(listed.encode())
        tar.stdin.close()
        tar.stdout.close()
        if untar.wait() != 0 or tar.wait() != 0:
            raise AssertionError("the root folder could not be filled")
        os.makedirs(os.path.join(folder, "var/lib/dpkg/info"), exist_ok=True)
        self.write("var/lib/dpkg/status",
                   "\n\n".join(installed.rows[p][0].strip("\n") for p in sorted(self.packages)) + "\n")
        self.fill_in()


class OldRoot(Folder):
    """With these packages of an older release, fetched from where this computer fetches its own."""

    def __init__(self, folder, release, packages):
        super().__init__(folder)
        archives = fetched(release, packages)
        for name in sorted(os.listdir(archives)):
            deb = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", os.path.join(archives, name)],
                                   stdout=subprocess.PIPE)
            subprocess.run(["tar", "-C", folder, "--keep-directory-symlink", "-x"], stdin=deb.stdout, check=True)
            deb.stdout.close()
            deb.wait()
        self.fill_in()


def fetched(release, packages):
    """A folder with the packages and what they need. It is kept: archives are slow, and may be away."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    name = hashlib.sha256(" ".join(packages).encode()).hexdigest()[:12]
    kept = os.path.join(cache, "souk/old-roots", f"{release}-{name}")
    if os.path.isdir(kept):
        return kept
    os.makedirs(os.path.dirname(kept), exist_ok=True)
    apt = tempfile.mkdtemp(prefix=f"{release}-", dir=os.path.dirname(kept))
    try:
        fetch(apt, release, packages)
        archives = os.path.join(apt, "cache/archives")
        for other in os.listdir(archives):
            if not other.endswith(".deb"):
                path = os.path.join(archives, other)
                shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        try:
            os.rename(archives, kept)
        except OSError:
            if not os.path.isdir(kept):  # Another test was quicker.
                raise
    finally:
        shutil.rmtree(apt)
    return kept


def fetch(apt, release, packages):
    """Into apt/cache/archives."""
    for name in ("sources", "state/lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(apt, name))
    for name, text in (("status", ""), ("sources/old.sources", old_sources(release))):
        with open(os.path.join(apt, name), "w", encoding="utf-8") as f:
            f.write(text)
    options = {"Dir::Etc::SourceList": "/dev/null", "Dir::Etc::SourceParts": apt + "/sources",
               "Dir::State": apt + "/state", "Dir::State::status": apt + "/status",
               "Dir::Cache": apt + "/cache", "Acquire::Languages": "none", "Acquire::Retries": "2",
               "Acquire::http::Timeout": "20", "Acquire::https::Timeout": "20",
               "APT::Sandbox::User": "root", "Debug::NoLocking": "1"}
    command = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in options.items())]
    for what in (["update"], ["install", "-y", "--download-only", "--no-install-recommends", *packages]):
        try:
            done = subprocess.run([*command, *what], stdin=subprocess.DEVNULL, capture_output=True, timeout=300,
                                  check=False)
        except (OSError, subprocess.TimeoutExpired) as e:
            raise unittest.SkipTest(f"no packages of {release}: {e}") from e
        if done.returncode != 0:
            raise unittest.SkipTest(f"{release} cannot be fetched from here")


def old_sources(release):
    """The first source of this computer's packages, for another release."""
    path = "/etc/apt/sources.list.d/debian.sources"
    if not os.path.exists(path):
        raise unittest.SkipTest("this computer is no Debian with debian.sources")
    with open(path, encoding="utf-8") as f:
        lines = [line for line in f.read().split("\n\n")[0].split("\n") if not line.startswith("#")]
    return "\n".join(f"Suites: {release}" if line.startswith("Suites:") else line for line in lines) + "\n"


def start_for(test, command, name):
    """Runs the command in the background until the test ends; its process, and what it has said so far."""
    log = open(os.path.join(test.folder, name + ".log"), "wb")
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def end():
        if process.poll() is None:
            process.kill()
        process.wait(DEADLINE_S)
        log.close()
    test.addCleanup(end)

    def said():
        with open(log.name, encoding="utf-8") as f:
            return f.read()
    return process, said
