"""What all servers have in common: getting them from a registry, starting them, waiting for them, ending them."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import NamedTuple

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cohab-interop"
START_LIMIT_S = 120


class Unavailable(Exception):
    """A server cannot be had or does not start; the text says why."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Face(NamedTuple):
    """A wire of a server."""

    wire: str
    # What follows `http://127.0.0.1:PORT` in the base URL.
    path: str = ""
    # The model's name in the requests.
    model: str = "interop-model"
    # What stands behind a gateway, for the table.
    through: str = ""
    # Why a column makes no sense here.
    not_applicable: dict = {}


class Server:
    """A third-party server: what each of them must say of itself."""

    name = version = None
    faces = []
    # Why a column makes no sense here, on whatever face.
    not_applicable = {}
    health = "/health"
    # Tokens in and out that it reports for the scene `text`, if they are fixed.
    usage = None
    # Scenes that only some servers can play.
    scenes = ()
    # A gateway's tap to what is behind it.
    between = None
    # How much to pipe into a question that is to be too long.
    overflow_bytes = 0

    def __init__(self):
        self.port = free_port()
        self.folder = CACHE / f"{self.name}-{self.version}"
        self.process = None
        # For what the server is told: its own, as runs may overlap.
        self.orders = tempfile.TemporaryDirectory(prefix="cohab-interop-")

    def install(self):
        """Puts the packages into the folder."""
        raise NotImplementedError

    def command(self):
        """The command that serves on `self.port`; its environment comes from `environment`."""
        raise NotImplementedError

    def environment(self):
        return {}

    def arrange(self, scene):
        """Makes the next answers those of the scene. Servers that see the scene in the question need nothing."""

    def start(self):
        done = self.folder / "installed"
        if not done.exists():
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
            print(f"getting {self.name} {self.version} ...", file=sys.stderr, flush=True)
            self.install()
            done.touch()
        self.log = Path(self.orders.name) / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [str(part) for part in self.command()], stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                env=dict(os.environ) | self.environment(), start_new_session=True, cwd=self.folder)
        began = time.monotonic()
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() - began > START_LIMIT_S:
                raise Unavailable(f"does not start; its last words: {self.log.read_text()[-300:]!r}")
            time.sleep(0.05)

    def is_ready(self):
        try:
            return self.request("GET", self.health)[0] < 500
        except OSError:
            return False

    def request(self, method, path, body=None):
        """A request of our own, past the tap; gives status and body."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", body, {"content-type": "application/json"})
        request.method = method
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def tell(self, path, what):
        """Gives a mock its orders."""
        status, answer = self.request("POST", path, json.dumps(what).encode())
        if status >= 400:
            raise Unavailable(f"refuses its orders: {answer[:300]!r}")

    def stop(self):
        for sign in (signal.SIGTERM, signal.SIGKILL) if self.process else ():
            try:
                os.killpg(self.process.pid, sign)
                self.process.wait(5)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue
        self.orders.cleanup()


def install(command):
    """Runs a package manager; its last words are the reason of a failure."""
    if shutil.which(command[0]) is None:
        raise Unavailable(f"{command[0]} is missing")
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise Unavailable(f"{command[0]} failed: {done.stderr.strip()[-300:]}")


def pip(folder, *packages):
    install([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-warn-conflicts",
             "--root-user-action", "ignore", "--target", str(folder), *packages])


def npm(folder, *packages):
    install(["npm", "--prefix", str(folder), "install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent", *packages])
