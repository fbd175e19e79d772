#!/usr/bin/env python3
"""McAfee's double auction (1992), as a mechanism that Souk runs from outside.

    souk clear --mechanism external --param program='python3 examples/mechanisms/mcafee.py' \\
        --book book.json

Souk starts this program once and writes one book a line to its stdin; it answers each with one
line, the outcome. Money is counted in millionths of a credit, as Souk does, so that nothing is
lost to floating point.
"""
import json
import sys
from decimal import Decimal


def micro(credits):
    return int(credits * 1_000_000)


def clear(book):
    """The trades of one book, as (bid, ask, pays, gets), one unit each."""
    # One entry per unit, best first. Ties go as in Souk's own rules: sorted() keeps what stands
    # earlier in the book earlier, and among asks the lower rank (the better machine) goes first.
    asks = sorted(book["asks"], key=lambda ask: ask.get("rank", 0))
    buyers = sorted(((micro(b["price"]), b["id"]) for b in book["bids"] for _ in range(b["units"])),
                    key=lambda unit: -unit[0])
    sellers = sorted(((micro(a["price"]), a["id"]) for a in asks for _ in range(a["units"])),
                     key=lambda unit: unit[0])

    # k: how many units could trade if everybody told the truth.
    k = 0
    while k < min(len(buyers), len(sellers)) and buyers[k][0] >= sellers[k][0]:
        k += 1
    if k == 0:
        return []
    b_k, s_k = buyers[k - 1][0], sellers[k - 1][0]

    # The first two who do not trade set the price, if those who do accept it: nobody among them
    # can move it by lying.
    if k < len(buyers) and k < len(sellers):
        price = (buyers[k][0] + sellers[k][0]) // 2
        if s_k <= price <= b_k:
            return [(b, s, price, price) for (_, b), (_, s) in zip(buyers[:k], sellers[:k])]

    # Otherwise the last pair that could trade steps back and sets two prices. The difference stays
    # with the platform.
    return [(b, s, b_k, s_k) for (_, b), (_, s) in zip(buyers[:k - 1], sellers[:k - 1])]


def outcome(book):
    if any("gang" in bid for bid in book["bids"]):
        raise SystemExit("gangs are not McAfee's")  # Souk shows the last line of stderr.
    # A pair may trade several units, and is told once.
    units = {}
    for trade in clear(book):
        units[trade] = units.get(trade, 0) + 1
    return {"trades": [{"bid": bid, "ask": ask, "units": n, "pays": pays / 1e6, "gets": gets / 1e6}
                       for (bid, ask, pays, gets), n in units.items()]}


for line in sys.stdin:
    book = json.loads(line, parse_float=Decimal)
    print(json.dumps(outcome(book)), flush=True)  # Without flush the answer stays in a buffer.
