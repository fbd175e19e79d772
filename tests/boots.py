"""Boots a root folder (roots.py): systemd as its first process, with process ids, mounts, control groups
and a network of its own. Its services start as on a computer; nothing outside the folder changes."""
import os
import shutil
import subprocess
import tempfile
import unittest

from souk import wait_for

PACKAGES = ["systemd", "dbus", "libpam-systemd", "procps"]
BOOT_S = 60
INIT = "usr/lib/systemd/systemd"
# They set up hardware, or the kernel, which is this computer's too.
MASKED = ("getty.target", "systemd-sysctl.service", "systemd-modules-load.service", "systemd-remount-fs.service",
          "systemd-binfmt.service", "proc-sys-fs-binfmt_misc.automount", "systemd-random-seed.service",
          "systemd-pstore.service", "dev-hugepages.mount", "dev-mqueue.mount", "sys-kernel-debug.mount",
          "sys-kernel-tracing.mount", "sys-kernel-config.mount", "sys-fs-fuse-connections.mount",
          "apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "fstrim.timer")

# $1: the root folder. Everything is mounted afresh rather than taken along: a kernel lets
# sandboxes mount a /proc of their own only where nothing of the one outside is covered.
MOUNT = """
cd "$1"
mount --bind . .
cd "$1"
mkdir -p sys old
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup sys/fs/cgroup
mount -t tmpfs -o mode=755,nosuid tmpfs dev
for name in null zero full random urandom tty; do
  touch dev/$name
  mount --bind /dev/$name dev/$name
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
hostname souk-test
pivot_root . old
umount -l /old
rmdir /old
mount --make-rshared /  # Within this computer, as systemd expects.
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /usr/lib/systemd/systemd --show-status=0
"""
UNSHARE = ["unshare", "--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup", "--fork", "--kill-child",
           "--propagation", "private"]


def needs_systemd(test):
    for wanted, sentence in ((os.geteuid() == 0, "booting a root folder needs root"),
                             (os.path.exists("/" + INIT), "systemd is not installed: scripts/setup test"),
                             (shutil.which("unshare") and shutil.which("nsenter"), "util-linux is not installed"),
                             (cgroup_tree(), "control groups of version 2 are not mounted")):
        if not wanted:
            return unittest.skip(sentence)(test)
    return test


def cgroup_tree():
    return next((path for path in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")
                 if os.path.exists(path + "/cgroup.procs") and os.access(path, os.W_OK)), None)


def prepare(root):
    """Lets a folder of packages boot: what their scripts would have written, as far as it matters here."""
    root.write("etc/machine-id", "")
    os.makedirs(os.path.join(root.folder, "var/log/journal"))  # Else users cannot read what theirs say.
    units = os.path.join(root.folder, "etc/systemd/system")
    os.makedirs(units, exist_ok=True)
    for name in MASKED:
        os.symlink("/dev/null", os.path.join(units, name))
    os.symlink("/lib/systemd/system/multi-user.target", os.path.join(units, "default.target"))
    permit = "account required pam_permit.so\nsession required pam_permit.so\n"
    root.write("etc/pam.d/systemd-user", permit + "session required pam_systemd.so\n")
    root.write("etc/pam.d/other", permit)


class Machine:
    """A root folder that was booted, until end() is called."""

    def __init__(self, root, log):
        self.group = tempfile.mkdtemp(prefix="souk-test-", dir=cgroup_tree())
        os.chmod(self.group, 0o755)  # Users have groups below it.
        self.log = open(log, "w+b")
        enter = 'group=$1; shift; echo $$ >"$group/cgroup.procs"; exec "$@"'
        self.process = subprocess.Popen(
            ["sh", "-ec", enter, "sh", self.group, *UNSHARE, "sh", "-ec", MOUNT, "sh", root.folder],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def wait(self):
        """Until all that starts at boot has started. Skips the test where systemd cannot start."""
        try:
            self.first = wait_for(self.first_process, "systemd", BOOT_S)
            state = self.run("systemctl", "is-system-running", "--wait", check=False, timeout=BOOT_S).stdout.strip()
        except (AssertionError, OSError, subprocess.TimeoutExpired) as e:
            raise unittest.SkipTest(f"systemd does not start here: {e}") from e
        if state != "running":
            failed = self.run("systemctl", "--failed", "--plain", "--no-legend", check=False).stdout
            raise unittest.SkipTest(f"systemd does not start here: {state}: {failed}")

    def first_process(self):
        """Its id out here, once it is systemd and answers."""
        if self.process.poll() is not None:
            self.log.seek(0)
            raise AssertionError(self.log.read().decode(errors="replace")[-500:])
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="utf-8") as f:
            for pid in f.read().split():
                if os.readlink(f"/proc/{pid}/exe").endswith(INIT):
                    if os.path.exists(f"/proc/{pid}/root/run/systemd/private"):
                        return pid
        return None

    def run(self, *argv, user=None, env=None, check=True, timeout=60):
        """Runs a command in there: as root, or as a user with a session of systemd."""
        full = {"PATH": "/usr/sbin:/usr/bin", "HOME": "/root", "LANG": "C.UTF-8"}
        command = ["nsenter", "-t", self.first, "-a"]
        if user is not None:
            command += ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
            full |= {"HOME": "/home/lender", "XDG_RUNTIME_DIR": f"/run/user/{user}"}
        full |= env or {}
        command += ["env", "-i", *(f"{name}={value}" for name, value in full.items()), *argv]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout,
                              check=False)
        if check and done.returncode != 0:
            raise AssertionError(f"{argv}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def end(self):
        # With the first process all others of its namespace end, so the groups become empty.
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(BOOT_S)
        self.log.close()

        def removed():
            for folder, _, _ in os.walk(self.group, topdown=False):
                try:
                    os.rmdir(folder)
                except OSError:
                    return False
            return True
        wait_for(removed, "the control groups to be removed")
