"""Squares numbers with Ray, on every machine of the gang."""
import os
import time

import ray

ray.init(address="auto")
world = int(os.environ["WORLD_SIZE"])
while len([n for n in ray.nodes() if n["Alive"]]) < world:
    time.sleep(0.2)


@ray.remote(num_cpus=1, scheduling_strategy="SPREAD")
def square(n):
    time.sleep(0.05)
    return n * n, ray.util.get_node_ip_address()


answers = ray.get([square.remote(n) for n in range(20)])
print(f"sum {sum(n for n, _ in answers)} by {len({at for _, at in answers})} machines")
