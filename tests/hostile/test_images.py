"""Images and packages that attack the lender who unpacks them. Rows of the list in docs/hostile.md."""
import os
import tarfile
import unittest

from lending import LendingTest, needs_sandbox
from registry import BUSYBOX, HandRegistry, Image, busybox_layer, layer, sha256
from souk import wait_for


def entry(path, kind, target=""):
    out = tarfile.TarInfo(path)
    out.type, out.linkname = kind, target
    return out


@needs_sandbox
@unittest.skipUnless(BUSYBOX, "busybox-static is not installed: scripts/setup test installs it")
class HostileImages(LendingTest):
    def setUp(self):
        super().setUp()
        self.registry = HandRegistry(self)
        self.agent("box", "--registry", f"http://{self.registry.host}", "--cache", "200M")
        self.trees = os.path.join(self.folder, "agent-box/souk/lend/trees")
        self.box = busybox_layer()

    def refused(self, image, reason):
        """The lease ends without a start, with this reason, and nothing of the image stays."""
        name = image if isinstance(image, str) else self.registry.push("evil/box", image)
        job = self.run_job(f"image: {name}\nrun: echo ran")
        lease = wait_for(lambda: next((l for l in self.good("GET", f"/v1/jobs/{job}/leases", token=self.bob)
                                       ["items"] if l["state"] == "closed"), None), "the end of the lease")
        self.souk("job", "cancel", job, token=self.bob, check=False)
        self.assertIn(reason, lease["detail"])
        # It may have begun again before it heard that the job is cancelled.
        wait_for(lambda: os.listdir(self.trees) == [], "an empty cache")
        self.assertFalse(os.path.exists(os.path.join(self.trees, "../planted")))

    def test_layers_that_lead_out_or_never_end_are_refused(self):
        """Row 32: paths with .., links out of the tree, bombs, wrong digests."""
        up = "../" * 6
        before = self.good("GET", "/v1/machines", token=self.ann)["items"][0]["reliability"]
        self.refused(Image([self.box, layer({up + "planted": b"x"})]), "leads out of it")
        self.refused(Image([self.box, layer({}, {"out": up}), layer({"out/planted": b"x", "out/a/../../p": b""})]),
                     "leads out of it")
        self.refused(Image([self.box, layer({}, more=[entry("etc/shadow", tarfile.LNKTYPE, "/etc/shadow")])]),
                     "which it has not")
        bomb = tarfile.TarInfo("zeros")
        bomb.size = 150 << 20
        image = Image([self.box, layer({}, more=[bomb])])
        self.assertLess(len(image.blobs[-1]), 1 << 20)
        self.refused(image, "does not fit into this machine's cache")
        for which in range(3):
            image = Image([self.box + b"", layer({f"mark{which}": b""})])
            victim = (image.manifest, *image.blobs[1:])[which]
            self.registry.lies[sha256(victim)] = victim[:-1] + bytes([victim[-1] ^ 1])
            self.refused(image, "is not ")
        self.refused(f"{self.registry.host}/evil/none@sha256:{'0' * 64}", "404")
        after = self.good("GET", "/v1/machines", token=self.ann)["items"][0]["reliability"]
        self.assertGreaterEqual(after, before, "a bad image is not the lender's fault")

    def test_an_image_shows_nothing_of_the_machine(self):
        """Row 33: links where the sandbox mounts, programs with rights, devices."""
        secret = os.path.join(self.folder, "secret")
        with open(secret, "w", encoding="utf-8") as out:
            out.write("the owner's\n")
        root = tarfile.TarInfo("bin/root")
        root.mode, root.size = 0o6755, 4
        image = Image([self.box, layer({}, {"etc": "/oldroot" + self.folder, "work": "/oldroot" + self.folder,
                                            "tmp": "/oldroot/tmp", "far": self.folder},
                                       more=[root, entry("dev/sda", tarfile.BLKTYPE)])])
        name = self.registry.push("evil/box", image)
        job = self.run_job(f"image: {name}\nrun: |\n  cat /far/secret /oldroot{secret} /proc/1/root{secret} || echo none\n"
                           "  ls -l /bin/root | grep -c s.*x || echo plain; ls /dev | grep sda || echo no device\n"
                           "  echo x > /work/mine; echo y > /tmp/mine; ls /work /etc")
        self.souk("job", "wait", job, "--timeout", "5m", token=self.bob, check=False)
        said = self.souk("logs", job, token=self.bob).stdout
        self.assertNotIn("owner's", said)
        self.assertIn("none\n", said)
        self.assertIn("no device\n", said)
        self.assertTrue(said.endswith("/etc:\ngroup\nhosts\npasswd\nresolv.conf\n\n/work:\nmine\n"), said)
        tree = os.path.join(self.trees, os.listdir(self.trees)[0], "root")
        self.assertEqual(os.stat(tree + "/bin/root").st_mode & 0o7777, 0o755)
        self.assertNotIn("mine", os.listdir(self.folder))


if __name__ == "__main__":
    unittest.main()
