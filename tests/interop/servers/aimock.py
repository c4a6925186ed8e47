"""aimock of npm: a mock of all five wires, driven by a file that says what answers which question."""

import json
from pathlib import Path

import scene
from server import Face, Server, npm


def call(word):
    return {"name": "bash", "arguments": {"command": scene.command(word)}}


def fixtures():
    """The first that matches answers. Pace in what is cut: without it the server drops what it has not sent yet."""
    def asked(name, response, **more):
        return {"match": {"userMessage": f"interop-{name}", **more.pop("match", {})}, "response": response, **more}

    fresh = {"match": {"hasToolResult": False}}
    paced = {"latency": 30, "chunkSize": 10}
    overflow = {"message": "This model's maximum context length is 8192 tokens.", "type": "invalid_request_error",
                "code": "context_length_exceeded"}
    return [
        {"match": {"hasToolResult": True}, "response": {"content": scene.DONE}},
        asked("text", {"content": scene.TEXT, "usage": {"prompt_tokens": 31, "completion_tokens": 7, "total_tokens": 38}}),
        asked("tool", {"content": "Looking.", "toolCalls": [call("one")]}, **fresh),
        asked("parallel", {"toolCalls": [call("left"), call("right")]}, **fresh),
        asked("reason", {"content": scene.CONCLUSION, "reasoning": scene.REASONING}),
        asked("weigh", {"reasoning": scene.REASONING, "toolCalls": [call("one")]}, **fresh),
        asked("cut-text", {"content": scene.TEXT}, truncateAfterChunks=3, **paced, match={"sequenceIndex": 0}),
        asked("cut-text", {"content": scene.TEXT}),
        # Gemini's calls come in one piece with the end: only what is before them can be cut off.
        asked("cut-tool", {"content": "Looking at it.", "toolCalls": [call("one")]}, truncateAfterChunks=2, **paced),
        asked("refused", {"error": {"message": "Slow down.", "type": "rate_limit_error"}, "status": 429, "retryAfter": 1},
              match={"sequenceIndex": 0}),
        asked("refused", {"content": scene.TEXT}),
        asked("overflow", {"error": overflow, "status": 400}),
    ]


NOT_AS_OLLAMA = {
    "reasoning": "the server says `reasoning_content`, Ollama says `thinking`",
    "usage": "the server always says 0",
}


class Aimock(Server):
    name, version = "aimock", "1.43.0"
    # On some faces reasoning comes out only for names of models that reason.
    faces = [
        Face("openai-chat", "/v1", "gpt-5"), Face("anthropic", "", "claude-opus-4-5"), Face("openai-responses", "/v1", "gpt-5"),
        Face("gemini", "", "gemini-2.5-pro"), Face("ollama", "", "qwen3", "", NOT_AS_OLLAMA),
    ]
    usage = (31, 7)
    scenes = ("cut-text", "cut-tool")
    not_applicable = {"error mid-stream": "the server has no such fault"}

    def install(self):
        npm(self.folder, f"@copilotkit/aimock@{self.version}")

    def command(self):
        told = Path(self.orders.name) / "fixtures.json"
        told.write_text(json.dumps({"fixtures": fixtures()}))
        program = self.folder / "node_modules/@copilotkit/aimock/dist/cli.js"
        return ["node", program, "--port", self.port, "--fixtures", told, "--validate-on-load"]

    def arrange(self, scene_name):
        """Starts the counts of answers anew."""
        self.tell("/__aimock/reset", {})
        self.tell("/__aimock/fixtures", {"fixtures": fixtures()})
