"""A relay between cohab and a server: keeps what went over the line, and breaks it on demand. It changes no byte."""

import json
import socket
import threading
import time

HEAD_END = b"\r\n\r\n"


class Exchange:
    """A request and the answer to it, as bytes."""

    def __init__(self, request):
        self.request = request
        self.answer = b""
        # When cohab gave the connection up before the answer was over; `time.monotonic()`.
        self.left_at = None

    @property
    def line(self):
        return self.request.split(b"\r\n", 1)[0].decode(errors="replace")

    @property
    def headers(self):
        return self.request.split(HEAD_END, 1)[0].decode(errors="replace").lower()

    @property
    def body(self):
        return self.request.partition(HEAD_END)[2].decode(errors="replace")

    @property
    def answer_body(self):
        return self.answer.partition(HEAD_END)[2]

    @property
    def is_question(self):
        """Asks the model something; the rest are look-ups of models and versions."""
        try:
            return self.line.startswith("POST") and bool({"messages", "input", "contents"} & json.loads(self.body).keys())
        except (ValueError, AttributeError):
            return False


class Tap:
    """Listens on `port` and passes everything on to `target_port`, both on loopback."""

    def __init__(self, target_port):
        self.target_port = target_port
        self.exchanges = []
        self.cut_after = self.hold_after = None
        self.cuts_left = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def clear(self):
        self.exchanges = []
        self.clear_faults()

    def clear_faults(self):
        self.cut_after = self.hold_after = None
        self.cuts_left = 0

    def cut(self, after_bytes, times):
        """Drops the connection so far into the body of the next `times` answers to questions."""
        self.cut_after, self.cuts_left = after_bytes, times

    def hold(self, after_bytes):
        """Passes only so much of the body of each answer to a question, and keeps the connection open."""
        self.hold_after = after_bytes

    @property
    def questions(self):
        return [exchange for exchange in self.exchanges if exchange.is_question]

    def accept(self):
        while True:
            try:
                near = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.relay, args=(near,), daemon=True).start()

    def close(self):
        self.listener.close()

    def relay(self, near):
        try:
            far = socket.create_connection(("127.0.0.1", self.target_port))
        except OSError:
            near.close()
            return
        state = {"exchange": None}
        threading.Thread(target=self.answers, args=(near, far, state), daemon=True).start()
        pending = b""
        while data := receive(near):
            pending += data
            pending = self.take_requests(pending, state)
            send(far, data)
        if state["exchange"]:
            state["exchange"].left_at = time.monotonic()
        shut(far)

    def take_requests(self, pending, state):
        """Takes whole requests off the bytes; gives back what is left."""
        while HEAD_END in pending:
            head, _, rest = pending.partition(HEAD_END)
            lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
            length = int(lengths[0]) if lengths else 0
            if len(rest) < length:
                break
            size = len(head) + len(HEAD_END) + length
            state["exchange"] = Exchange(pending[:size])
            self.exchanges.append(state["exchange"])
            pending = pending[size:]
        return pending

    def answers(self, near, far, state):
        while data := receive(far):
            exchange = state["exchange"]
            if exchange is None:
                break
            passed, exchange.answer = len(exchange.answer), exchange.answer + data
            end = self.end(exchange)
            if end is None or len(exchange.answer) < end:
                send(near, data)
                continue
            send(near, data[:max(0, end - passed)])
            if self.hold_after is None:
                self.cuts_left -= 1
                break
            while receive(far):
                pass
            return
        shut(near)
        shut(far)

    def end(self, exchange):
        """The length at which the answer is to stop, if it is."""
        limit = self.hold_after if self.hold_after is not None else self.cut_after if self.cuts_left > 0 else None
        if limit is None or not exchange.is_question or HEAD_END not in exchange.answer:
            return None
        return exchange.answer.index(HEAD_END) + len(HEAD_END) + limit


def receive(connection):
    try:
        return connection.recv(65536)
    except OSError:
        return b""


def send(connection, data):
    try:
        connection.sendall(data)
    except OSError:
        pass


def shut(connection):
    for act in (lambda: connection.shutdown(socket.SHUT_RDWR), connection.close):
        try:
            act()
        except OSError:
            pass
