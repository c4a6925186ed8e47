"""Writes a model file of a megabyte or two that says fixed sentences, for llama.cpp's server.

The network is a table of pairs: each token's row is its own unit vector, the one layer adds nothing, and the output matrix
names the token that follows. What is said depends on the last token of the prompt only, and that one the chat template picks
from the question. So a server that knows nothing of this runs its own tokenizer, template, grammar and parsers for real.
"""

import array
import struct

WIDTH = 512
END, START, STOP = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
U32, F32, BOOL, STRING, ARRAY, I32 = 4, 6, 7, 8, 9, 5
NORMAL, CONTROL, USER_DEFINED, UNUSED = 1, 3, 4, 5

# After the last message: which sentence to start. `MARK` is in the question, the cue is the last token of the prompt.
TEMPLATE = """\
{%- if tools %}<|im_start|>system
{% if messages[0].role == 'system' %}{{ messages[0].content }}
{% endif %}# Tools
<tools>{% for tool in tools %}
{{ tool | tojson }}{% endfor %}
</tools>
Answer with <tool_call>{"name": ..., "arguments": ...}</tool_call>.<|im_end|>
{% elif messages[0].role == 'system' %}<|im_start|>system
{{ messages[0].content }}<|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.role == 'user' %}<|im_start|>user
{{ message.content }}<|im_end|>
{% elif message.role == 'assistant' %}<|im_start|>assistant
{% if message.reasoning_content %}<think>
{{ message.reasoning_content }}
</think>

{% endif %}
{%- if message.content %}{{ message.content }}{% endif %}
{%- for call in message.tool_calls or [] %}
{%- if call.function %}{% set call = call.function %}{% endif %}
<tool_call>
{"name": "{{ call.name }}", "arguments": {{ call.arguments | tojson }}}
</tool_call>
{%- endfor %}<|im_end|>
{% elif message.role == 'tool' %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% set last = messages[-1] %}{% if last.role == 'tool' %}<|cue_done|>
{%- else %}CUES{% endif %}{% endif %}"""


def bytes_as_characters():
    """The printable stand-ins of byte-level tokenizers, in the order of the bytes."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    spare = iter(range(256, 512))
    return [chr(byte) if byte in plain else chr(next(spare)) for byte in range(256)]


def text(value):
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def pieces(sentence, taken):
    """Cuts a sentence into parts that occur once in all sentences, and marks them as taken: each part has one follower."""
    found, start = [], 0
    while start < len(sentence):
        end = start + 7
        while sentence[start:end] in taken.union(found) and end < len(sentence):
            end += 1
        found.append(sentence[start:end])
        start = end
    while found[-1] in taken.union(found[:-1]):
        found[-2:] = [found[-2] + found[-1]]
    taken.update(found)
    return found


class Vocabulary:
    def __init__(self, sentences):
        """`sentences`: by mark, what to say; a sentence that ends in an ellipsis is said over and over."""
        letters = bytes_as_characters()
        self.tokens = [*letters, letters[ord("t")] + letters[ord("h")], END, START, STOP]
        self.kinds = [NORMAL] * 257 + [CONTROL] * 3
        self.end = self.tokens.index(STOP)
        self.follower = {}
        taken = set(self.tokens)
        for mark, sentence in sentences.items():
            cue = self.add(f"<|cue_{mark}|>", CONTROL)
            chain = [self.add(part, USER_DEFINED) for part in pieces(sentence.removesuffix("…"), taken)]
            self.follower |= dict(zip([cue, *chain], [*chain, chain[0] if sentence.endswith("…") else self.end]))
        while len(self.tokens) < WIDTH:
            self.add(f"<unused_{len(self.tokens)}>", UNUSED)
        if len(self.tokens) > WIDTH:
            raise ValueError(f"{len(self.tokens)} tokens, at most {WIDTH}")

    def add(self, token, kind):
        self.tokens.append(token)
        self.kinds.append(kind)
        return len(self.tokens) - 1


def matrix(cells, columns=WIDTH, rows=WIDTH):
    values = array.array("f", bytes(4 * columns * rows))
    for (row, column), value in cells.items():
        values[row * columns + column] = value
    return (columns, rows), values.tobytes()


def tensors(vocabulary):
    unit = matrix({(token, token): 1.0 for token in range(WIDTH)})
    follows = {(vocabulary.follower.get(token, vocabulary.end), token): 2.0 for token in range(WIDTH)}
    ones = (WIDTH,), array.array("f", [1.0] * WIDTH).tobytes()
    nothing = matrix({})
    layer = {name: nothing for name in ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"]}
    layer |= {"attn_norm": ones, "ffn_norm": ones}
    named = {f"blk.0.{name}.weight": tensor for name, tensor in layer.items()}
    return named | {"token_embd.weight": unit, "output_norm.weight": ones, "output.weight": matrix(follows)}


def settings(vocabulary, template, context_tokens):
    def strings(values):
        return ARRAY, struct.pack("<IQ", STRING, len(values)) + b"".join(map(text, values))

    def number(value):
        return U32, struct.pack("<I", value)

    kinds = struct.pack(f"<IQ{WIDTH}i", I32, WIDTH, *vocabulary.kinds)
    return {
        "general.architecture": (STRING, text("llama")),
        "general.name": (STRING, text("fixed sentences")),
        "llama.context_length": number(context_tokens),
        "llama.embedding_length": number(WIDTH),
        "llama.block_count": number(1),
        "llama.feed_forward_length": number(WIDTH),
        "llama.attention.head_count": number(4),
        "llama.attention.layer_norm_rms_epsilon": (F32, struct.pack("<f", 1e-6)),
        "tokenizer.ggml.model": (STRING, text("gpt2")),
        "tokenizer.ggml.pre": (STRING, text("gpt-2")),
        "tokenizer.ggml.tokens": strings(vocabulary.tokens),
        "tokenizer.ggml.token_type": (ARRAY, kinds),
        "tokenizer.ggml.merges": strings(["t h"]),
        "tokenizer.ggml.bos_token_id": number(vocabulary.tokens.index(END)),
        "tokenizer.ggml.eos_token_id": number(vocabulary.end),
        "tokenizer.ggml.add_bos_token": (BOOL, b"\0"),
        "tokenizer.chat_template": (STRING, text(template)),
    }


def write(path, sentences, context_tokens=65536):
    """Writes the model. `sentences` by mark: a question with `interop-MARK` in it gets that sentence; `done` follows a result."""
    vocabulary = Vocabulary(sentences)
    marks = [mark for mark in sentences if mark != "done"]
    cues = "".join(f"{{% if 'interop-{mark}' in last.content %}}<|cue_{mark}|>{{% endif %}}" for mark in marks)
    keys = settings(vocabulary, TEMPLATE.replace("CUES", cues), context_tokens)
    parts = tensors(vocabulary)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(parts), len(keys))
    head += b"".join(text(key) + struct.pack("<I", kind) + value for key, (kind, value) in keys.items())
    offset, body = 0, b""
    for name, (shape, data) in parts.items():
        head += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, offset)
        data += bytes(-len(data) % 32)
        offset += len(data)
        body += data
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % 32) + body)
