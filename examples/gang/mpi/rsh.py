#!/usr/bin/env python3
"""A remote shell for the workers of one gang, who alone reach each other: what mpirun starts its daemons with.

    rsh.py --serve             runs commands for others, until it is ended
    rsh.py HOST COMMAND...     runs one there; its output comes here
"""
import socket
import subprocess
import sys
import threading
import time

PORT = 2222


def serve():
    server = socket.create_server(("", PORT))
    while True:
        peer, _ = server.accept()
        threading.Thread(target=run, args=(peer,), daemon=True).start()


def run(peer):
    with peer, peer.makefile("rb") as lines:
        command = lines.readline().decode()
        with subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.DEVNULL, stdout=peer,
                              stderr=peer) as program:
            program.wait()


def call(host, command):
    for _ in range(600):
        try:
            peer = socket.create_connection((host, PORT), 5)
            break
        except OSError:
            time.sleep(0.05)
    else:
        sys.exit(f"rsh.py: {host} does not answer")
    with peer:
        peer.settimeout(None)
        peer.sendall((command + "\n").encode())
        while piece := peer.recv(65536):
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()


if sys.argv[1:2] == ["--serve"]:
    serve()
else:
    call(sys.argv[1], " ".join(sys.argv[2:]))
