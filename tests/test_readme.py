"""The README's first hour, typed as it stands: its blocks, in order, in a terminal of a home of its own."""
import contextlib
import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import tempfile
import termios
import time
import unittest

import mnist
import netns
from souk import DEADLINE_S, SOUK, wait_for

REPO = pathlib.Path(__file__).resolve().parent.parent
SHOWN = "@shown@"  # Before a line's exit status.
# What needs more than this computer has for sure.
ELSEWHERE = {"examples/gang/ddp.yaml": "PyTorch's DDP", "--env": "an environment with PyTorch",
             "examples/own-environment.yaml": "an index of packages", "examples/lora.yaml": "PEFT",
             "souk results lora": "PEFT", "market.example": "a market elsewhere"}
# What must have come of it, beside the exit status.
OUTCOMES = {"souk run job.yaml": "j1 succeeded", "souk results powers": "1\r\n2\r\n", "souk ledger": "sum 0",
            "souk run examples/mnist.yaml": "the target was reached", "souk results mnist": "model: ",
            "souk run examples/sweep.yaml": "is best: r2", "souk services": "ann.hello"}


def commands(heading):
    """Of the blocks below the heading: what is typed, a line or a line with its here-document."""
    text = re.search(rf"^## {heading}\n(.*?)^## ", (REPO / "README.md").read_text(), re.MULTILINE | re.DOTALL).group(1)
    for block in re.findall(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        lines = iter(block.splitlines())
        for line in lines:
            typed = [line]
            if end := re.search(r"<<'(\w+)'", line):
                for more in lines:
                    typed.append(more)
                    if more == end.group(1):
                        break
            if line.strip():
                yield "\n".join(typed)


class Terminal:
    """A shell that somebody types into, in a network where the market's usual port is free."""

    def __init__(self, test, folder):
        home = os.path.join(folder, "home")
        os.mkdir(home)
        env = {k: v for k, v in os.environ.items() if not k.startswith("SOUK_")}
        env |= {"HOME": home, "TERM": "dumb", "PS1": "", "PS2": "", "PROMPT_COMMAND": f"echo {SHOWN}$?{SHOWN}",
                "SOUK_DATASETS": os.path.dirname(mnist.FOLDER)}
        self.terminal, theirs = pty.openpty()
        inside = "ip link set lo up && stty -echo cols 120 && exec bash --norc --noediting -i"
        # What is started in it is of its session.
        self.shell = subprocess.Popen(["unshare", "--net", "sh", "-c", inside], cwd=folder, env=env, stdin=theirs,
                                      stdout=theirs, stderr=theirs, start_new_session=True,
                                      preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(theirs)
        test.addCleanup(self.end)
        self.text = ""
        self.until_shown()

    def end(self):
        self.signalled(signal.SIGTERM)
        wait_for(lambda: not self.signalled(0), "the market and its lender to end")
        self.shell.kill()
        self.shell.wait(DEADLINE_S)
        os.close(self.terminal)

    def signalled(self, sent):
        """What was started here and has not ended, the shell apart."""
        found = []
        for pid in [int(name) for name in os.listdir("/proc") if name.isdigit()]:
            with contextlib.suppress(ProcessLookupError):
                if pid != self.shell.pid and os.getsid(pid) == self.shell.pid and self.is_alive(pid):
                    os.kill(pid, sent)
                    found.append(pid)
        return found

    @staticmethod
    def is_alive(pid):
        with contextlib.suppress(FileNotFoundError), open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            return f.read().rpartition(")")[2].split()[0] != "Z"
        return False

    def until_shown(self):
        """What came until the shell wants the next line, and the status of the last; questions are answered yes."""
        end = time.monotonic() + 10 * DEADLINE_S
        begun, answered = len(self.text), 0
        while not (done := re.search(rf"{SHOWN}(\d+){SHOWN}", self.text[begun:])):
            if time.monotonic() > end:
                raise AssertionError("no end of it: " + self.text[begun:])
            if select.select([self.terminal], [], [], 1)[0]:
                self.text += os.read(self.terminal, 1 << 16).decode(errors="replace")
            questions = len(re.findall(r"\[[yY]/[nN]\]", self.text[begun:]))
            if questions > answered:
                answered = questions
                os.write(self.terminal, b"y\n")
        return self.text[begun:begun + done.start()], int(done.group(1))

    def type(self, line):
        # Who gets a terminal on the leased machine leaves it again.
        os.write(self.terminal, (line + ("\nexit\n" if "souk shell" in line else "\n")).encode())
        return self.until_shown()


@unittest.skipUnless(netns.available(), "needs root, for a network where the usual port is free")
class Readme(unittest.TestCase):
    def add_programs(self, folder):
        """What was built, with a market that waits for a machine that is busy with other tests."""
        os.makedirs(folder)
        built = os.path.realpath(os.path.dirname(SOUK))
        for name in os.listdir(built):
            if name != "souk":
                os.symlink(os.path.join(built, name), os.path.join(folder, name))
        souk = os.path.join(folder, "souk")
        with open(souk, "w", encoding="utf-8") as f:
            f.write('#!/bin/sh\n[ "$1" = serve ] && set -- "$@" --challenge-slack 20\n'
                    f'exec {os.path.join(built, "souk")} "$@"\n')
        os.chmod(souk, 0o755)

    @mnist.needs_mnist
    def test_ten_minutes_with_it_run_as_written(self):
        folder = tempfile.mkdtemp(prefix="souk-readme-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        os.symlink(REPO / "examples", os.path.join(folder, "examples"))
        self.add_programs(os.path.join(folder, "build/release/bin"))
        terminal = Terminal(self, folder)
        for line in commands("Ten minutes with it"):
            if needs := next((why for what, why in ELSEWHERE.items() if what in line), ""):
                print(f"not typed, as it needs {needs}: {line}")
                continue
            said, status = terminal.type(line)
            self.assertEqual(status, 0, f"{line}\n{said}")
            for what, outcome in OUTCOMES.items():
                if what in line:
                    self.assertRegex(said, outcome)


if __name__ == "__main__":
    unittest.main()
