"""A line between agents and a market, which counts what passes and can be slow or stand still."""
import socket
import threading
import time


class Line:
    """Forwards connections to `port` on this computer. `rate`: bytes a second to those who
    connect, all together; after `stall_after` bytes nothing more comes, until it is released."""

    def __init__(self, test, port, rate=None, stall_after=None):
        self.port, self.rate, self.stall_after = port, rate, stall_after
        self.sent = 0  # To those who connect.
        self.requests = []  # Their first lines.
        self.lock = threading.Lock()
        self.over, self.released = threading.Event(), threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()
        test.addCleanup(self.close)

    def close(self):
        self.over.set()
        self.released.set()
        self.listener.close()

    def release(self):
        """Lets pass what stood still, and all that follows."""
        self.released.set()

    @property
    def stalled(self):
        return self.stall_after is not None and self.sent > self.stall_after and not self.released.is_set()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.port))
            except OSError:
                near.close()
                continue
            threading.Thread(target=self.join, args=(near, far), daemon=True).start()

    def join(self, near, far):
        with near, far:
            back = threading.Thread(target=self.pump, args=(far, near, True), daemon=True)
            back.start()
            self.pump(near, far, False)
            back.join()

    def pump(self, source, sink, counted):
        try:
            while data := source.recv(65536):
                if counted and not self.pass_on(len(data)):
                    return
                if not counted and data.startswith((b"GET ", b"PUT ", b"POST ")):
                    self.requests.append(data.split(b"\r\n", 1)[0].decode())
                sink.sendall(data)
        except OSError:
            pass
        finally:
            for end in (source, sink):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def pass_on(self, size):
        with self.lock:
            self.sent += size
            stalled = size > 4096 and self.stalled
            if self.rate and not stalled:
                time.sleep(size / self.rate)  # With the lock: the line is one.
        if stalled:
            self.released.wait()
        return not self.over.is_set()
