"""Has agents that others wrote work in a live shell of cohab, with a scripted model behind them. `scripts/interop agents` says how.

For each agent and shell: `cd sub && export FOO=bar` must stick in the user's shell, a refused command must not run, and Ctrl-C must free
the prompt. Prints a table; ends with 1 if something failed.
"""

import argparse
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import fcntl

from scripted_agent_model import Model

SHELLS = ["bash", "zsh", "fish"]
PACKAGES = {
    "codex": "@zed-industries/codex-acp",
    "claude": "@agentclientprotocol/claude-agent-acp",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-ai",
    "copilot": "@github/copilot",
}
ESCAPES = re.compile(rb"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[()][A-Z0-9]|.)")
PATIENCE = 90


def point_at(name, home, port):
    """Writes the settings that point an agent at the scripted model; returns its variables."""
    base = f"http://127.0.0.1:{port}"
    if name == "codex":
        (home / ".codex").mkdir()
        (home / ".codex/config.toml").write_text(
            f'model = "scripted"\nmodel_provider = "local"\ncheck_for_update_on_startup = false\n'
            f'[analytics]\nenabled = false\n'
            f'[model_providers.local]\nname = "local"\nbase_url = "{base}/v1"\nwire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n'
            f"request_max_retries = 0\nstream_max_retries = 0\n"
        )
        return {"OPENAI_API_KEY": "sk-local"}
    if name == "claude":
        (home / ".claude").mkdir()
        return {
            "ANTHROPIC_BASE_URL": base,
            "ANTHROPIC_API_KEY": "sk-local",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
        }
    if name == "gemini":
        (home / ".gemini").mkdir()
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
        }
        (home / ".gemini/settings.json").write_text(json.dumps(settings))
        return {"GOOGLE_GEMINI_BASE_URL": base, "GEMINI_API_KEY": "local", "GEMINI_MODEL": "gemini-2.5-pro"}
    if name == "opencode":
        folder = home / ".config/opencode"
        folder.mkdir(parents=True)
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{base}/v1", "apiKey": "local"},
            "models": {"scripted": {"name": "scripted", "tool_call": True}},
        }
        config = {"model": "local/scripted", "small_model": "local/scripted", "autoupdate": False, "share": "disabled", "provider": {"local": provider}}
        (folder / "opencode.json").write_text(json.dumps(config))
        return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    if name == "copilot":
        return {
            "COPILOT_PROVIDER_BASE_URL": f"{base}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": "local",
            "COPILOT_MODEL": "scripted",
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
        }
    raise ValueError(name)


