"""Lending and batch jobs with the real binary: real agents, real sandboxes, real kills."""
import hashlib
import http.server
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest

from lending import Agent, CpuGroup, LendingTest, needs_sandbox
from souk import DEADLINE_S, SOUK, wait_for


@needs_sandbox
class LendTest(LendingTest):
    def wait_job(self, job, check=True):
        return self.souk("job", "wait", job, "--timeout", "120s", "--json", token=self.bob,
                         check=check)

    def logs(self, job):
        return self.souk("logs", job, token=self.bob).stdout

    def parts(self, job):
        return self.good("GET", f"/v1/jobs/{job}/parts", token=self.bob)["items"]

    def check_ledger(self):
        ledger = self.json("ledger", token=self.ann)
        self.assertEqual(ledger["sum"], 0)
        rows = {row["name"]: row for row in ledger["accounts"]}
        total = sum(r["available"] + r["escrow"] for n, r in rows.items() if n != "mint")
        self.assertAlmostEqual(total, 100, places=6)
        return rows


class MachineToken(LendTest):
    def test_a_machine_lends_with_a_token_of_its_own_and_no_other(self):
        machine = self.good("POST", "/v1/machines",
                            {"name": "attic", "spec": {"cores": 1, "memory_mib": 1}}, self.ann)["id"]
        token = self.good("POST", "/v1/tokens", {"scope": "machine", "machine": machine},
                          self.ann)["token"]
        agent = self.agent("any", token=token, named=False)
        self.assertIn(f"lending attic ({machine})", agent.text())
        self.assertEqual([], [f for _, _, files in os.walk(agent.folder) for f in files
                              if f.startswith("token-")], "the token is not kept on disk")
        found = self.good("GET", "/v1/machines", token=self.ann)["items"]
        self.assertEqual([(m["id"], m["name"], m["spec"]["memory_mib"]) for m in found],
                         [(machine, "attic", 1024)])
        # Its pay begins a tenth of a second after its start: a shorter program earns next to nothing.
        job = self.run_job("run: sleep 0.5; echo done")
        self.wait_job(job)
        self.assertEqual(self.logs(job), "done\n")
        agent.process.send_signal(signal.SIGTERM)
        self.assertEqual(agent.process.wait(DEADLINE_S), 0, agent.text())
        self.assertRegex(agent.text(), r"earned 0\.\d+ credits")


