"""The protocol itself, with a trainer that does next to nothing."""

from __future__ import annotations

import json
import unittest

import numpy as np
from conversation import DEADLINE_S, WorkerTest

SCRIPT = """
import sys, time
print("printed before")
import numpy as np, souk

class Counts:
    '''One number; a step adds the learning rate to it and takes a moment.'''
    def setup(self, config):
        print("printed in setup")
        self.pause_s = config.get("pause_s", 0)
        return souk.Description([souk.TensorSpec("a", ()), souk.TensorSpec("b", (2, 2))], "none")
    def init(self, seed):
        return {"a": np.array(seed, np.float32), "b": np.zeros((2, 2), np.float32)}
    def train(self, base, unit, stopped):
        if unit.lr == 13: raise KeyError("bad luck")
        if unit.lr == 14: return souk.Trained(dict(base), 1, 1, float("nan"))
        if unit.lr == 15: return souk.Trained({"a": base["a"]}, 1, 1, 0.0)
        steps, a = 0, float(base["a"])
        while steps < unit.steps and not stopped():
            time.sleep(self.pause_s)
            a, steps = a + unit.lr, steps + 1
        print("trained", steps)
        return souk.Trained({"a": np.array(a, np.float32), "b": np.array(base["b"])},
                            steps, steps * unit.batch, 0.5)
    def evaluate(self, base, exam, stopped):
        sys.stdin.read()  # Gets nothing, and nothing of the protocol.
        return souk.Evaluated(3, float(base["a"]), {"half": 0.5})

souk.serve(Counts(), name="counts", version="2")
"""

UNIT = {"base": "w", "shard": "s", "out": "u", "steps": 4, "batch": 5, "lr": 0.5, "seed": 1}


