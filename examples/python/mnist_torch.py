"""LeNet-5 on built-in MNIST shards, in PyTorch.

    run: python3 mnist_torch.py          # with sdk/python/src on PYTHONPATH
"""
import torch
from torch import nn

import souk


def load(path):
    x, y = souk.load_shard(path)  # Bytes become 0..1.
    return x.reshape(-1, 1, 28, 28), y


# A function, so that every run of the job begins with the parameters its seed stands for.
def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(),
        nn.Linear(120, 84), nn.ReLU(),
        nn.Linear(84, 10),
    )


souk.worker(
    lenet,
    loss=nn.functional.cross_entropy,
    load=load,
    optimizer=lambda parameters, lr: torch.optim.SGD(parameters, lr=lr, momentum=0.9),
    metrics={"accuracy": souk.accuracy},
)
