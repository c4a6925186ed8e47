"""llmock of PyPI: a mock with faults on order, told before each question what the next answers are."""

import sys

import scene
from server import Face, Server, pip


def reply(text=None, calls=(), times=1):
    calls = [{"name": "bash", "arguments": {"command": scene.command(word)}} for word in calls]
    return {"type": "reply", "text": text, "tool_calls": calls, "times": times}


def fault(kind, after_chunks, times=1):
    return {"type": "stream_fault", "kind": kind, "after_chunks": after_chunks, "times": times}


def fault_in_call(kind, after_chunks):
    """Gemini's calls come in one piece with the end: there the fault is before it."""
    gemini = fault(kind, 0, times=None) | {"match": {"provider": "gemini", "stream": True}}
    return [gemini, fault(kind, after_chunks, times=None), reply(None, ["one"], times=None)]


BEHAVIOURS = {
    "text": [reply(scene.TEXT, times=None)],
    "tool": [reply(None, ["one"]), reply(scene.DONE)],
    "tool-again": [reply(None, ["one"], times=None)],
    "parallel": [reply(None, ["left", "right"]), reply(scene.DONE)],
    "error": fault_in_call("malformed", 2),
    "cut-text": [fault("truncate", 3), reply(scene.TEXT, times=None)],
    "drop-text": [fault("disconnect", 3), reply(scene.TEXT, times=None)],
    "cut-tool": fault_in_call("truncate", 3),
    "drop-tool": fault_in_call("disconnect", 3),
    "refused": [{"type": "fail", "status": 429, "retry_after": 1}, reply(scene.TEXT)],
    "overflow": [{"type": "fail", "status": 400, "code": "context_length_exceeded",
                  "message": "This model's maximum context length is 8192 tokens."}],
}


class Llmock(Server):
    name, version = "llmock", "0.2.2"
    faces = [
        Face("openai-chat", "/v1"), Face("anthropic", "/anthropic"), Face("openai-responses", "/v1"), Face("gemini", "/gemini"),
    ]
    scenes = tuple(BEHAVIOURS)
    not_applicable = {"reasoning": "the server never reasons"}

    def install(self):
        pip(self.folder, f"llmock=={self.version}")

    def command(self):
        return [sys.executable, self.folder / "bin/llmock", "serve", "--port", self.port, "--tool-mode", "off"]

    def environment(self):
        return {"PYTHONPATH": str(self.folder)}

    def arrange(self, scene_name):
        self.tell("/_llmock/reset", {})
        self.tell("/_llmock/scenario", {"behaviors": BEHAVIOURS.get(scene_name, [])})
