"""Runs the real client and its daemon in a home of their own, and reads its events."""

import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

KEY = "interop-planted-key-4711"
LIMIT_S = 60


class Turn:
    """What came of one question."""

    def __init__(self, events, status, errors, folder, seconds):
        self.events, self.status, self.errors, self.seconds = events, status, errors, seconds
        self.files = {path.name: path.read_text() for path in Path(folder).iterdir()}

    def of(self, kind):
        return [event for event in self.events if event["type"] == kind]

    @property
    def text(self):
        """The text of the last model step, after resets."""
        text = ""
        for event in self.events:
            if event["type"] in ("reset", "step_started"):
                text = ""
            elif event["type"] == "text":
                text += event["delta"]
        return text

    @property
    def reasoning(self):
        return "".join(event["delta"] for event in self.of("reasoning"))

    @property
    def reason(self):
        return self.of("turn_ended")[-1]["reason"] if self.of("turn_ended") else None

    @property
    def usage(self):
        return self.of("turn_ended")[-1]["usage"] if self.of("turn_ended") else {}

    @property
    def error(self):
        return " ".join(f"{event['message']} ({event['hint']})" for event in self.of("error"))

    def __str__(self):
        shown = [event for event in self.events if event["type"] not in ("turn_started", "step_started")]
        return f"rc {self.status}, {json.dumps(shown, ensure_ascii=False)[:900]} {self.errors[:300]} files {self.files}"


class Cohab:
    """One wire of one server. `binaries`: the folder of `cohab` and `cohabd`."""

    def __init__(self, binaries, wire, base_url, model):
        self.program = Path(binaries).resolve() / "cohab"
        self.home = tempfile.TemporaryDirectory(prefix="cohab-interop-")
        settings = {"PROVIDER": wire, "BASE_URL": base_url, "MODEL": model, "API_KEY": KEY, "HOME": self.home.name + "/cohab"}
        # Nothing of the caller's own settings, keys and proxies.
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "TMPDIR")}
        self.environment = kept | {"HOME": self.home.name} | {f"COHAB_{name}": value for name, value in settings.items()}

    def start(self, arguments, folder, piped=""):
        process = subprocess.Popen(
            [self.program, *arguments], cwd=folder, env=self.environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            process.stdin.write(piped)
            process.stdin.close()
        except BrokenPipeError:
            pass
        process.stdin = None
        return process

    def ask(self, question, piped="", cancel_at=None):
        """Asks. `cancel_at(event)`: interrupts the client after the first event for which it holds."""
        with tempfile.TemporaryDirectory(prefix="cohab-interop-") as folder:
            began = time.monotonic()
            process = self.start(["ask", "--json", "--approve", "all", question], folder, piped)
            overdue = threading.Timer(LIMIT_S, process.kill)
            overdue.start()
            events = []
            try:
                for line in process.stdout:
                    events.append(json.loads(line))
                    if cancel_at and cancel_at(events[-1]):
                        self.cancelled_at, cancel_at = time.monotonic(), None
                        process.send_signal(signal.SIGINT)
                errors, status = process.stderr.read(), process.wait()
            finally:
                overdue.cancel()
                process.kill()
            return Turn(events, status, errors, folder, time.monotonic() - began)

    def run(self, *arguments, folder=None):
        return subprocess.run([self.program, *arguments], env=self.environment, text=True, capture_output=True, timeout=LIMIT_S,
                              stdin=subprocess.DEVNULL, cwd=folder)

    def probe_model(self, question):
        """What the answer to one request adds up to, and the files that are there then."""
        with tempfile.TemporaryDirectory(prefix="cohab-interop-") as folder:
            done = self.run("probe-model", "--json", question, folder=folder)
            lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
            return lines[-1] if lines else {"error": done.stderr}, os.listdir(folder)

    def wires(self):
        """What this build speaks, by its own word."""
        turn = self.ask("Are you there?")
        return [name for name in turn.error.rpartition("known: ")[2].rstrip(")").split(", ") if name]

    def close(self):
        self.run("daemon", "stop")
        self.home.cleanup()
