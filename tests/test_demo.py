"""`souk demo` is what newcomers see first; it checks itself and must end well."""
import os
import subprocess
import unittest

from mnist import needs_mnist
from souk import DEADLINE_S, SOUK


class Demo(unittest.TestCase):
    @needs_mnist
    @unittest.skipUnless(os.path.exists(SOUK + "-torch"),
                         "souk-torch was not built: it needs libtorch-dev")
    def test_demo_trains_a_model_and_its_ledger_sums_to_zero(self):
        done = subprocess.run([SOUK, "demo"], capture_output=True, text=True, timeout=15 * DEADLINE_S,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?i)sum\D*0")
        self.assertIn("the target was reached", done.stdout)


if __name__ == "__main__":
    unittest.main()
