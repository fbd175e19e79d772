"""docs/agents.md is what `souk help agents` prints, and its commands give the JSON that it shows."""
import json
import os
import pathlib
import re
import shlex
import subprocess
import unittest

from lending import LendingTest, needs_sandbox
from souk import SOUK

GUIDE = (pathlib.Path(__file__).resolve().parent.parent / "docs/agents.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Guide(LendingTest):
    def like(self, shown, real, where):
        """Has `real` all that is shown, and of the same kind? It may have more."""
        if isinstance(shown, dict):
            self.assertIsInstance(real, dict, where)
            for key, value in shown.items():
                self.assertIn(key, real, where)
                self.like(value, real[key], f"{where}.{key}")
        elif isinstance(shown, list):
            self.assertIsInstance(real, list, where)
            if shown:
                self.assertTrue(real, f"{where} is empty")
                self.like(shown[0], real[0], f"{where}[0]")
        elif isinstance(shown, (int, float)) and not isinstance(shown, bool):
            self.assertIsInstance(real, (int, float), where)
        else:
            self.assertIs(type(real), type(shown), where)

    def test_help_prints_it(self):
        done = subprocess.run([SOUK, "help", "agents"], capture_output=True, text=True, timeout=30, check=True)
        self.assertEqual(done.stdout, GUIDE)

    @needs_sandbox
    def test_its_commands_give_what_it_shows(self):
        self.agent("box")
        blocks = FENCE.findall(GUIDE)
        work = os.path.join(self.folder, "work")
        os.makedirs(work)
        token, checked = self.bob, 0
        for (kind, text), (after, answer) in zip(blocks, blocks[1:] + [("", "")]):
            if kind == "yaml":
                pathlib.Path(work, "job.yaml").write_text(text, encoding="utf-8")
            if kind != "sh":
                continue
            self.assertEqual(after, "json", text)
            words = [os.path.join(work, w) if w in ("job.yaml", "out") else w for w in shlex.split(text)]
            real = json.loads(self.souk(*words[1:], token=token).stdout)
            self.like(json.loads(answer), real, text.strip())
            token = real.get("token", token)  # All but the first with the token that it makes.
            checked += 1
        self.assertEqual(checked, 9)
        self.assertEqual(pathlib.Path(work, "out/out.txt").read_text(encoding="utf-8"), "0\n")
        self.assertIn("done", self.souk("logs", "j1", token=token).stdout)


if __name__ == "__main__":
    unittest.main()
