"""What strangers try where machines give each other files: to read chunks of other jobs, to find out
which there are, to hand out wrong bytes, to send others to addresses of their own network."""
import hashlib
import http.client
import os
import socket
import ssl
import subprocess
import threading
import unittest

from lending import ON_PAPER, needs_sandbox
from line import Line
from ports import closed_port
from souk import DEADLINE_S, wait_for
from test_files import MIB, FilesTest


class Liar:
    """Serves TLS at `port`, answers every request with `body`, and counts them."""

    def __init__(self, test, body):
        key, cert = (os.path.join(test.folder, f) for f in ("liar.key", "liar.pem"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                        "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=liar"],
                       check=True, capture_output=True)
        with open(cert, encoding="utf-8") as f:
            self.pin = hashlib.sha256(ssl.PEM_cert_to_DER_cert(f.read())).hexdigest()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(cert, key)
        self.body, self.asked = body, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()
        test.addCleanup(self.listener.close)

    def serve(self):
        while True:
            try:
                raw, _ = self.listener.accept()
            except OSError:
                return
            try:
                with self.context.wrap_socket(raw, server_side=True) as peer:
                    while b"\r\n\r\n" in peer.recv(65536):
                        self.asked += 1
                        peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(self.body)
                                     + self.body)
            except OSError:
                pass


@needs_sandbox
class SharingAttacks(FilesTest):
    flags = ("--round", "200ms", "--requests", "0", *ON_PAPER)

    def lent_by_hand(self):
        """A machine of ann's without an agent: its id."""
        # Its lease is heard of when it is taken, and never after that.
        self.good("PATCH", "/v1/settings", {"silence": "1h", "pickup": "1h"}, self.ann)
        return self.lend(self.ann, slots=1, name="hand")["machine"]

    def share(self, machine, port, pin="ab" * 32, token=None):
        return self.server.call("PUT", f"/v1/machines/{machine}/sharing",
                                {"port": port, "key": "cd" * 32, "pin": pin}, token or self.ann)

    def names(self, job):
        """The chunks of the job's input, from the store of the server."""
        blobs = os.path.join(self.data, "blobs")
        return [fan + name for fan in os.listdir(blobs) for name in os.listdir(os.path.join(blobs, fan))]

    def lease_of(self, machine):
        # Asking for work also says that the machine is there.
        def ask():
            leases = self.good("GET", f"/v1/machines/{machine}/work", token=self.ann)["leases"]
            return leases[0]["id"] if leases else None
        return wait_for(ask, "a lease")

    def wait_running(self, agent):
        try:
            wait_for(lambda: ": running" in agent.text(), "the honest machine to run it")
        except AssertionError as e:
            raise AssertionError(f"{e}: {agent.text()}") from None

    def peers(self, lease, names, token=None):
        return self.server.call("POST", f"/v1/leases/{lease}/peers", {"names": names}, token or self.ann)

    def test_wrong_bytes_cost_a_moment_and_no_job(self):
        digest = self.write(12 * MIB)
        liar = Liar(self, b"\2" + b"x" * 1000)
        machine = self.lent_by_hand()
        self.assertEqual(self.share(machine, liar.port, liar.pin).status, 200)
        job = self.submit("1..2")
        lease = self.lease_of(machine)
        self.assertEqual(self.peers(lease, self.names(job)).status, 200, "it says that it has them")
        agent = self.agent("honest", "--share-chunks", "127.0.0.1:0")
        self.wait_running(agent)
        wait_for(lambda: digest in self.logs(job), "the honest machine's work")
        self.assertGreater(liar.asked, 0, "the honest machine was sent to the liar")
        self.assertLessEqual(liar.asked, 4, "and asked it once for each connection")

    def test_nobody_reads_or_finds_chunks_without_a_ticket(self):
        self.write(6 * MIB)
        machine = self.lent_by_hand()
        self.assertEqual(self.share(machine, closed_port(self)).status, 200)
        agent = self.sharer_at(Line(self, self.server.port), "honest")
        job = self.submit("2..2", then="sleep 1000")
        lease = self.lease_of(machine)
        self.wait_running(agent)
        names = self.names(job)
        found = wait_for(lambda: self.peers(lease, names).json["peers"], "a peer")
        peer = found[0]

        def ask(name, ticket):
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            c = http.client.HTTPSConnection("127.0.0.1", peer["port"], context=context, timeout=DEADLINE_S)
            try:
                c.request("GET", "/chunks/" + name, headers={"Authorization": "Bearer " + ticket})
                answer = c.getresponse()
                return answer.status, answer.read()
            finally:
                c.close()

        self.assertEqual(ask(peer["name"], peer["ticket"])[0], 200, "the ticket is good for its chunk")
        other = next(n for n in names if n != peer["name"])
        forged = peer["ticket"].replace(peer["name"], other)
        late = peer["ticket"].split("/")
        late[3] = str(int(late[3]) + 10**9)
        refused = {ask(other, peer["ticket"]), ask(other, forged), ask(peer["name"], "/".join(late)),
                   ask("00" * 32, peer["ticket"]), ask(peer["name"], ""), ask("../key", peer["ticket"])}
        self.assertEqual(refused, {(403, b"no ticket\n")}, "what is there looks like what is not")
        # Nor does the market name peers to others, or for chunks that the job does not have.
        self.assertEqual(self.peers(lease, names, self.bob).status, 404)
        self.assertEqual(self.peers(lease, ["00" * 32]).json["peers"], [])
        self.assertIn(self.peers(lease, ["nonsense"]).status, (400, 422))

    def test_a_machine_names_nobody_but_itself(self):
        machine = self.lent_by_hand()
        for port in (0, -1, 65536):
            self.assertIn(self.share(machine, port).status, (400, 422))
        answer = self.server.call("PUT", f"/v1/machines/{machine}/sharing",
                                  {"port": 9, "key": "cd" * 32, "pin": "ab" * 32,
                                   "address": "169.254.169.254"}, self.ann)
        self.assertIn(answer.status, (400, 422), "there is no field for an address")
        self.assertEqual(self.share(machine, 9, token=self.bob).status, 404, "of somebody else")


if __name__ == "__main__":
    unittest.main()