class Shell:
    """A terminal with cohab in it."""

    def __init__(self, binaries, shell, programs, name, port):
        self.folder = tempfile.TemporaryDirectory(prefix="ca-")
        root = pathlib.Path(self.folder.name).resolve()
        self.home = root / "home"
        self.cohab_home = root / "cohab"
        for folder in (self.home, self.home / "sub", self.cohab_home, self.cohab_home / "config", root / "tmp"):
            folder.mkdir()
            folder.chmod(0o700)
        (self.home / ".bashrc").write_text("PS1='ready$ '\n")
        (self.home / ".zshrc").write_text("PS1='ready$ '\n")
        fish = self.home / ".config/fish"
        fish.mkdir(parents=True)
        (fish / "config.fish").write_text("set -g fish_greeting\nfunction fish_prompt; printf 'ready$ '; end\nfunction fish_right_prompt; end\n")
        variables = point_at(name, self.home, port)
        environment = {
            "HOME": str(self.home), "COHAB_HOME": str(self.cohab_home), "TMPDIR": str(root / "tmp"), "PATH": f"{programs}:{os.environ['PATH']}",
            "SHELL": shutil.which(shell), "TERM": "xterm-256color", "LANG": "C.UTF-8", "USER": "tester", **variables,
        }
        self.seen = b""
        self.environment = environment
        self.binaries = binaries
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(self.home)
            os.execve(f"{binaries}/cohab", ["cohab"], environment)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))

    def read(self, wait):
        ready, _, _ = select.select([self.terminal], [], [], wait)
        if ready:
            try:
                self.seen += os.read(self.terminal, 65536)
            except OSError:
                return

    def text(self, since=0):
        return ESCAPES.sub(b"", self.seen[since:]).decode(errors="replace").replace("\r", "")

    def wait(self, words, since=0, patience=PATIENCE):
        """The word that appears first, or None."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            text = self.text(since)
            for word in words:
                if word in text:
                    return word
            self.read(0.2)
        return None

    def send(self, text):
        os.write(self.terminal, text.encode())

    def submit(self, line):
        mark = len(self.seen)
        self.send(line)
        self.wait([line[-10:]], mark, 10)
        self.send("\r")
        return mark

    def log(self):
        logs = sorted((self.cohab_home).rglob("*.log"))
        return "\n".join(log.read_text(errors="replace")[-2000:] for log in logs)

    def close(self):
        for sign in (signal.SIGHUP, signal.SIGKILL):
            try:
                os.kill(self.pid, sign)
            except ProcessLookupError:
                break
            time.sleep(0.2)
        try:
            os.waitpid(self.pid, 0)
        except ChildProcessError:
            pass
        subprocess.run([f"{self.binaries}/cohab", "daemon", "stop"], env=self.environment, capture_output=True, timeout=20, check=False)
        os.close(self.terminal)
        try:
            self.folder.cleanup()
        except OSError:
            pass


def answer_cards(shell, mark, key, until):
    """Answers all cards of a turn with a key; returns the word that ended it."""
    start = mark
    for _ in range(6):
        word = shell.wait([*until, "\u256d "], start)
        if word in until or word is None:
            return word
        # A card takes no key at first, and looks at what the command touches.
        time.sleep(2)
        shell.read(0)
        start = len(shell.seen)
        shell.send(key)
    return None


def sticks(shell, name):
    mark = shell.submit(f"? @{name} please run: cd sub && export FOO=bar")
    word = answer_cards(shell, mark, "y", [" END", "cannot", "is gone", "not signed in", "error"])
    if word != " END":
        return False, shell.text(mark)[-400:]
    time.sleep(1)
    mark = shell.submit("echo now=$FOO=$PWD=")
    found = shell.wait(["now=bar="], mark, 15) and shell.wait(["/sub="], mark, 15)
    return bool(found), shell.text(mark)[-300:]


def is_refused(shell, name):
    target = shell.home / "made.txt"
    # The prompt has to stand, and the shell to be at rest.
    time.sleep(2)
    shell.read(0)
    mark = shell.submit(f"? @{name} please run: touch {target}")
    if not shell.wait(["\u256d "], mark):
        return False, shell.text(mark)[-300:]
    time.sleep(2)
    shell.send("n")
    shell.wait(["Reason"], mark, 10)
    shell.send("\r")
    word = shell.wait([" END", "is gone"], mark)
    return word == " END" and not target.exists(), shell.text(mark)[-400:]


def try_agent(binaries, programs, name, shell_name, verbose):
    model = Model()
    shell = Shell(binaries, shell_name, programs, name, model.port)
    results = {}
    try:
        if not shell.wait(["ready$"], 0, 20):
            return {"sticks": (False, "no prompt"), "refused": (False, "no prompt")}
        results["sticks"] = sticks(shell, name)
        results["refused"] = is_refused(shell, name) if results["sticks"][0] else (False, "not tried")
        if verbose:
            print(shell.text()[-3000:], file=sys.stderr)
            print(shell.log(), file=sys.stderr)
            for path, body in model.requests[:4]:
                print(path, json.dumps([name for name, _ in [(tool.get("name") or str(tool)[:60], 0) for tool in body.get("tools") or []]])[:600], file=sys.stderr)
        return results
    finally:
        shell.close()
        model.close()


def main():
    parser = argparse.ArgumentParser(prog="scripts/interop agents", description=__doc__)
    parser.add_argument("--binaries", required=True, help="folder of cohab and cohabd")
    parser.add_argument("--programs", help="folder of the agents' programs; default: they are installed from npm")
    parser.add_argument("--only", action="append", choices=sorted(PACKAGES), help="only this agent; may be given again")
    parser.add_argument("--shell", action="append", choices=SHELLS, help="only this shell; may be given again")
    parser.add_argument("--verbose", action="store_true", help="show what the terminal showed")
    args = parser.parse_args()
    programs = args.programs or installed(args.only or sorted(PACKAGES))
    failed = False
    for name in args.only or sorted(PACKAGES):
        for shell in args.shell or SHELLS:
            if not shutil.which(shell):
                print(f"{name:10}{shell:6}n/a: the shell is not installed")
                continue
            results = try_agent(args.binaries, programs, name, shell, args.verbose)
            words = {column: "ok" if good else "FAILED" for column, (good, _) in results.items()}
            print(f"{name:10}{shell:6}" + "  ".join(f"{column} {word}" for column, word in words.items()), flush=True)
            for column, (good, why) in results.items():
                if not good:
                    failed = True
                    print(f"    {column}: " + " / ".join(why.split("\n"))[-500:])
    sys.exit(1 if failed else 0)


def installed(names):
    """Installs the agents below the cache, once."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "cohab-interop/agents"
    cache.mkdir(parents=True, exist_ok=True)
    packages = [PACKAGES[name] for name in names]
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", str(cache), *packages], check=True, stdout=sys.stderr)
    return str(cache / "node_modules/.bin")


main()
