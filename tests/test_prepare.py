"""What a browser does to train a model, with the real binary: no file of its own, no `souk`."""
import json
import os
import struct
import subprocess
import unittest
import urllib.request

from lending import LendingTest, needs_sandbox
from mnist import needs_mnist
from souk import DEADLINE_S, SOUK, MarketTest, wait_for

TORCH = os.path.join(os.path.dirname(SOUK), "souk-torch")
needs_torch = unittest.skipUnless(os.path.exists(TORCH),
                                  "souk-torch was not built: it needs libtorch-dev")


class ChoicesTest(MarketTest):
    @needs_torch
    def test_the_models_that_are_offered_are_those_of_the_trainer(self):
        bob = self.sign_up("bob")
        offered = self.good("GET", "/v1/training/choices", None, bob)["models"]
        hello = {"op": "hello", "protocol": 1, "config": {"model": "none-such"}}
        said = subprocess.run([TORCH], input=json.dumps(hello) + "\n", capture_output=True,
                              text=True, timeout=DEADLINE_S).stdout
        self.assertIn("The models are " + ", ".join(model["name"] for model in offered), said)


@needs_sandbox
@needs_torch
@needs_mnist
class BrowserTest(LendingTest):
    def test_a_sample_is_prepared_trained_and_its_model_downloaded(self):
        samples = self.good("GET", "/v1/samples", None, self.bob)["items"]
        sample = next(s for s in samples if s["name"] == "mnist-quick")
        prepared = self.good("POST", "/v1/jobs/prepare", {"yaml": sample["yaml"]}, self.bob,
                             timeout=8 * DEADLINE_S)
        self.assertIn("trains on 60000 samples in 8 shards, and is checked on 10000",
                      prepared["notes"])
        self.good("POST", "/v1/plan", prepared["job"], self.bob)
        job = self.good("POST", "/v1/jobs", prepared["job"], self.bob)["id"]
        self.agent("one")
        ended = wait_for(lambda: (j := self.good("GET", f"/v1/jobs/{job}", None, self.bob))
                         .get("ended") and j.get("result") and j, "the model", 4 * DEADLINE_S)
        self.assertEqual(ended["reason"], "the target was reached")
        files = {f["path"]: f["bytes"] for f in
                 self.good("GET", f"/v1/jobs/{job}/files", None, self.bob)["items"]}
        self.assertIn("metrics.csv", files)
        request = urllib.request.Request(
            f"{self.server.url}/v1/jobs/{job}/file?path=model.safetensors",
            headers={"Authorization": "Bearer " + self.bob})
        with urllib.request.urlopen(request, timeout=DEADLINE_S) as answer:
            self.assertEqual(answer.headers["Content-Disposition"],
                             'attachment; filename="model.safetensors"')
            model = answer.read()
        self.assertEqual(len(model), files["model.safetensors"])
        head = json.loads(model[8:8 + struct.unpack("<Q", model[:8])[0]])
        self.assertIn([64, 784], [tensor["shape"] for tensor in head.values()])


if __name__ == "__main__":
    unittest.main()
