"""A GPU that is not there: an nvidia-smi that names one, and its device node in a /dev of the agent's own."""
import os
import shutil
import subprocess
import unittest

from lending import Agent

NAME, UUID, MEMORY_MIB = "NVIDIA H200", "GPU-5c890000-0000-0000-0000-00000000000a", 143771

# The agent sees the usual devices, and its GPU, which is another /dev/null.
OWN_DEV = r"""
set -e
mount --make-rprivate /
mkdir -p "$1"
mount --rbind /dev "$1"
mount -t tmpfs tmpfs /dev
cp -a "$1"/null "$1"/zero "$1"/full "$1"/random "$1"/urandom "$1"/tty /dev/
ln -s /proc/self/fd /dev/fd
mkdir /dev/shm
mount -t tmpfs tmpfs /dev/shm
mknod -m 666 /dev/nvidia0 c 1 3
shift
exec "$@"
"""


def _can():
    return os.geteuid() == 0 and shutil.which("unshare") and subprocess.run(
        ["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0


needs_made_up_gpu = unittest.skipUnless(_can(), "needs root, for a /dev with a GPU in it")


class GpuAgent(Agent):
    """An agent on a machine whose only GPU is made up."""

    def __init__(self, test, token, name, *flags, gpus_of=None, **more):
        """Agents with the same `gpus_of` are on one machine; their cores are apart anyway."""
        self.scope = gpus_of
        self.bin = os.path.join(test.folder, "gpu-bin")
        self.dev = os.path.join(test.folder, "dev-" + name)
        os.makedirs(self.bin, exist_ok=True)
        smi = os.path.join(self.bin, "nvidia-smi")
        with open(smi, "w", encoding="utf-8") as out:
            out.write("#!/bin/sh\ncase \"$1\" in --query-gpu=name*) "
                      f"echo '{NAME}, {MEMORY_MIB}, 550.54.15, {UUID}, 00000000:17:00.0';; esac\n")
        os.chmod(smi, 0o755)
        super().__init__(test, token, name, "--share-cores", *flags, **more)

    def start(self):
        self.env["PATH"] = self.bin + ":" + os.environ["PATH"]
        if self.scope:
            self.env["SOUK_CORE_SCOPE"] = self.scope[-40:]
        if self.command[0] != "unshare":
            self.command = ["unshare", "-m", "sh", "-c", OWN_DEV, "sh", self.dev, *self.command]
        super().start()
