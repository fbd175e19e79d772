"""Models that are larger than a request, with the real binary: in pieces, through files, through kills."""
import array
import json
import os
import random
import shutil
import struct
import unittest

from large import BLOCK, LargeTraining
from lending import needs_sandbox
from redis_server import start_redis
from souk import wait_for

FLOATS = 17_000_000  # 65 MiB: more than the hub keeps in memory of one update.


def block(seed):
    rng = random.Random(seed)
    return array.array("f", [rng.randrange(1, 1 << 12) / 1024 for _ in range(BLOCK)])


@needs_sandbox
class LargeTest(LargeTraining):
    def lend(self, *flags):
        self.worker = self.lender("worker", "2G", *flags)

    def check_model(self, job, units):
        """What came out is the first parameters and what every unit added, each once."""
        with open(os.path.join(self.results(job), "model.safetensors"), "rb") as file:
            head = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
            self.assertEqual(sum(t["shape"][0] for t in head.values()), FLOATS)
            first, change = block(1), block(2)
            expected = array.array("f", [a + units * b for a, b in zip(first, change)]).tobytes()
            left = 4 * FLOATS
            while left > 0:
                piece = file.read(min(left, len(expected)))
                self.assertTrue(piece and piece == expected[:len(piece)], f"{left} bytes from the end")
                left -= len(piece)

    def test_a_model_of_many_pieces_is_trained_exactly_and_in_little_memory(self):
        before = self.peak_mib(self.server.process.pid, "VmRSS")
        self.lend()
        job = self.submit(FLOATS)
        self.wait(job)
        self.check_model(job, units=2)
        model = 4 * FLOATS / 2**20
        # What a server without trainings comes to is not the model's.
        self.assertLess(self.peak_mib(self.server.process.pid) - before, 2.2 * model + 64)
        self.assertLess(self.peak_mib(self.worker.process.pid), 2 * model + 64)
        used = {b["name"]: b["used"] for b in self.good("GET", "/v1/accounts/bob/budgets", None, self.bob)["items"]}
        self.assertEqual((used["training-bytes"], used["training-disk"]), (0, 0))

    def test_a_server_that_dies_in_the_middle_of_a_push_and_of_a_pull_loses_no_unit(self):
        self.lend()
        job = self.submit(FLOATS)
        moved = lambda what, bytes_: wait_for(  # noqa: E731
            lambda: self.training(job).get(what, 0) > bytes_, f"{bytes_} bytes of {what}")
        for what, bytes_ in (("bytes_in", 20 << 20), ("bytes_out", 20 << 20), ("bytes_in", 20 << 20)):
            moved(what, bytes_)
            self.server.kill()
            self.server.start(self.server.port)
        self.wait(job)
        self.check_model(job, units=2)

    def test_an_agent_that_dies_in_the_middle_of_a_push_holds_nothing(self):
        self.lend()
        job = self.submit(FLOATS)
        wait_for(lambda: self.training(job).get("bytes_in", 0) > 20 << 20, "pieces of the first parameters")
        self.lose(self.worker, job)
        self.lender("other", "2G")
        self.wait(job)
        self.check_model(job, units=2)


@needs_sandbox
@unittest.skipUnless(shutil.which("redis-server"), "redis-server is not installed")
class LargeInRedisTest(LargeTest):
    """The same with the parameters in Redis: the server holds one copy, and never the whole twice."""

    def setUp(self):
        self.flags = (*self.flags, "--parameters", start_redis(self))
        super().setUp()

    # Nothing there depends on where the parameters lie.
    test_an_agent_that_dies_in_the_middle_of_a_push_holds_nothing = None


if __name__ == "__main__":
    unittest.main()
