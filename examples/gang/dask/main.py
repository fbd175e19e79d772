"""Counts primes with Dask, on all workers but this one."""
import os

from distributed import Client


def primes(begin, end):
    return sum(all(n % d for d in range(2, int(n**0.5) + 1)) for n in range(max(begin, 2), end))


with Client("tcp://worker-0:8786", timeout=60) as client:
    client.wait_for_workers(int(os.environ["WORLD_SIZE"]) - 1, timeout=60)
    counts = client.map(primes, range(0, 20_000, 1_000), range(1_000, 21_000, 1_000))
    hosts = {w.split("//")[1].split(":")[0] for w in client.scheduler_info()["workers"]}
    print(f"{sum(client.gather(counts))} primes below 20000, by {len(hosts)} workers")
    client.shutdown()
