"""What the docs say of mechanisms, aggregators, codecs and validators is what the binary has."""
import pathlib
import re
import subprocess
import sys
import unittest

REPO = pathlib.Path(__file__).resolve().parent.parent


class DocsTest(unittest.TestCase):
    def test_the_tables_in_the_docs_are_those_of_the_binary(self):
        done = subprocess.run([sys.executable, "-B", REPO / "scripts/doc-tables"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_value_of_a_property_is_explained(self):
        text = (REPO / "docs/mechanisms.md").read_text()
        header = (REPO / "src/mechanism/properties.h").read_text()
        for names in re.findall(r"^SOUK_ENUM\(\w+, ([^)]*)\)", header, re.MULTILINE):
            for name in re.split(r",\s*", names):
                self.assertIn(f"*{name.replace('_', ' ')}*", text)


if __name__ == "__main__":
    unittest.main()
