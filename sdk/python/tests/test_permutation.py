"""Units of an epoch must share out a shard, the same way on every machine."""

from __future__ import annotations

import unittest
from pathlib import Path

import conversation  # noqa: F401  Finds the sources.

from souk.permutation import SplitMix64, permutation
from souk.trainer import Unit


class Permutation(unittest.TestCase):
    def test_splitmix64_gives_the_published_numbers(self) -> None:
        # https://rosettacode.org/wiki/Pseudo-random_numbers/Splitmix64
        generator = SplitMix64(1234567)
        self.assertEqual(
            [generator.next() for _ in range(3)],
            [6457827717110365317, 3203168211198807973, 9817491932198370423],
        )

    def test_fast_draws_equal_the_definition(self) -> None:
        for n in (0, 1, 2, 3, 10, 1000):
            for seed in (0, 7, 2**64 - 1):
                generator, items = SplitMix64(seed), list(range(n))
                for i in range(n, 1, -1):
                    j = generator.below(i)
                    items[i - 1], items[j] = items[j], items[i - 1]
                self.assertEqual(permutation(n, seed).tolist(), items, (n, seed))

    def test_order_never_changes_between_versions(self) -> None:
        self.assertEqual(permutation(10, 7).tolist(), KNOWN)

    def test_units_cover_a_shard_without_overlap(self) -> None:
        seen: list[int] = []
        for first, steps in ((0, 3), (3, 5), (8, 2)):
            unit = Unit(Path("s"), first, steps, 10, 0.1, seed=5)
            for batch in unit.batches(100):
                seen += batch.tolist()
        self.assertEqual(sorted(seen), list(range(100)))

    def test_batches_wrap_around_a_shard_that_they_do_not_divide(self) -> None:
        order = permutation(7, 3).tolist()
        batches = [b.tolist() for b in Unit(Path("s"), 1, 2, 4, 0.1, seed=3).batches(7)]
        self.assertEqual(batches, [order[4:] + order[:1], order[1:5]])

    def test_neighbouring_seeds_give_other_orders(self) -> None:
        self.assertNotEqual(permutation(100, 1).tolist(), permutation(100, 2).tolist())


KNOWN = [
    9,
    5,
    8,
    6,
    1,
    2,
    4,
    7,
    0,
    3,
]  # Computed once; also what souk::base::Random(7).shuffle gives.

if __name__ == "__main__":
    unittest.main()
