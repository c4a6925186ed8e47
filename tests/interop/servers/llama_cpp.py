"""The server of llama.cpp itself, from the wheel of xllamacpp on PyPI, with a model of ours (`tiny_model.py`)."""

import json
import sys
from pathlib import Path

import scene
import tiny_model
from server import Face, Server, pip

CONTEXT_TOKENS = 32768
# A byte is a token here, so cohab's own part of a request is some eight thousand.
SERVE = """
import sys, threading, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.model_alias, params.hostnames, params.port = sys.argv[1], {"interop-model"}, ["127.0.0.1"], int(sys.argv[2])
params.n_ctx, params.n_parallel, params.use_jinja, params.warmup = int(sys.argv[3]), 1, True, False
server = xllamacpp.Server(params)
threading.Event().wait()
"""


def call(word):
    return "<tool_call>\n" + json.dumps({"name": "bash", "arguments": {"command": scene.command(word)}}) + "\n</tool_call>"


SENTENCES = {
    "text": scene.TEXT,
    "tool": call("one"),
    "parallel": call("left") + "\n" + call("right"),
    "reason": f"<think>\n{scene.REASONING}\n</think>\n\n{scene.CONCLUSION}",
    "weigh": f"<think>\n{scene.REASONING}\n</think>\n\n{call('one')}",
    "overflow": "This is too long.",
    "done": scene.DONE,
}


class LlamaCpp(Server):
    name, version = "llama.cpp", "2026.10.11549"
    faces = [Face("openai-chat", "/v1"), Face("anthropic"), Face("openai-responses", "/v1")]
    not_applicable = {"error mid-stream": "the server has no such fault", "refused": "the server refuses nobody"}
    # Longer than the window of the server, in tokens of a byte.
    overflow_bytes = 2 * CONTEXT_TOKENS

    def install(self):
        pip(self.folder, f"xllamacpp=={self.version}")

    def command(self):
        model = Path(self.orders.name) / "sentences.gguf"
        tiny_model.write(model, SENTENCES)
        return [sys.executable, "-c", SERVE, model, self.port, CONTEXT_TOKENS]

    def environment(self):
        return {"PYTHONPATH": str(self.folder)}
