"""What `make package` made, for tests that install it."""
import glob
import os
import subprocess
import unittest

from souk import SOUK

FOLDER = os.path.join(os.path.dirname(os.path.realpath(SOUK)), "../../package")


def packaged(pattern):
    """The one file of that name; skips the test where nothing was packaged."""
    found = glob.glob(os.path.join(FOLDER, pattern))
    if len(found) != 1:
        raise unittest.SkipTest(f"no {pattern} in build/package: make package")
    return os.path.realpath(found[0])


def bundle():
    return packaged("souk-*-linux-x86_64.tar.gz")


def trainer():
    return packaged("souk-torch-*-linux-x86_64.tar.zst")


def field(deb, name):
    return subprocess.run(["dpkg-deb", "-f", deb, name], check=True, capture_output=True, text=True).stdout.strip()


def depends(deb):
    """The packages that it needs, by name."""
    return [item.split()[0] for item in field(deb, "Depends").split(",")]
