"""Regression on data of one's own: each shard is a CSV file with a line of names, the target last.

    run: python3 own_data.py             # with sdk/python/src on PYTHONPATH
    options: {inputs: 3, hidden: 32}     # what the function `model` is given
"""
import numpy as np
import torch
from torch import nn

import souk


def load(path):
    rows = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    return rows[:, :-1], rows[:, -1:]


def model(config):
    hidden = config.get("hidden", 32)
    return nn.Sequential(nn.Linear(config["inputs"], hidden), nn.Tanh(), nn.Linear(hidden, 1))


def mean_error(output, y):
    return (output - y).abs().mean()


souk.worker(
    model,
    loss=nn.functional.mse_loss,
    load=load,
    optimizer=lambda parameters, lr: torch.optim.Adam(parameters, lr=lr),
    metrics={"mean_error": mean_error},
)
