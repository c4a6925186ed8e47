"""A model service of four wires for agents that others wrote: it calls the tool `run` of cohab's MCP server with the line in the question.

A question says `please run: LINE`. Without a result behind it the model calls the tool, with one it says `RESULT <text> END`.
"""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WISH = re.compile(r"please run: ([^\"\\\n<]+)")


def texts(value):
    """All strings of a JSON value, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def units(messages):
    """The parts of all messages, in order; some agents put a result and the next question into one message."""
    for message in messages:
        parts = message.get("parts") or message.get("content")
        if isinstance(parts, list) and message.get("role") != "tool":
            for part in parts:
                yield {"role": message.get("role"), "part": part}
        else:
            yield message


def is_own(unit):
    """Whether this comes from the model."""
    return unit.get("role") in ("assistant", "model") or unit.get("type") == "function_call"


def is_result(unit):
    """Whether this is the result of a tool."""
    if unit.get("role") == "tool" or unit.get("type") in ("function_call_output", "mcp_tool_call_output"):
        return True
    part = unit.get("part")
    return isinstance(part, dict) and (part.get("type") == "tool_result" or "functionResponse" in part)


def names(body):
    """The names of the tools on offer, each with its namespace, if it has one."""
    for tool in body.get("tools") or []:
        if tool.get("type") == "namespace":
            for inner in tool.get("tools", []):
                yield inner["name"], tool["name"]
        for declared in tool.get("functionDeclarations", []):
            yield declared["name"], None
        name = tool.get("name") or tool.get("function", {}).get("name")
        if name and tool.get("type") != "namespace":
            yield name, None


def run_tool(body):
    """The tool that runs a line in the user's shell."""
    offered = list(names(body))
    for name, namespace in offered:
        if name.endswith("run") and "cohab" in (namespace or name):
            return name, namespace
    return None, None


class Model:
    """The service; `requests` holds what it was asked."""

    def __init__(self):
        self.requests = []
        self.count = 0
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                listed = {"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": []}
                self.say(json.dumps(listed).encode(), "application/json")

            def do_POST(self):
                length = int(self.headers.get("content-length") or 0)
                data = self.rfile.read(length)
                try:
                    body = json.loads(data or b"{}")
                except ValueError:
                    body = {}
                model.requests.append((self.path, body))
                self.say(*model.answer(self.path, body))

            def say(self, data, kind):
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()

    def decide(self, body):
        """What the model does: a call of a tool, or text."""
        messages = body.get("messages") or body.get("input") or body.get("contents") or []
        if isinstance(messages, str):
            messages = [{"content": messages}]
        line, all_units = None, list(units(messages))
        for unit in all_units:
            found = WISH.findall(" ".join(texts(unit))) if not is_result(unit) and not is_own(unit) else []
            line = found[-1].strip() if found else line
        calls = [index for index, unit in enumerate(all_units) if is_own(unit) and line and line in " ".join(texts(unit))]
        # Some agents repeat the question behind each result.
        behind = all_units[calls[-1]:] if calls else []
        results = [" ".join(texts(unit)) for unit in behind if is_result(unit)]
        name, namespace = run_tool(body)
        if line and not results and name:
            self.count += 1
            return {"call": name, "namespace": namespace, "args": {"command": line}, "id": f"call_{self.count}"}
        if line and not results:
            return {"text": "NO TOOL END"}
        return {"text": f"RESULT {results[-1][-160:] if results else 'none'} END"}

    def answer(self, path, body):
        act = self.decide(body)
        if "generateContent" in path or "streamGenerateContent" in path:
            return gemini(act, "stream" in path)
        if path.endswith("count_tokens"):
            return json.dumps({"input_tokens": 10}).encode(), "application/json"
        if "/messages" in path:
            return anthropic(act, body.get("stream"))
        if "/responses" in path:
            return responses(act)
        return chat(act, body.get("stream"))


def sse(events, named=False):
    lines = []
    for event in events:
        if named:
            lines.append(f"event: {event['type']}\n")
        lines.append(f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n")
    return "".join(lines).encode(), "text/event-stream"


def chat(act, streams):
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    if "call" in act:
        call = {"index": 0, "id": act["id"], "type": "function", "function": {"name": act["call"], "arguments": json.dumps(act["args"])}}
        delta, reason = {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"
    else:
        delta, reason = {"role": "assistant", "content": act["text"]}, "stop"
    if not streams:
        whole = {**head, "object": "chat.completion", "usage": usage, "choices": [{"index": 0, "message": delta, "finish_reason": reason}]}
        return json.dumps(whole).encode(), "application/json"
    chunk = lambda delta, reason: {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
    return sse([chunk(delta, None), chunk({}, reason), {**head, "choices": [], "usage": usage}, "[DONE]"])


def responses(act):
    if "call" in act:
        item = {"type": "function_call", "id": "fc_" + act["id"], "call_id": act["id"], "name": act["call"], "arguments": json.dumps(act["args"]), "status": "completed"}
        if act["namespace"]:
            item["namespace"] = act["namespace"]
    else:
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": act["text"], "annotations": []}]}
    usage = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15}
    done = {"id": "resp_1", "object": "response", "status": "completed", "model": "scripted", "output": [item], "usage": usage}
    events = [{"type": "response.created", "response": {**done, "status": "in_progress", "output": []}}]
    events.append({"type": "response.output_item.added", "output_index": 0, "item": item})
    if "text" in act:
        events.append({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": act["text"]})
    events.append({"type": "response.output_item.done", "output_index": 0, "item": item})
    events.append({"type": "response.completed", "response": done})
    return sse(events, named=True)


def anthropic(act, streams):
    usage = {"input_tokens": 10, "output_tokens": 5}
    if "call" in act:
        block, reason = {"type": "tool_use", "id": "toolu_" + act["id"], "name": act["call"], "input": act["args"]}, "tool_use"
        empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(act["args"])}
    else:
        block, reason = {"type": "text", "text": act["text"]}, "end_turn"
        empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": act["text"]}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": [block], "stop_reason": reason, "stop_sequence": None, "usage": usage}
    if not streams:
        return json.dumps(message).encode(), "application/json"
    return sse([
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ], named=True)


def gemini(act, streams):
    part = {"functionCall": {"name": act["call"], "args": act["args"]}} if "call" in act else {"text": act["text"]}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    whole = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}], "usageMetadata": usage, "modelVersion": "scripted"}
    return sse([whole]) if streams else (json.dumps(whole).encode(), "application/json")
