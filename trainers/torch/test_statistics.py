"""Statistics of batch normalisation that souk-torch measures anew. Takes the binary from SOUK_TORCH."""

import unittest

import numpy as np
from test_torch import TorchTest, read_tensors, unit, write_tensors


class Statistics(TorchTest):
    def setUp(self):
        super().setUp()
        self.trainer = self.start("preresnet")
        self.shard("preresnet", samples=48)
        for seed in range(3):
            self.train(self.trainer, send="weights", out="base", seed=seed)

    def measured(self, **more):
        request = unit(out="measured", send="weights", measure=True, **more)
        answer = self.check(self.trainer.ask("train", **request))
        return answer, read_tensors(self.path("measured"))

    def test_they_are_the_mean_over_batches_and_nothing_is_learnt(self):
        before = read_tensors(self.path("base"))
        answer, after = self.measured(batch=8, steps=3, lr=0.5, seed=4)
        self.assertEqual((answer["steps"], answer["samples"]), (3, 24))
        # One batch's own are what a step moves the running ones to, by a tenth of the way.
        each = []
        for step in range(3):
            _, one = self.measured(batch=8, steps=1, first_step=step, lr=0, seed=4)
            each.append(one)
        self.train(self.trainer, out="moved", send="weights", batch=8, steps=1, lr=0, seed=4)
        moved = read_tensors(self.path("moved"))
        for name, value in before.items():
            if "running" not in name:
                np.testing.assert_array_equal(after[name], value, name)
                continue
            mean = np.mean([one[name] for one in each], axis=0)
            np.testing.assert_allclose(after[name], mean, rtol=1e-4, atol=1e-5, err_msg=name)
            np.testing.assert_allclose(moved[name], 0.9 * value + 0.1 * each[0][name],
                                       rtol=1e-4, atol=1e-5, err_msg=name)

    def test_what_they_were_before_does_not_show(self):
        _, first = self.measured(batch=8, steps=3, lr=0, seed=4)
        weights = read_tensors(self.path("base"))
        for name, value in weights.items():
            if "running" in name:
                weights[name] = value * 7 + 1

        write_tensors(self.path("base"), weights)
        _, second = self.measured(batch=8, steps=3, lr=0, seed=4)
        for name in first:
            np.testing.assert_allclose(second[name], first[name], rtol=1e-5, atol=1e-6)

    def test_a_unit_after_it_is_what_it_would_have_been(self):
        self.train(self.trainer, out="a", send="weights", keep="job", seed=9)
        self.measured(batch=8, steps=2, lr=0.1, seed=4)
        self.train(self.trainer, out="b", send="weights", keep="job", seed=9)
        base = read_tensors(self.path("base"))
        other = self.start("preresnet")
        write_tensors(self.path("base"), base)
        self.train(other, out="c", send="weights", keep="job", seed=9)
        self.train(other, out="d", send="weights", keep="job", seed=9)
        a, b, c, d = (read_tensors(self.path(name)) for name in "abcd")
        for name in a:
            np.testing.assert_array_equal(a[name], c[name])
            np.testing.assert_array_equal(b[name], d[name])


if __name__ == "__main__":
    unittest.main()