class Serve(WorkerTest):
    def test_a_whole_conversation(self) -> None:
        w = self.start(SCRIPT)
        self.assertEqual(
            w.hello(),
            {
                "ok": True, "protocol": 1, "name": "counts", "version": "2", "framework": "none",
                "device": "cpu",
                "tensors": [{"name": "a", "shape": []}, {"name": "b", "shape": [2, 2]}],
            },
        )  # fmt: skip
        self.assertEqual(w.good("init", seed=7, out="w"), {"ok": True})
        done = w.good("train", **UNIT, send="delta", first_step=0, future="ignored")
        self.assertEqual((done["steps"], done["samples"], done["loss"]), (4, 20, 0.5))
        self.assertGreaterEqual(done["seconds"], 0)
        self.assertEqual(float(w.read("u")["a"]), 2)
        w.good("train", **UNIT, send="weights", first_step=0)
        self.assertEqual(float(w.read("u")["a"]), 9)
        exam = w.good("evaluate", base="w", shard="s", batch=2)
        self.assertEqual(exam, {"ok": True, "samples": 3, "loss": 7, "metrics": {"half": 0.5}})
        self.assertEqual(w.good("bye"), {"ok": True})
        self.assertEqual(w.process.wait(DEADLINE_S), 0)
        # Everything that was printed is in the log, and nothing of it was in the way.
        for text in ("printed before", "printed in setup", "trained 4"):
            self.assertIn(text, w.log())

    def test_end_of_input_ends_the_worker_cleanly(self) -> None:
        w = self.start(SCRIPT)
        w.hello()
        self.assertEqual(w.leave(), 0)

    def test_end_of_input_leaves_no_request_unanswered(self) -> None:
        w = self.start(SCRIPT)
        w.send("hello", protocol=1, config={})
        w.send("init", seed=1, out="w")
        w.send("train", **UNIT)
        self.assertEqual(w.leave(), 0)
        self.assertEqual([w.answer()["ok"] for _ in range(3)], [True] * 3)

    def test_stop_gives_what_there_is(self) -> None:
        w = self.start(SCRIPT)
        w.hello(pause_s=0.01)
        w.good("init", seed=0, out="w")
        w.send("train", **{**UNIT, "steps": 1_000_000})
        w.send("stop")
        done = w.answer()
        self.assertTrue(done["ok"])
        self.assertLess(done["steps"], 1_000_000)
        self.assertEqual(float(w.read("u")["a"]), 0.5 * done["steps"])

    def test_stop_without_anything_under_way_means_nothing(self) -> None:
        w = self.start(SCRIPT)
        w.hello()
        w.good("init", seed=0, out="w")
        w.send("stop")
        self.assertEqual(w.good("train", **UNIT)["steps"], 4)

    def test_what_cannot_be_done_is_answered_and_work_goes_on(self) -> None:
        w = self.start(SCRIPT)
        self.assertIn("before hello", w.error("train", **UNIT))
        self.assertIn("protocol 2", w.error("hello", protocol=2, config={}))
        self.assertIn("config", w.error("hello", protocol=1, config=[]))
        w.hello()
        self.assertIn("second", w.error("hello", protocol=1, config={}))
        w.good("init", seed=0, out="w")
        self.assertIn("'dance'", w.error("dance"))
        self.assertIn("KeyError: 'bad luck'", w.error("train", **{**UNIT, "lr": 13}))
        self.assertIn("Traceback", w.log())
        self.assertIn("not finite", w.error("train", **{**UNIT, "lr": 14}))
        self.assertIn("'b' is missing", w.error("train", **{**UNIT, "lr": 15}))
        for field, value in {
            "steps": -1, "batch": 0, "seed": "x", "first_step": 1.5, "lr": None, "send": "all",
            "base": "absent", "out": "", "shard": 3,
        }.items():  # fmt: skip
            answer = w.ask("train", **{**UNIT, field: value})
            self.assertFalse(answer["ok"], field)
            self.assertIn(value if field == "base" else field, answer["error"])
        for line in ("", "{", "[]", "3", '{"op":["train"]}', "x" * (3 << 20), "[" * 100_000):
            w.send_line(line)
            self.assertFalse(w.answer()["ok"], line[:20])
        self.assertEqual(w.good("train", **UNIT)["steps"], 4)

    def test_a_base_that_is_not_the_models_is_refused(self) -> None:
        w = self.start(SCRIPT)
        w.hello()
        a, b = np.zeros((), np.float32), np.zeros((2, 2), np.float32)
        for words, tensors in (
            ("'b' is missing", {"a": a}),
            ("no tensor 'c'", {"a": a, "b": b, "c": a}),
            ("float64", {"a": a.astype(np.float64), "b": b}),
            ("(4,)", {"a": a, "b": b.reshape(-1)}),
        ):
            w.write("w", **tensors)
            self.assertIn(words, w.error("train", **UNIT))
        (w.folder / "w").write_bytes(b"nonsense that is long enough")
        self.assertIn("safetensors", w.error("train", **UNIT))

    def test_learning_rate_of_the_job_is_the_default(self) -> None:
        w = self.start(SCRIPT)
        w.hello(lr=2.0)
        w.good("init", seed=0, out="w")
        w.good("train", **{k: v for k, v in UNIT.items() if k != "lr"})
        self.assertEqual(float(w.read("u")["a"]), 8)

    def test_children_of_the_worker_cannot_disturb_the_protocol(self) -> None:
        w = self.start(
            "import os, souk\n"
            "class T:\n"
            "    def setup(self, config):\n"
            "        os.system('echo from a child; cat')\n"
            "        os.write(1, b'from C\\n')\n"
            "        return souk.Description([], 'none')\n"
            "souk.serve(T())\n"
        )
        self.assertEqual(w.hello()["tensors"], [])
        self.assertIn("from a child", w.log())
        self.assertIn("from C", w.log())

    def test_answers_are_one_line_of_json_each(self) -> None:
        w = self.start(SCRIPT)
        w.send("hello", protocol=1, config={"text": "two\nlines"})
        w.send("bye")
        assert w.process.stdout is not None
        lines = w.process.stdout.read().splitlines()
        self.assertEqual([json.loads(line)["ok"] for line in lines], [True, True])


if __name__ == "__main__":
    unittest.main()
