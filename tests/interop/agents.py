"""Has agents that others wrote work in a live shell of cohab, with a scripted model behind them. `scripts/interop agents` says how.

With `--elsewhere` the agents' own command-line programs run beside the terminal, and reach its shared shell through `cohab mcp serve`.

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
# The same agents as programs of their own, and the arguments that have each work on one question without asking in its terminal.
ELSEWHERE = {
    "codex": ("@openai/codex", ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]),
    "claude": ("@anthropic-ai/claude-code", ["claude", "--mcp-config", "mcp.json", "--allowedTools", "mcp__cohab__run", "-p"]),
    "gemini": ("@google/gemini-cli", ["gemini", "--approval-mode", "yolo", "-p"]),
    "opencode": ("opencode-ai", ["opencode", "run"]),
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


def add_server(name, shell):
    """Tells an agent of the shared shell."""
    server = {"command": f"{shell.binaries}/cohab", "args": ["mcp", "serve"], "env": {
        variable: shell.environment[variable] for variable in ("HOME", "COHAB_HOME", "PATH", "TMPDIR")}}
    home = shell.home
    if name == "codex":
        pairs = ", ".join(f'{key} = "{value}"' for key, value in server["env"].items())
        with open(home / ".codex/config.toml", "a", encoding="utf-8") as file:
            file.write(f'[mcp_servers.cohab]\ncommand = "{server["command"]}"\nargs = ["mcp", "serve"]\nenv = {{ {pairs} }}\n')
    elif name == "claude":
        (home / "mcp.json").write_text(json.dumps({"mcpServers": {"cohab": server}}))
    elif name == "gemini":
        path = home / ".gemini/settings.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "mcpServers": {"cohab": {**server, "trust": True}}}))
    else:
        path = home / ".config/opencode/opencode.json"
        local = {"type": "local", "command": [server["command"], *server["args"]], "environment": server["env"], "enabled": True}
        path.write_text(json.dumps({**json.loads(path.read_text()), "mcp": {"cohab": local}}))


def work_elsewhere(shell, name, line, keys):
    """Has the agent's own program run a line in the shared shell; answers its card with these keys. Returns what it printed."""
    mark = len(shell.seen)
    command = [*ELSEWHERE[name][1], f"please run: {line}"]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, cwd=shell.home, env=shell.environment, text=True, start_new_session=True, **pipes) as agent:
        if shell.wait(["\u256d "], mark):
            # The card came while the user may have typed: a key takes it up first.
            time.sleep(2)
            shell.send("\t")
            for key in keys:
                time.sleep(1)
                shell.send(key)
        try:
            printed, _ = agent.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(agent.pid, signal.SIGKILL)
            printed = "it did not end in time: " + str(agent.communicate()[0])
    time.sleep(1)
    shell.read(0)
    return printed


def sticks_elsewhere(shell, name):
    mark = shell.submit("? /share")
    if not shell.wait(["shared as"], mark, 20):
        return False, shell.text(mark)[-300:]
    time.sleep(2)
    printed = work_elsewhere(shell, name, "cd sub && export FOO=bar", ["y"])
    mark = shell.submit("echo now=$FOO=$PWD=")
    found = shell.wait(["now=bar="], mark, 15) and shell.wait(["/sub="], mark, 15)
    return bool(found) and " END" in printed, printed[-300:] + shell.text(mark)[-200:]


def is_refused_elsewhere(shell, name):
    target = shell.home / "made.txt"
    mark = len(shell.seen)
    printed = work_elsewhere(shell, name, f"touch {target}", ["n", "\r"])
    was_refused = shell.wait(["you refused"], mark, 10)
    return bool(was_refused) and " END" in printed and not target.exists(), printed[-300:] + shell.text(mark)[-300:]


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


def try_agent(binaries, programs, name, shell_name, verbose, is_elsewhere):
    model = Model()
    shell = Shell(binaries, shell_name, programs, name, model.port)
    results = {}
    try:
        if not shell.wait(["ready$"], 0, 20):
            return {"sticks": (False, "no prompt"), "refused": (False, "no prompt")}
        if is_elsewhere:
            add_server(name, shell)
        does_stick, refuses = (sticks_elsewhere, is_refused_elsewhere) if is_elsewhere else (sticks, is_refused)
        results["sticks"] = does_stick(shell, name)
        results["refused"] = refuses(shell, name) if results["sticks"][0] else (False, "not tried")
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
    parser.add_argument("--elsewhere", action="store_true", help="the agents' own programs, in a shell that is shared")
    parser.add_argument("--verbose", action="store_true", help="show what the terminal showed")
    args = parser.parse_args()
    packages = {name: package for name, (package, _) in ELSEWHERE.items()} if args.elsewhere else PACKAGES
    names = [name for name in args.only or sorted(packages) if name in packages]
    programs = args.programs or installed([packages[name] for name in names])
    failed = False
    for name in names:
        for shell in args.shell or SHELLS:
            if not shutil.which(shell):
                print(f"{name:10}{shell:6}n/a: the shell is not installed")
                continue
            results = try_agent(args.binaries, programs, name, shell, args.verbose, args.elsewhere)
            words = {column: "ok" if good else "FAILED" for column, (good, _) in results.items()}
            print(f"{name:10}{shell:6}" + "  ".join(f"{column} {word}" for column, word in words.items()), flush=True)
            for column, (good, why) in results.items():
                if not good:
                    failed = True
                    print(f"    {column}: " + " / ".join(why.split("\n"))[-500:])
    sys.exit(1 if failed else 0)


def installed(packages):
    """Installs the agents below the cache, once."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "cohab-interop/agents"
    cache.mkdir(parents=True, exist_ok=True)
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", str(cache), *packages], check=True, stdout=sys.stderr)
    return str(cache / "node_modules/.bin")


main()
