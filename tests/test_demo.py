"""`souk demo` is what newcomers see first; it checks itself and must end well."""
import subprocess
import unittest

from souk import SOUK


class Demo(unittest.TestCase):
    def test_demo_shows_a_market_that_sums_to_zero(self):
        done = subprocess.run([SOUK, "demo"], capture_output=True, text=True, timeout=120,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?i)sum\D*0")


if __name__ == "__main__":
    unittest.main()
