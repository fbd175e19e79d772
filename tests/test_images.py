"""Images without root: pulled by digest from a real registry, unpacked by the agent, run by bubblewrap."""
import os
import shutil
import subprocess
import unittest

from lending import Agent, LendingTest, needs_sandbox
from registry import BUSYBOX, Image, RealRegistry, busybox_layer, layer, registry

needs_busybox = unittest.skipUnless(BUSYBOX, "busybox-static is not installed: scripts/setup test installs it")
NOBODY = 65534


class ImageTest(LendingTest):
    def ended(self, job, check=True):
        return self.souk("job", "wait", job, "--timeout", "5m", "--json", token=self.bob, check=check)

    def output(self, text, **files):
        job = self.run_job(text, **files)
        self.ended(job)
        return self.souk("logs", job, token=self.bob).stdout

    def trees(self, name):
        return os.path.join(self.folder, f"agent-{name}/souk/lend/trees")


@needs_sandbox
@needs_busybox
class Images(ImageTest):
    def setUp(self):
        super().setUp()
        self.registry = registry(self)
        self.image = Image(
            [busybox_layer(), layer({"etc/motd": b"first\n", "opt/old/x": b"", "srv/page": b"served\n"}),
             layer({"etc/motd": b"second\n", "opt/.wh.old": b"", "srv/new": b"", "srv/.wh..wh..opq": b""})],
            Env=["PATH=/bin", "COLOUR=green"], WorkingDir="/srv", Entrypoint=["/bin/sh", "-c"],
            Cmd=["pwd; echo $COLOUR; ls /srv"])
        self.name = self.registry.push("team/box", self.image)

    def lend(self, name="box", *flags, **more):
        return self.agent(name, "--registry", f"http://{self.registry.host}/team", *flags, **more)

    def check_programs(self):
        said = self.output(f"""image: {self.name}
env: {{MINE: '1'}}
workdir: project
run: |
  cat /etc/motd in.txt; echo $COLOUR $MINE; ls /opt /srv; id -u; pwd
  touch /etc/x 2>/dev/null || echo read-only
  ls /home /root /usr 2>/dev/null; wc -l < /etc/passwd
  ip link | grep -c '^[0-9]'; echo kept > out
outputs: [out]
""", in_txt="brought\n")
        self.assertEqual(said.split(), ["second", "brought", "green", "1", "/opt:", "/srv:", "new", "1000",
                                        "/work", "read-only", "2", "1"])
        # Without a command the image runs its own program, where it wants to.
        self.assertEqual(self.output(f"image: {self.name}"), "/srv\ngreen\nnew\n")

    def test_an_image_is_pulled_once_and_runs_with_its_variables_and_program(self):
        self.lend()
        spec = self.good("GET", "/v1/machines", token=self.ann)["items"][0]["spec"]
        self.assertIn(f"@image:{self.registry.host}/team/", spec["packages"])
        self.check_programs()
        self.assertEqual(os.listdir(self.trees("box")), ["image-" + self.image.digest[7:]])

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root to be somebody else")
    def test_an_ordinary_user_lends_images_too(self):
        os.chmod(self.folder, 0o755)
        self.lend(user=NOBODY)
        self.check_programs()

    def test_a_job_goes_only_where_its_registry_is_allowed(self):
        self.lend()
        other = self.registry.push("strangers/box", self.image)
        job = self.run_job(f"image: {other}\nrun: 'true'")
        why = self.souk("why", job, token=self.bob).stdout
        self.assertIn(f"lacks @image:{self.registry.host}/strangers/box/", why)
        done = self.souk("run", self.job_file("image: docker.io/library/python@sha256:12\nrun: 'true'\n"),
                         "--yes", token=self.bob, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("is not an image", done.stderr)

    @unittest.skipUnless(shutil.which("slirp4netns") and os.access("/dev/net/tun", os.R_OK | os.W_OK),
                         "internet needs slirp4netns and /dev/net/tun")
    def test_network_where_the_job_may_have_it(self):
        self.lend("box", "--internet")
        said = self.output(f"image: {self.name}\nnetwork: internet\n"
                           "run: 'ip link | grep -o tap0; cat /etc/resolv.conf'")
        self.assertEqual(said, "tap0\nnameserver 10.0.2.3\n")

    def test_an_agent_that_is_killed_while_it_unpacks_begins_again(self):
        agent = self.lend()
        half = os.path.join(self.trees("box"), "image-" + self.image.digest[7:] + ".part")
        agent.kill()
        os.makedirs(half + "/root/bin")
        agent.start()
        self.assertFalse(os.path.exists(half))
        self.assertEqual(self.output(f"image: {self.name}\nrun: cat /etc/motd"), "second\n")


@needs_sandbox
@needs_busybox
@unittest.skipUnless(shutil.which("podman") and shutil.which("docker-registry") and os.geteuid() == 0,
                     "needs podman, docker-registry and root")
class FromPodman(ImageTest):
    def test_an_image_that_podman_made_and_pushed(self):
        place = RealRegistry(self)
        tag = f"{place.host}/made/box:1"
        root = os.path.join(self.folder, "root/bin")
        os.makedirs(root)
        shutil.copy(BUSYBOX, root)
        os.symlink("busybox", root + "/sh")
        tar = subprocess.run(["tar", "-C", self.folder + "/root", "-c", "."], check=True,
                             capture_output=True).stdout
        # A storage of its own, whose lock nobody else has, and which goes with the test.
        podman = ["podman", "--storage-driver", "vfs", "--root", os.path.join(self.folder, "storage"),
                  "--runroot", os.path.join(self.folder, "storage.run"), "--runtime", "runc"]
        imported = subprocess.run([*podman, "import", "--change", "ENV=MADE=podman", "-", tag], input=tar,
                                  capture_output=True, check=False)
        if imported.returncode != 0:
            self.skipTest("podman cannot import here: " + imported.stderr.decode()[-200:])
        digest = os.path.join(self.folder, "digest")
        subprocess.run([*podman, "push", "--tls-verify=false", "--digestfile", digest, tag], check=True,
                       capture_output=True)
        with open(digest, encoding="utf-8") as text:
            name = f"{place.host}/made/box:1@{text.read().strip()}"
        self.agent("box", "--registry", f"http://{place.host}")
        self.assertEqual(self.output(f"image: {name}\nrun: echo $MADE"), "podman\n")


class Flags(LendingTest):
    def test_what_is_no_registry_is_refused_with_a_reason(self):
        for flags, reason in ((("--registry", "a b"), "is not a registry"),
                              (("--registry", "x.io", "--unsafe-no-sandbox"), "need a sandbox"),
                              (("--index", "x.io"), "means nothing by itself"),
                              (("--build-environments", "--index", "x.io/simple"), "is not a host")):
            done = self.souk("lend", *flags, token=self.ann, check=False)
            self.assertNotEqual(done.returncode, 0, flags)
            self.assertIn(reason, done.stderr)
        self.assertEqual(self.good("GET", "/v1/machines", token=self.ann)["items"], [])


if __name__ == "__main__":
    unittest.main()
