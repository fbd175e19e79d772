"""Many gangs on machines that are killed at random: what bench/gang_kills.py and a small test share."""
import random
import threading
import time

# All workers meet at worker 0, and leave together a little later; at the first starts they stay, to be killed.
MEET = """
import os, socket, sys, time
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
stay = int(os.environ["SOUK_RESTART"]) < int(sys.argv[1])
if rank == 0:
    server = socket.create_server(("", 4000))
    peers = [server.accept()[0] for _ in range(world - 1)]
    time.sleep(1000 if stay else 1)
    for peer in peers:
        peer.sendall(b"x")
    for peer in peers:
        peer.recv(1)
else:
    while True:
        try:
            peer = socket.create_connection(("worker-0", 4000), 5)
            break
        except OSError:
            time.sleep(0.02)
    peer.settimeout(1000)
    if peer.recv(1) != b"x":
        raise SystemExit(1)
"""


class Watch(threading.Thread):
    """How long each gang was half started: some of its workers run, and others of the same start do not, and nobody was told
    to leave."""

    def __init__(self, test, jobs):
        super().__init__()
        self.test, self.jobs, self.over = test, jobs, threading.Event()
        self.since, self.worst = {}, 0.0

    def run(self):
        while not self.over.wait(0.25):
            for job in list(self.jobs):
                answer = self.test.server.call("GET", f"/v1/jobs/{job}", token=self.test.bob)
                if answer.status != 200:
                    continue
                states = [lease["state"] for lease in answer.json["leases"]]
                half = "running" in states and "draining" not in states and \
                    states.count("running") < answer.json["workers"]["min"]
                now = time.monotonic()
                if not half:
                    self.since.pop(job, None)
                else:
                    self.worst = max(self.worst, now - self.since.setdefault(job, now))


def run_gangs(test, gangs, size, agents, seed=1, every=2.0, limit=600, losses=0):
    """Submits them, kills and restarts agents until they are done. With `losses`: until each gang has begun anew so
    often, which it does not end without; so slow machines see no more kills than fast ones. What was seen."""
    draw = random.Random(seed)
    machines = [test.agent(f"box{i}") for i in range(agents)]
    text = (f"kind: gang\nworkers: {size}\nworkdir: project\nrun: python3 meet.py {losses}\n"
            "retry: {on: [lost, failed], max: 100}")
    begun = time.monotonic()
    jobs = [test.run_job(text, meet_py=MEET) for _ in range(gangs)]
    watch = Watch(test, jobs)
    watch.start()
    kills = 0
    try:
        while True:
            rows = [test.good("GET", f"/v1/jobs/{job}", token=test.bob) for job in jobs]
            states = {row["id"]: row["state"] for row in rows}
            if all(s not in ("queued", "running") for s in states.values()):
                break
            if time.monotonic() - begun > limit:
                raise AssertionError(f"gangs are not done after {limit} s: {states}")
            victims = {draw.choice(machines)}
            if losses:
                runs = [lease for row in rows if row["gang"]["restarts"] < losses and row["gang"]["phase"] == "running"
                        for lease in row["leases"] if lease["state"] == "running"]
                if not runs:
                    time.sleep(0.1)
                    continue
                lease = draw.choice(runs)["id"]
                victims.add(next(m for m in machines if f"lease {lease}:" in m.text()))
            for machine in victims:
                machine.kill()
            kills += len(victims)
            time.sleep(draw.uniform(0, every))
            for machine in victims:
                machine.start()
            time.sleep(draw.uniform(0, every))
    finally:
        watch.over.set()
        watch.join()
    restarts = sum(test.good("GET", f"/v1/jobs/{job}", token=test.bob)["gang"]["restarts"] for job in jobs)
    open_leases = [lease for lease in test.good("GET", "/v1/leases?limit=500", token=test.ann)["items"]
                   if lease["state"] != "closed"]
    ledger = test.json("ledger", token=test.ann)
    return {"seconds": time.monotonic() - begun, "kills": kills, "restarts": restarts, "half_s": watch.worst,
            "states": sorted(set(states.values())), "open": len(open_leases), "sum": ledger["sum"],
            "escrow": sum(row["escrow"] for row in ledger["accounts"])}
