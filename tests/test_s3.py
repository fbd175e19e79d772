"""Files in an S3 bucket: a real S3 server, a real market, real agents; killed, moved, unreachable."""
import hashlib
import os
import random
import unittest
import unittest.mock
import urllib.error
import urllib.request
import uuid

from lending import LendingTest, needs_sandbox
from ports import closed_port
from s3_server import SECRET, Gate, S3Server, find_weed, needs_s3
from souk import DEADLINE_S, MarketTest, Server, wait_for

MIB = 1 << 20


def setUpModule():  # pylint: disable=invalid-name
    if find_weed():
        S3Test.s3 = S3Server()
        unittest.addModuleCleanup(S3Test.s3.remove)


def chunk(size, seed):
    """An encoded chunk (blob/chunk.h: raw, named by BLAKE2b) and its name."""
    content = random.Random(seed).randbytes(size)
    return b"\0" + content, hashlib.blake2b(content, digest_size=32).hexdigest()


def get(url, method="GET"):
    """Status and body, without a token."""
    here = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with here.open(urllib.request.Request(url, method=method), timeout=DEADLINE_S) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


class S3Test(MarketTest):
    """A test with a market whose files are in a bucket."""

    s3 = None

    def setUp(self):
        self.prefix = "t" + uuid.uuid4().hex[:8]
        self.flags = (*self.flags, "--blobs", self.s3.url(self.prefix, self.endpoint()))
        keys = unittest.mock.patch.dict(os.environ)
        keys.start()
        self.addCleanup(keys.stop)
        for name in [name for name in os.environ if name.startswith("AWS_")]:  # Of another store.
            del os.environ[name]
        os.environ.update(self.s3.env)
        super().setUp()

    def endpoint(self):
        return self.s3.endpoint

    def put(self, token, size=100_000, seed=1):
        encoded, name = chunk(size, seed)
        answer = self.server.call("PUT", f"/v1/blobs/{name}", token=token, raw=encoded)
        self.assertEqual(answer.status, 200, answer.text)
        return name


@needs_s3
class Files(S3Test):
    def test_chunks_are_in_the_bucket_and_survive_kill_and_a_lost_disk(self):
        ann = self.sign_up("ann")
        names = {self.put(ann, 70_000 + seed, seed) for seed in range(20)}
        self.assertEqual(self.s3.keys(self.prefix), names)
        self.assertFalse(os.path.exists(os.path.join(self.data, "blobs")))
        self.server.kill()
        for folder, _, files in os.walk(os.path.join(self.data, "blobs.cache")):
            for file in files:
                os.remove(os.path.join(folder, file))
        self.server.start()
        for seed in range(20):
            encoded, name = chunk(70_000 + seed, seed)
            status, _, body = self.server.raw("GET", f"/v1/blobs/{name}", token=ann)
            self.assertEqual((status, body), (200, encoded))
        self.assertEqual(self.good("POST", "/v1/blobs/missing", {"names": sorted(names)}, ann),
                         {"names": []})

    def test_an_address_gives_one_chunk_to_whom_the_market_lets_have_it(self):
        ann, eve = self.sign_up("ann"), self.sign_up("eve")
        ours, other = self.put(ann, 100_000, 1), self.put(ann, 100_000, 2)
        self.assertEqual(self.server.raw("GET", f"/v1/blobs/{ours}?direct=1", token=eve)[0], 404)
        self.assertEqual(self.server.raw("GET", f"/v1/blobs/{ours}?direct=1")[0], 401)
        status, headers, body = self.server.raw("GET", f"/v1/blobs/{ours}?direct=1", token=ann)
        self.assertEqual((status, body), (307, b""))
        url = headers["Location"]
        self.assertEqual(get(url), (200, chunk(100_000, 1)[0]))
        self.assertNotIn(SECRET, url)
        # It opens nothing else, for nothing else, and not for long.
        self.assertEqual(get(url.replace(f"{ours[:2]}/{ours[2:]}", f"{other[:2]}/{other[2:]}"))[0], 403)
        self.assertEqual(get(url.split("?")[0])[0], 403)
        self.assertEqual(get(url, "DELETE")[0], 403)
        self.assertEqual(get(url.replace("X-Amz-Expires=120", "X-Amz-Expires=9999"))[0], 403)
        self.assertEqual(get(url[:url.index("/" + self.prefix)] + "?" + url.split("?")[1])[0], 403)
        # Small ones are sent at once, and without the question all are.
        small = self.put(ann, 1_000, 3)
        self.assertEqual(self.server.raw("GET", f"/v1/blobs/{small}?direct=1", token=ann)[0], 200)
        self.assertEqual(self.server.raw("GET", f"/v1/blobs/{ours}", token=ann)[2], chunk(100_000, 1)[0])

    def test_a_store_that_is_down_is_named_and_forgotten_when_it_is_back(self):
        ann = self.sign_up("ann")
        name = self.put(ann, 100_000, 1)
        self.s3.stop()
        try:
            encoded, new = chunk(100_000, 2)
            answer = self.server.call("PUT", f"/v1/blobs/{new}", token=ann, raw=encoded)
            self.assertEqual(answer.status, 503, answer.text)
            self.assertIn(f"s3://souk/{self.prefix}", answer.text)
            self.assertNotIn(SECRET, answer.text)
            # What was used lately is still here, and the market goes on.
            self.assertEqual(self.server.raw("GET", f"/v1/blobs/{name}", token=ann)[0], 200)
            self.assertEqual(self.server.call("GET", "/readyz").status, 200)
        finally:
            self.s3.start()
        wait_for(lambda: self.server.call("PUT", f"/v1/blobs/{new}", token=ann, raw=encoded).status == 200,
                 "the store to be used again", 5 * DEADLINE_S)

    def test_a_limit_holds_in_the_bucket_as_well(self):
        self.server.stop()
        self.server = Server(self.data, *self.flags, "--blobs", "1M", "--budget", "blob-bytes=1G/10G")
        self.server.start()
        ann = self.sign_up("ann")
        names = [self.put(ann, 300_000, seed) for seed in range(6)]
        wait_for(lambda: self.s3.keys(self.prefix) == set(names[-3:]), "the oldest to be removed")
        self.assertEqual(self.good("POST", "/v1/blobs/missing", {"names": names}, ann)["names"], names[:3])

    def test_a_market_does_not_start_without_the_bucket_its_files_are_in(self):
        self.server.stop()
        for flags in ((), ("--blobs", self.s3.url("elsewhere"))):
            with self.assertRaisesRegex(AssertionError, f"files of this market are in s3://souk/{self.prefix}"):
                Server(self.data, *flags).start()
        with self.assertRaisesRegex(AssertionError, "AWS_SECRET_ACCESS_KEY"):
            server = Server(self.data, *self.flags)
            server.env = {"AWS_SECRET_ACCESS_KEY": "wrong"}
            server.start()
        self.server.start()


