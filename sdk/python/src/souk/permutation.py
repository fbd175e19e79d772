"""The order in which a unit of work visits the samples of a shard.

`permutation(n, seed)` is the Fisher-Yates shuffle of 0..n-1, from the last place down, that draws
each index with SplitMix64 seeded by `seed` and reduces it by multiply-shift with rejection:

    for i in n, n-1, ..., 2:  swap(items[i-1], items[below(i)])

    next():    state += 0x9e3779b97f4a7c15
               z = (state ^ state>>30) * 0xbf58476d1ce4e5b9
               z = (z ^ z>>27) * 0x94d049bb133111eb
               return z ^ z>>31
    below(n):  do p = next() * n  while p mod 2^64 < (2^64 - n) mod n;   return p >> 64

All arithmetic is modulo 2^64. It is `souk::base::Random::shuffle` of the C++ sources, to the bit,
and independent of NumPy's generators, whose streams may change between versions.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]

_GAMMA = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


class SplitMix64:
    """A generator whose whole state is one number of 64 bits."""

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def next(self) -> int:
        """The next 64 bits."""
        self._state = (self._state + _GAMMA) & _MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        """A number in [0, n), none favoured."""
        threshold = ((1 << 64) - n) % n
        while True:
            product = self.next() * n
            if product & _MASK >= threshold:
                return product >> 64


def _draws(n: int, seed: int) -> list[int]:
    """below(n), below(n-1), ..., below(2), all at once.

    The k-th state of SplitMix64 is seed + k * gamma, so nothing forces the draws one after the
    other, except a rejection, which shifts those behind it. It happens once in 2^64 / n draws:
    then the slow way is taken.
    """
    bounds = np.arange(n, 1, -1, dtype=np.uint64)
    z = np.arange(1, n, dtype=np.uint64) * np.uint64(_GAMMA) + np.uint64(seed & _MASK)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    low = z * bounds
    if bool(np.any(low < bounds)):  # The threshold is below n: few pass here in vain.
        generator = SplitMix64(seed)
        return [generator.below(bound) for bound in range(n, 1, -1)]
    # The upper half of a product of 64 by 32 bits, from two products that fit into 64.
    upper = (z >> np.uint64(32)) * bounds
    lower = (z & np.uint64(0xFFFFFFFF)) * bounds
    high: list[int] = ((upper + (lower >> np.uint64(32))) >> np.uint64(32)).tolist()
    return high


@lru_cache(maxsize=4)  # The units of an epoch share it.
def permutation(n: int, seed: int) -> Indices:
    """The samples 0..n-1 in the order of `seed`. The array is shared: it cannot be written to."""
    if not 0 <= n < 1 << 32:
        raise ValueError(f"a shard of {n} samples")
    items = list(range(n))
    for i, j in zip(range(n - 1, 0, -1), _draws(n, seed), strict=True):
        items[i], items[j] = items[j], items[i]
    out = np.array(items, dtype=np.int64)
    out.flags.writeable = False
    return out


def batch_indices(order: Indices, step: int, batch: int) -> Indices:
    """What `step`, counted from the beginning of the epoch, uses of the permutation `order`."""
    places = np.arange(step * batch, (step + 1) * batch, dtype=np.int64) % len(order)
    chosen: Indices = order[places]
    return chosen
