"""The market loop of the lab, written down plainly in Python: what an economist would begin with.

Lenders offer slots, borrowers submit jobs, every round a uniform-price call clears the book, leases
run, are settled every few minutes and end. One event each: an offer, a bid, a clearing, a lease, a
settlement, an end, a job given up. No accounts are checked, no windows kept, nothing can be replayed. Prints how
many events it handled in how many seconds of processor time.
"""
import heapq
import json
import random
import sys
import time

LENDERS, BORROWERS, SLOTS = 300, 600, 4
ROUND, SETTLE, TERM, PATIENCE = 60.0, 300.0, 3600.0, 3600.0


def call(waiting, asks):
    """Highest bids with lowest asks: both in order, and how many of them trade."""
    bids = sorted(waiting, key=lambda bid: (-bid[0], bid[1]))
    units = []
    for ask in sorted(asks, key=lambda a: (a[0], a[1])):
        units.extend([ask] * ask[2])
    deals = 0
    while deals < min(len(bids), len(units)) and bids[deals][0] >= units[deals][0]:
        deals += 1
    return bids, units, deals


def run(hours, seed):
    draw = random.Random(seed)
    events = 0
    credits = {}
    asks = []
    for i in range(LENDERS):
        asks.append([draw.uniform(0.1, 0.6), i, SLOTS])
        credits[("lender", i)] = 0.0
        events += 1
    for i in range(BORROWERS):
        credits[("borrower", i)] = 10_000.0
    coming = []
    for i in range(BORROWERS):
        heapq.heappush(coming, (draw.expovariate(1 / 3600), i))
    waiting, running = [], []
    now = 0.0
    while now < hours * 3600:
        now += ROUND
        while coming and coming[0][0] <= now:
            at, who = heapq.heappop(coming)
            waiting.append([draw.lognormvariate(-0.5, 0.5), at, who, draw.expovariate(1 / 2400)])
            heapq.heappush(coming, (at + draw.expovariate(1 / 3600), who))
            events += 1
        # Settlements and ends that are due.
        while running and running[0][0] <= now:
            due, number, lease = heapq.heappop(running)
            price, borrower, ask, left, since = lease
            paid = price * (due - since) / 3600
            credits[("borrower", borrower)] -= paid
            credits[("lender", ask[1])] += paid
            events += 1
            left -= due - since
            if left <= 1e-9:
                ask[2] += 1
                events += 1
            else:
                heapq.heappush(running, (due + min(SETTLE, left), number,
                                         (price, borrower, ask, left, due)))
        # Whoever waited for an hour gives up.
        patient = [bid for bid in waiting if bid[1] > now - PATIENCE]
        events += len(waiting) - len(patient)
        waiting = patient
        bids, units, deals = call(waiting, asks)
        events += 1
        if deals:  # All at the price half way between the last two.
            price = (bids[deals - 1][0] + units[deals - 1][0]) / 2
            for bid, ask in zip(bids[:deals], units[:deals]):
                ask[2] -= 1
                length = min(bid[3], TERM)
                heapq.heappush(running, (now + min(SETTLE, length), events,
                                         (price, bid[2], ask, length, now)))
                events += 1
            waiting = bids[deals:]
    return events


def main():
    hours = float(sys.argv[1]) if len(sys.argv) > 1 else 48
    began = time.process_time()
    events = run(hours, 1)
    print(json.dumps({"events": events, "seconds": time.process_time() - began}))


if __name__ == "__main__":
    main()
