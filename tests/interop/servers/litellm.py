"""The gateway of litellm from PyPI, in front of llama.cpp's server; what breaks behind it comes out in its own words."""

import json
import sys
from pathlib import Path

from server import Face, Server, pip
from tap import Tap

from .llama_cpp import CONTEXT_TOKENS, LlamaCpp


class LiteLlm(Server):
    name, version = "litellm", "1.106.2"
    # It speaks to what is behind in another wire than to us, or passes on what it gets.
    faces = [
        Face("openai-chat", "/v1", "chat", "over chat"),
        Face("openai-chat", "/v1", "messages", "over messages"),
        Face("anthropic", "", "chat", "over chat"),
        Face("anthropic", "", "responses", "over responses", {"reasoning": "the server leaves it out"}),
        Face("anthropic", "", "messages", "over messages"),
        Face("openai-responses", "/v1", "chat", "over chat"),
        Face("openai-responses", "/v1", "responses", "over responses"),
        Face("gemini", "", "chat", "over chat", {"reasoning": "the server leaves it out"}),
    ]
    health = "/health/liveliness"
    not_applicable = {"refused": "the server behind it refuses nobody"}
    overflow_bytes = 2 * CONTEXT_TOKENS

    def __init__(self):
        super().__init__()
        self.behind = LlamaCpp()

    def install(self):
        pip(self.folder, f"litellm[proxy]=={self.version}")

    def start(self):
        self.behind.start()
        self.between = Tap(self.behind.port)
        super().start()

    def command(self):
        behind = f"http://127.0.0.1:{self.between.port}"
        addresses = {"chat": ("hosted_vllm", f"{behind}/v1"), "responses": ("openai", f"{behind}/v1"), "messages": ("anthropic", behind)}
        models = [
            {"model_name": name, "litellm_params": {"model": f"{kind}/interop-model", "api_base": base, "api_key": "none"}}
            for name, (kind, base) in addresses.items()
        ]
        settings = {
            "model_list": models,
            "general_settings": {"dangerously_permit_weak_or_unset_master_key": True},
        }
        told = Path(self.orders.name) / "settings.yaml"
        # JSON is YAML.
        told.write_text(json.dumps(settings))
        return [sys.executable, self.folder / "bin/litellm", "--config", told, "--port", self.port, "--host", "127.0.0.1"]

    def environment(self):
        return {"PYTHONPATH": str(self.folder), "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False"}

    def arrange(self, scene):
        self.between.clear()
        if scene == "error":
            self.between.cut(1500, times=100)

    def stop(self):
        super().stop()
        self.behind.stop()
        if self.between:
            self.between.close()