class Again(LendTest):
    days = 0

    def lend_box(self, *flags, proves=False):
        """Lends the machine 'box', as its owner does every day, and gives what is on offer then."""
        self.days += 1
        agent = Agent(self, self.ann, f"day{self.days}", "--name", "box", *flags, named=False, proves=proves)
        offers = self.good("GET", "/v1/offers?mine=true", token=self.ann)["items"]
        if "--once" not in flags:
            agent.process.send_signal(signal.SIGTERM)
        self.assertEqual(agent.process.wait(DEADLINE_S), 0, agent.text())
        self.assertEqual(len(offers), 1, offers)
        return offers[0]

    def change(self, offer, **terms):
        self.good("PATCH", f"/v1/offers/{offer['id']}", terms, self.ann)

    def test_what_the_owner_set_elsewhere_stays_unless_a_flag_says_otherwise(self):
        size = ("--cores", "2", "--memory", "4G")
        windows = ["daily 00:00-24:00 UTC"]
        first = self.lend_box(*size, "--price", "0.3", proves=True)
        self.assertEqual((first["price"], first["slots"], first["class"]), (0.3, 2, "c1"))
        self.change(first, price=0.7, slots=1, weekly=windows, longest_lease="3h")

        kept = self.lend_box(*size)
        self.assertEqual(kept["id"], first["id"])
        self.assertEqual((kept["price"], kept["slots"], kept["longest_lease"]), (0.7, 1, "3h"))
        self.assertEqual(kept["weekly"], windows)
        self.assertEqual(kept["state"], "open", "who lends again resumes")

        changed = self.lend_box(*size, "--price", "0.4", "--weekly", "daily 00:00-23:00 UTC")
        self.assertEqual((changed["price"], changed["slots"], changed["longest_lease"]),
                         (0.4, 1, "3h"))
        self.assertEqual(changed["weekly"], ["daily 00:00-23:00 UTC"])
        self.assertNotIn("price", self.lend_box(*size, "--price", "market"))

    def test_slots_go_with_the_machine(self):
        self.assertEqual(self.lend_box("--cores", "2", "--memory", "4G")["slots"], 2)
        self.assertEqual(self.lend_box("--cores", "1", "--memory", "4G")["slots"], 1)
        last = self.lend_box("--cores", "2", "--memory", "4G")
        self.assertEqual(last["slots"], 2)
        self.change(last, slots=1)
        self.assertEqual(self.lend_box("--cores", "2", "--memory", "8G")["slots"], 1)

    def test_one_lease_leaves_the_offer_as_it_was(self):
        offer = self.lend_box("--cores", "2", "--memory", "4G", "--price", "0.1")
        job = self.run_job("run: sleep 1; echo once")
        self.assertEqual(self.lend_box("--cores", "2", "--memory", "4G", "--once")["slots"], 1)
        self.assertEqual(self.logs(job), "once\n")
        path = f"/v1/offers/{offer['id']}"
        self.assertEqual(self.good("GET", path, token=self.ann)["slots"], 2)

    def test_without_a_class_the_offer_of_any_class_goes_on(self):
        offer = self.lend_box("--cores", "2", "--memory", "4G", "--class", "c2")
        again = self.lend_box("--cores", "2", "--memory", "4G")
        self.assertEqual((again["id"], again["class"]), (offer["id"], "c2"))