@needs_s3
class Moving(S3Test):
    def endpoint(self):
        self.gate = Gate(self, self.s3)
        return self.gate.url

    def test_a_folder_is_moved_while_it_is_read_and_killed(self):
        """From a market with a folder to one with a bucket, `kill -9` on the way."""
        self.server.stop()
        os.remove(os.path.join(self.data, "blobs.bucket"))
        bucket, self.server = self.server, Server(self.data)
        self.server.start()
        ann = self.sign_up("ann")
        names = [self.put(ann, 200_000, seed) for seed in range(60)]
        self.server.kill()
        self.server = bucket
        moved = set()
        for _ in range(3):
            self.server.start()
            for seed in (0, 30, 59):
                status, _, body = self.server.raw("GET", f"/v1/blobs/{names[seed]}", token=ann)
                self.assertEqual((status, body), (200, chunk(200_000, seed)[0]))
            self.gate.allow(10)
            wait_for(lambda: len(self.s3.keys(self.prefix)) > len(moved), "some to be moved")
            self.server.kill()
            moved = self.s3.keys(self.prefix)
            self.assertLess(len(moved), len(names), "the rest is still in the folder")
        self.gate.allow(None)
        self.server.start()
        wait_for(lambda: "souk_blobs_to_move 0\n" in self.server.call("GET", "/metrics").text, "the rest",
                 5 * DEADLINE_S)
        self.assertEqual(self.s3.keys(self.prefix), set(names))
        left = [file for _, _, files in os.walk(os.path.join(self.data, "blobs")) for file in files]
        self.assertEqual(left, [])
        for seed, name in enumerate(names):
            self.assertEqual(self.server.raw("GET", f"/v1/blobs/{name}", token=ann)[2],
                             chunk(200_000, seed)[0])


@needs_s3
@needs_sandbox
class Agents(S3Test, LendingTest):
    def run_big(self, size=12 * MIB):
        os.makedirs(os.path.join(self.folder, "big"), exist_ok=True)
        content = random.Random(7).randbytes(size)
        with open(os.path.join(self.folder, "big", "data.bin"), "wb") as out:
            out.write(content)
        job = self.run_job("run: cp data/data.bin out.bin\ninputs: [{path: data, folder: big}]\n"
                           "outputs: [out.bin]\nworkers: 1")
        self.souk("job", "wait", job, "--timeout", "300s", token=self.bob)
        self.souk("results", job, "-o", os.path.join(self.folder, "got"), token=self.bob,
                  env={"XDG_CACHE_HOME": os.path.join(self.folder, "fresh")})
        with open(os.path.join(self.folder, "got", "out.bin"), "rb") as got:
            self.assertEqual(got.read(), content)

    def sent(self):
        """Chunks that the server itself read, to send them."""
        text = self.server.call("GET", "/metrics").text
        return sum(int(line.split()[1]) for line in text.splitlines()
                   if line.startswith("souk_blob_reads_total"))

    def test_files_of_jobs_do_not_pass_the_server(self):
        self.agent("box")
        before = self.sent()
        self.run_big()
        self.assertLess(self.sent() - before, 8, "manifests and small ones; the file has more chunks")

    def test_a_store_that_agents_cannot_reach_costs_nothing_but_the_detour(self):
        self.server.stop()
        unreachable = self.s3.url(self.prefix, direct=f"http://127.0.0.1:{closed_port(self)}")
        self.server = Server(self.data, *self.flags[:-2], "--blobs", unreachable)
        self.server.start()
        self.agent("box")
        self.run_big(6 * MIB)


if __name__ == "__main__":
    unittest.main()
