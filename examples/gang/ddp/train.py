"""A small network on made-up data, trained by as many workers as there are: the same loss whoever computes."""
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

STEPS, BATCH, KEPT = int(os.environ.get("STEPS", "40")), 64, "kept/state.pt"


def data(step):
    """The whole batch of a step; each worker takes its share."""
    source = torch.Generator().manual_seed(1000 + step)
    x = torch.randn(BATCH, 20, generator=source)
    return x, (x[:, :5].sum(1, keepdim=True) > 0).float()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(7)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    net = torch.nn.Sequential(torch.nn.Linear(20, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
    model = DistributedDataParallel(net)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
    begin = 0
    if os.path.exists(KEPT):
        kept = torch.load(KEPT)
        net.load_state_dict(kept["net"])
        optimiser.load_state_dict(kept["optimiser"])
        begin = kept["step"]
    for step in range(begin, STEPS):
        x, y = data(step)
        share = slice(rank * BATCH // world, (rank + 1) * BATCH // world)
        optimiser.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model(x[share]), y[share])
        loss.backward()
        optimiser.step()
        if rank == 0 and step % 10 == 9:
            os.makedirs("kept", exist_ok=True)
            torch.save({"net": net.state_dict(), "optimiser": optimiser.state_dict(), "step": step + 1},
                       KEPT + ".new")
            os.rename(KEPT + ".new", KEPT)
    x, y = data(999_999)
    final = torch.nn.functional.binary_cross_entropy_with_logits(net(x), y).item()
    print(f"worker {rank} of {world}: loss {final:.7f}", flush=True)
    with open("loss.txt", "w", encoding="ascii") as out:
        out.write(f"{final:.9f}\n")
    dist.destroy_process_group()


main()
