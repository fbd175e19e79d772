#!/usr/bin/env python3
"""The shortest useful mechanism: whoever trades does so at the best bid that does not.

    souk clear --mechanism external --param program='python3 examples/mechanisms/second_price.py' \\
        --book book.json

With one seller and single units this is the second-price auction: the winner pays the runner-up's
bid, so bidding less than the truth gains a buyer nothing. mcafee.py does as much for sellers.
"""
import json
import sys
from decimal import Decimal

for line in sys.stdin:
    book = json.loads(line, parse_float=Decimal)
    buyers = sorted(book["bids"], key=lambda bid: -bid["price"])
    sellers = sorted(book["asks"], key=lambda ask: (ask["price"], ask.get("rank", 0)))
    pairs = [(b, s) for b, s in zip(buyers, sellers) if b["price"] >= s["price"]]  # One unit each.
    price = 0
    if pairs:
        runner_up = buyers[len(pairs)]["price"] if len(pairs) < len(buyers) else 0
        price = max(pairs[-1][1]["price"], runner_up)  # No seller gets less than it asks.
    trades = [{"bid": b["id"], "ask": s["id"], "units": 1, "pays": float(price), "gets": float(price)}
              for b, s in pairs]
    print(json.dumps({"trades": trades}), flush=True)  # One line per book, at once.
