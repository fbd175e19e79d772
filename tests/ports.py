"""Ports of loopback, for programs that cannot be told to take any port that is free."""
import socket

from souk import any_port


def free_ports(count):
    """They stay free for a restart too (souk.py: any_port)."""
    held = []
    try:
        while len(held) < count:
            held.append(socket.socket())
            try:
                held[-1].bind(("127.0.0.1", any_port()))
            except OSError:
                held.pop().close()
        return [each.getsockname()[1] for each in held]
    finally:
        for each in held:
            each.close()


def closed_port(test):
    """One at which nobody listens until the test ends."""
    held = socket.socket()
    test.addCleanup(held.close)
    held.bind(("127.0.0.1", 0))
    return held.getsockname()[1]