class Batch(LendTest):
    def test_a_program_runs_elsewhere_and_its_files_come_back(self):
        self.agent("box", "--price", "1")  # Also a blink of work is more than a millionth of a credit.
        job = self.run_job("name: hello\nworkdir: project\nrun: python3 main.py\noutputs: [out]\n"
                           "env: {GREETING: hi, N: 3}",
                           main_py="import os\nprint(os.environ['GREETING'], os.environ['N'])\n"
                                   "os.mkdir('out')\nopen('out/a.txt', 'w').write('done')\n")
        self.wait_job(job)
        self.assertEqual(self.logs(job), "hi 3\n")
        out = os.path.join(self.folder, "results")
        self.souk("results", job, "-o", out, token=self.bob)
        with open(os.path.join(out, "out/a.txt"), encoding="utf-8") as f:
            self.assertEqual(f.read(), "done")
        rows = self.check_ledger()
        self.assertGreater(rows["ann"]["available"], 0)

    def test_each_worker_has_its_own_index_and_results(self):
        for i in range(3):
            self.agent(f"box{i}")
        job = self.run_job("run: echo $SOUK_INDEX of $SOUK_WORKERS > mine\noutputs: [mine]\n"
                           "workers: 1..3")
        self.wait_job(job)
        out = os.path.join(self.folder, "results")
        self.souk("results", job, "-o", out, token=self.bob)
        for i in range(3):
            with open(os.path.join(out, str(i), "mine"), encoding="utf-8") as f:
                self.assertEqual(f.read(), f"{i} of 3\n")

    def test_a_failure_is_told_with_its_exit_code_and_not_retried(self):
        self.agent("box")
        job = self.run_job("run: echo oops; exit 7")
        done = self.wait_job(job, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("7", done.stderr)
        self.assertIn("oops", self.logs(job))
        self.assertEqual(self.parts(job)[0]["tries"], 1)

    def test_setup_is_billed_and_its_failure_ends_the_job(self):
        self.agent("box")
        job = self.run_job("setup: sleep 2; echo ready > s\nrun: cat s")
        self.wait_job(job)
        self.assertEqual(self.logs(job), "ready\n")
        lease = self.good("GET", f"/v1/jobs/{job}/leases", token=self.bob)["items"][0]
        waited = [lease[k][:26] for k in ("granted", "started")]
        self.assertNotEqual(waited[0], waited[1])
        self.assertGreater(lease["paid"], 1.5 * lease["price"] / 3600)  # Its two seconds.
        job = self.run_job("setup: exit 3\nrun: echo never")
        self.assertNotEqual(self.wait_job(job, check=False).returncode, 0)
        self.assertNotIn("never", self.logs(job))
        self.check_ledger()

    def test_inputs_are_read_only_and_fetched_once(self):
        agent = self.agent("box")
        text = "inputs: [project/data]\nrun: cat data/x && ! touch data/y && echo kept"
        job = self.run_job(text, data__x="0123456789")
        self.wait_job(job)
        self.assertIn("kept", self.logs(job))
        trees = os.path.join(agent.folder, "souk/lend/trees")
        self.assertEqual(len(os.listdir(trees)), 1)
        again = self.run_job(text)
        self.wait_job(again)
        usage = self.good("GET", f"/v1/jobs/{again}/usage", token=self.bob)["items"]
        self.assertEqual(usage[-1]["samples"][-1]["usage"]["received_bytes"], 0)

    def test_an_input_from_a_url_is_what_its_hash_names(self):
        self.agent("box")
        content = b"x,y\n1,2\n"
        with Page(content) as url:
            good = hashlib.sha256(content).hexdigest()
            job = self.run_job(f"inputs: [{{url: '{url}/table.csv', hash: {good}}}]\n"
                               "run: cat table.csv")
            self.wait_job(job)
            self.assertEqual(self.logs(job), content.decode())
            path = self.job_file(f"inputs: [{{url: '{url}/t.csv', hash: {'0' * 63}a}}]\nrun: cat t.csv\n"
                                 "price: {budget: 1}\n")
            done = self.souk("run", path, "--yes", token=self.bob, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("hash", done.stderr)
        self.assertEqual(len(self.json("jobs", token=self.bob)["items"]), 1)

    def test_a_share_of_a_cores_time_is_all_that_programs_get(self):
        program = """
import time
while True:
    wall, used = time.monotonic(), time.process_time()
    while time.monotonic() - wall < 1:
        pass
    print((time.process_time() - used) / (time.monotonic() - wall), flush=True)
"""
        if "Processor time is limited" not in self.souk("doctor", "--json", check=False).stdout:
            self.skipTest("control groups cannot be used here")
        for share in ("0.25", "1"):
            agent = self.agent("box" + share, "--cpu-share", share)
            mark = f"{share}-{os.getpid()}"
            job = self.run_job(f"workdir: project\nrun: python3 burn.py {mark}", burn_py=program)
            pid = wait_for(lambda m=mark: next(iter(running("python3", "burn.py", m)), None), "the program")
            group = CpuGroup(pid)
            self.assertAlmostEqual(group.cores(), float(share))
            # What it gets below its share is this computer's affair; the kernel never gives it more.
            if share == "0.25":
                wait_for(lambda g=group: g.throttled() > 0, "the kernel to hold it up", 10 * DEADLINE_S)
                wait_for(lambda j=job: self.logs(j).count("\n") >= 4, "four seconds", 4 * DEADLINE_S)
                self.assertLess(max(map(float, self.logs(job).split())), 0.3)
            self.souk("cancel", job, token=self.bob)
            agent.process.terminate()
            agent.process.wait(DEADLINE_S)
        done = self.souk("lend", "--cpu-share", "0.05", token=self.ann, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("0.1 to 1", done.stderr)

    def test_without_a_sandbox_it_says_so_and_still_works(self):
        self.agent("box", "--unsafe-no-sandbox")
        job = self.run_job("inputs: [project/data]\nsetup: echo made > s\n"
                           "run: cat data/x s > out\noutputs: [out]", data__x="0123456789\n")
        self.wait_job(job)
        out = os.path.join(self.folder, "results")
        self.souk("results", job, "-o", out, token=self.bob)
        with open(os.path.join(out, "out"), encoding="utf-8") as f:
            self.assertEqual(f.read(), "0123456789\nmade\n")
        offer = self.good("GET", "/v1/offers", token=self.bob)["items"][0]
        self.assertFalse(offer["sandboxed"])
        self.assertIn("without a sandbox", self.souk("offer", "show", offer["id"], token=self.bob).stdout)

    def test_what_a_failed_worker_left_can_be_looked_at(self):
        self.agent("box")
        job = self.run_job("run: echo clue > out; exit 1\noutputs: [out]")
        self.assertNotEqual(self.wait_job(job, check=False).returncode, 0)
        out = os.path.join(self.folder, "results")
        self.souk("results", job, "-o", out, token=self.bob)
        with open(os.path.join(out, "out"), encoding="utf-8") as f:
            self.assertEqual(f.read(), "clue\n")

    def test_mistakes_in_a_job_file_are_named_with_line_and_nearest_key(self):
        path = self.job_file("run: true\nworkdri: x\n")
        done = self.souk("run", path, "--yes", token=self.bob, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("job.yaml:2", done.stderr)
        self.assertIn("workdir", done.stderr)

    def test_what_is_used_can_be_watched(self):
        self.agent("box")
        job = self.run_job("run: |\n  python3 -c 'while True: pass'")
        def busy():
            items = self.good("GET", f"/v1/jobs/{job}/usage", token=self.bob)["items"]
            return items and items[-1]["samples"][-1]["usage"]["cpu_seconds"] > 0.5
        wait_for(busy, "some use")
        top = self.souk("job", "top", job, token=self.bob).stdout
        self.assertIn("running", top)
        self.assertNotIn("ended", top)
        self.souk("cancel", job, token=self.bob)
        top = self.souk("job", "top", job, token=self.bob).stdout
        self.assertRegex(top, rf"{job} ended .*: cancelled\. These are the last figures of its workers\.")
        self.assertRegex(top, r"(?m)^ *0 +ended .*iB")


class Trouble(LendTest):
    def counting(self):
        """A program that counts without end, four a second, and where it goes on, only four further."""
        return (
            "import os, time, signal\n"
            "os.makedirs('ckpt', exist_ok=True)\n"
            "i = int(open('ckpt/i').read()) if os.path.exists('ckpt/i') else 0\n"
            "print('from', i, flush=True)\n"
            "end = i + 4 if i else 1 << 60\n"
            "signal.signal(signal.SIGTERM, lambda *a: exit(0))\n"
            "while i < end:\n"
            "    time.sleep(0.25); i += 1\n"
            "    open('ckpt/t', 'w').write(str(i)); os.rename('ckpt/t', 'ckpt/i')\n"
            "open('done', 'w').write(str(i))\n")

    def start_counting(self):
        return self.run_job("workdir: project\nrun: python3 count.py\noutputs: [done]\n"
                            "checkpoint: {path: ckpt, every: 1s}", count_py=self.counting())

    def wait_checkpoint(self, job):
        return wait_for(lambda: self.parts(job)[0].get("checkpoint"), "a checkpoint")

    def finish_and_check(self, job, further=4):
        self.wait_job(job)
        text = self.logs(job)
        starts = [int(line.split()[1]) for line in text.splitlines() if line.startswith("from")]
        self.assertGreater(starts[-1], 0, "it began again from nothing: " + text)
        out = os.path.join(self.folder, "results")
        self.souk("results", job, "-o", out, token=self.bob)
        with open(os.path.join(out, "done"), encoding="utf-8") as f:
            self.assertEqual(f.read(), str(starts[-1] + further))

    def test_a_killed_agent_costs_only_the_time_since_the_last_checkpoint(self):
        carl = self.sign_up("carl")
        first = self.agent("first", token=carl)
        job = self.start_counting()
        self.wait_checkpoint(job)
        waiting = subprocess.Popen([SOUK, "job", "wait", job], env=self.environment(self.bob), text=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(waiting.kill)
        self.assertIn("running", waiting.stderr.readline())
        self.lose(first, job)
        self.agent("second")
        self.finish_and_check(job)
        self.assertIn("worker 0 on m1 is lost: the machine fell silent; another machine is looked for",
                      waiting.communicate(timeout=DEADLINE_S)[1])
        leases = self.good("GET", f"/v1/jobs/{job}/leases", token=self.bob)["items"]
        lost = [l for l in leases if l.get("outcome") == "lost"]
        self.assertEqual(len(lost), 1)
        rows = self.check_ledger()
        # Paid up to the last accepted interval, and not a moment further.
        self.assertAlmostEqual(rows["carl"]["available"], lost[0]["earned"], places=6)
        self.assertLess(lost[0]["settled_until"], lost[0]["ended"])

    def test_a_lender_who_ends_gives_the_work_to_another(self):
        first = self.agent("first")
        job = self.start_counting()
        self.wait_checkpoint(job)
        self.agent("second")
        first.process.send_signal(signal.SIGTERM)
        self.assertEqual(first.process.wait(DEADLINE_S), 0, first.text())
        self.finish_and_check(job)

    def test_a_program_that_is_told_to_end_saves_what_it_has(self):
        first = self.agent("first")
        program = (
            "import os, signal, sys, time\n"
            "os.makedirs('ckpt', exist_ok=True)\n"
            "if os.path.exists('ckpt/saved'):\n"
            "    print('from 1'); open('done', 'w').write('1'); sys.exit()\n"
            "def save(*_):\n"
            "    open('ckpt/saved', 'w').write('x'); sys.exit()\n"
            "signal.signal(signal.SIGTERM, save)\n"
            "print('ready', flush=True)\n"
            "time.sleep(600)\n")
        job = self.run_job("workdir: project\nrun: python3 save.py; echo not reached\n"
                           "outputs: [done]\ncheckpoint: {path: ckpt, every: 1h}", save_py=program)
        wait_for(lambda: "ready" in self.logs(job), "the program")
        self.agent("second")
        first.process.send_signal(signal.SIGTERM)
        self.assertEqual(first.process.wait(DEADLINE_S), 0, first.text())
        self.finish_and_check(job, further=0)

    def test_work_goes_on_while_the_server_is_away(self):
        agent = self.agent("box")
        job = self.run_job("run: sleep 4; echo survived > out\noutputs: [out]")
        wait_for(lambda: self.parts(job)[0]["state"] == "running", "the program")
        port = self.server.port
        self.server.kill()
        with wait_for(lambda: listener(port), "the port that the server had") as nobody:
            nobody.settimeout(DEADLINE_S)
            nobody.accept()[0].close()  # The agent has asked in vain.
        self.server.start(port)
        self.assertEqual(self.server.port, port)
        self.wait_job(job)
        self.assertEqual(self.parts(job)[0]["tries"], 0)
        self.assertIsNone(agent.process.poll())
        self.check_ledger()

    def test_an_agent_that_comes_back_hands_back_what_it_cannot_continue(self):
        first = self.agent("box")
        job = self.start_counting()
        self.wait_checkpoint(job)
        first.process.kill()
        first.process.wait(DEADLINE_S)
        shutil.rmtree(first.folder)
        self.agent("box")
        self.finish_and_check(job)

    def test_a_notice_of_preemption_drains_the_machine(self):
        notice = os.path.join(self.folder, "notice")
        first = self.agent("first", "--preempt-when", f"test -e {notice}")
        job = self.start_counting()
        self.wait_checkpoint(job)
        self.agent("second")
        with open(notice, "w", encoding="utf-8"):
            pass
        self.assertEqual(first.process.wait(DEADLINE_S), 0, first.text())
        self.finish_and_check(job)

    def test_once_takes_one_lease_and_ends(self):
        agent = self.agent("box", "--once", "--power-price", "0.3", "--watts", "60")
        job = self.run_job("run: echo one")
        self.wait_job(job)
        self.assertEqual(agent.process.wait(DEADLINE_S), 0, agent.text())
        offers = self.good("GET", "/v1/offers", token=self.ann)["items"]
        self.assertEqual([o["state"] for o in offers], ["paused"])
        self.assertRegex(agent.text(), r"earned .* credits in .*, net -?[0-9.]+ after power for")

    def test_an_owner_who_is_back_gets_the_machine(self):
        agent = self.agent("box", "--yield", proves=False)  # Where others compute it yields at once.
        with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as owner:
            try:
                wait_for(lambda: "you are back" in agent.text(), "the owner to be noticed")
            finally:
                owner.kill()
        wait_for(lambda: self.good("GET", "/v1/offers", token=self.ann)["items"][0]["state"]
                 == "paused", "the offer to be paused")

    def test_nothing_is_left_behind(self):
        agent = self.agent("box")
        seconds = f"999.{os.getpid()}25"  # Nobody else on this computer sleeps for so long.
        job = self.run_job(f"run: (setsid sleep {seconds} &) ; echo started; sleep {seconds}")
        wait_for(lambda: "started" in self.logs(job) and len(running("sleep", seconds)) == 2, "the program")
        self.souk("cancel", job, token=self.bob)
        wait_for(lambda: not running("sleep", seconds), "the end of everything it started")
        agent.process.terminate()
        self.assertEqual(agent.process.wait(DEADLINE_S), 0)
        with open("/proc/self/mountinfo", encoding="utf-8") as mounts:
            self.assertNotIn(self.folder, mounts.read())
        self.assertEqual(os.listdir(os.path.join(agent.folder, "souk/lend/leases")), [])


def listener(port):
    """Nothing, if somebody has the port."""
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError:
        return None


class Page:
    """A web server on loopback with one page."""

    def __init__(self, content):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass
        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}"

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def running(*arguments):
    """Processes of this computer with exactly this command line."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if f.read() == "".join(a + "\0" for a in arguments).encode():
                    found.append(pid)
        except OSError:
            pass
    return found


class Trust(LendTest):
    flags = ("--round", "200ms", "--challenge-every", "1s", "--challenge-slack", "20")

    def test_an_honest_machine_meets_challenges_and_a_silent_one_is_doubted(self):
        self.agent("box")
        self.wait_job(self.run_job("run: echo trusted"))
        offer = self.lend(self.bob, name="boaster", slots=1)
        path = f"/v1/machines/{offer['machine']}"

        def doubted():
            self.good("POST", path + "/heartbeat", {"leases": []}, self.bob)
            return self.good("GET", path, token=self.bob).get("doubted")
        self.assertIn("challenge", wait_for(doubted, "doubt"))
        shown = self.good("GET", f"/v1/offers/{offer['id']}", token=self.bob)
        self.assertEqual(shown["state"], "doubted")

    def test_a_machines_token_acts_for_its_machine_only(self):
        agent = self.agent("box")
        folder = os.path.join(agent.folder, "souk/lend")
        name = [n for n in os.listdir(folder) if n.startswith("token-")][0]
        self.assertEqual(os.stat(os.path.join(folder, name)).st_mode & 0o777, 0o600)
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            token = f.read().strip()
        other = self.lend(self.ann, name="other", slots=1)
        for method, path in (("GET", f"/v1/machines/{other['machine']}/work"),
                             ("POST", f"/v1/offers/{other['id']}/pause"),
                             ("GET", "/v1/me"), ("GET", "/v1/jobs")):
            self.assertIn(self.server.call(method, path, {} if method == "POST" else None,
                                           token).status, (403, 404), path)


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root to be somebody else")
class OrdinaryUser(LendTest):
    def test_lending_needs_no_root(self):
        os.chmod(self.folder, 0o711)
        self.agent("box", user=65534)
        job = self.run_job("run: id -u; ls / /home; cat /etc/shadow; true")
        self.wait_job(job)
        text = self.logs(job)
        self.assertNotIn("root:", text)
        self.check_ledger()


if __name__ == "__main__":
    unittest.main()
