"""Softmax regression on built-in MNIST shards in plain NumPy.

    run: python3 numpy_softmax.py        # with sdk/python/src on PYTHONPATH
"""
import numpy as np

import souk


def load(path):
    x, y = souk.load_shard(path)  # Bytes become 0..1.
    return x.reshape(len(x), -1), y


def scores(parameters, x):
    return x @ parameters["weight"] + parameters["bias"]


def gradient(parameters, x, y):
    z = scores(parameters, x)
    q = np.exp(z - z.max(axis=1, keepdims=True))
    q /= q.sum(axis=1, keepdims=True)
    rows = np.arange(len(y))
    loss = -np.log(q[rows, y] + 1e-12).mean()
    q[rows, y] -= 1
    return loss, {"weight": x.T @ q / len(y), "bias": q.mean(axis=0)}


def evaluate(parameters, x, y):
    return gradient(parameters, x, y)[0], {"accuracy": souk.accuracy(scores(parameters, x), y)}


souk.worker(
    parameters={"weight": np.zeros((784, 10)), "bias": np.zeros(10)},
    gradient=gradient,
    evaluate=evaluate,
    load=load,
)
