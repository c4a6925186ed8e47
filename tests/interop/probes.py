"""What is tried on each wire of each server. A column is good when all of its probes are.

A probe asks through a tap and raises `Failed` with the reason. A server without the scene is `NotApplicable`.
"""

import os
import shutil
import time

import scene
from ask import KEY
from server import CACHE

# Longest time from Ctrl-C to the end of the connection; on a busy machine COHAB_TEST_SLACK says how much longer.
CANCEL_LIMIT_S = 0.2 * float(os.environ.get("COHAB_TEST_SLACK", 1))
# Enough that a whole answer is never meant.
ALWAYS = 100


class Failed(Exception):
    """Not as it must be."""


class NotApplicable(Exception):
    """The server cannot play this."""


def expect(holds, what, turn=None):
    if not holds:
        raise Failed(f"{what}: {turn}" if turn else what)


class Row:
    """A face of a server, with the client that speaks its wire and the tap between them."""

    def __init__(self, server, face, tap, cohab):
        self.server, self.face, self.tap, self.cohab = server, face, tap, cohab
        # The body of a whole answer, by scene.
        self.whole = {}

    def ask(self, name, arranged=None, **more):
        """Plays a scene; the tap's faults, if any, are set before."""
        self.server.arrange(arranged or name)
        self.tap.exchanges = []
        turn = self.cohab.ask(scene.question(name), **more)
        expect(KEY not in f"{turn.events}{turn.errors}", "the key is shown", turn)
        expect(not any(KEY in exchange.line for exchange in self.tap.exchanges), "the key is in an address", turn)
        for event in turn.of("error"):
            expect("{" not in event["message"], "JSON in a message for people", turn)
        return turn

    def keep(self, column):
        """Writes what went over the line since the last question, as it went."""
        name = "-".join([self.server.name, *self.face.through.split(), self.face.wire, column.replace(" ", "-")])
        folder = CACHE / "failed" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        taps = {"": self.tap, "behind-": self.server.between}
        for side, exchanges in {side: tap.exchanges for side, tap in taps.items() if tap}.items():
            for number, exchange in enumerate(exchanges, 1):
                (folder / f"{side}{number}-request").write_bytes(exchange.request)
                (folder / f"{side}{number}-answer").write_bytes(exchange.answer)
        return folder

    def unbroken(self, name):
        """The body of the first answer of a scene when nothing breaks."""
        if name not in self.whole:
            self.tap.clear()
            self.ask(name)
            self.whole[name] = self.tap.questions[0].answer_body
        return self.whole[name]



def after_first_text(body):
    """How much of a body ends with the first event that has text."""
    start = body.find(scene.TEXT[:5].encode())
    # Two ends of lines, whatever kind they are.
    return body.find(b"\n", start) + 3 if start >= 0 else len(body) // 2


def within_call(body):
    """How much of a body ends inside the arguments of the first call."""
    start = body.find(b"made-")
    return start if start >= 0 else len(body) // 2


def answered(turn, text):
    expect(turn.reason == "answered" and turn.status == 0, "not answered", turn)
    expect(turn.text.strip() == text, f"the text is {turn.text!r}", turn)


def failed_honestly(turn):
    expect(turn.reason == "failed" and turn.status == 1, "not failed", turn)
    expect(turn.error, "no error is told", turn)
    expect(not turn.files, "a command of an incomplete answer ran", turn)


def text(row):
    row.tap.clear()
    turn = row.ask("text")
    answered(turn, scene.TEXT)
    expect(len(row.tap.questions) == 1, f"{len(row.tap.questions)} requests", turn)
    question = row.tap.questions[0]
    expect(scene.question("text") in question.body and '"bash"' in question.body, f"the request is {question.body[-300:]}")
    expect(KEY in question.headers, "the key is not sent")
    row.whole["text"] = question.answer_body


def tool_loop(row):
    row.tap.clear()
    turn = row.ask("tool")
    answered(turn, scene.DONE)
    expect(turn.files == {"one.txt": scene.result("one") + "\n"}, "the command did not run once", turn)
    expect(len(row.tap.questions) == 2, f"{len(row.tap.questions)} requests", turn)
    expect(scene.result("one") in row.tap.questions[1].body, "the result did not go back", turn)
    row.whole["tool"] = row.tap.questions[0].answer_body


def parallel_calls(row):
    row.tap.clear()
    turn = row.ask("parallel")
    answered(turn, scene.DONE)
    files = {f"{word}.txt": scene.result(word) + "\n" for word in ("left", "right")}
    expect(turn.files == files, "not both commands ran once", turn)
    expect(len(row.tap.questions) == 2, f"{len(row.tap.questions)} requests", turn)
    places = [row.tap.questions[1].body.find(scene.result(word)) for word in ("left", "right")]
    expect(-1 < places[0] < places[1], f"the results are not there in order: {places}", turn)


def reasoning(row):
    row.tap.clear()
    turn = row.ask("reason")
    answered(turn, scene.CONCLUSION)
    expect(turn.reasoning.strip() == scene.REASONING, f"the reasoning is {turn.reasoning!r}", turn)


def reasoning_before_a_call(row):
    """The reasoning before a call; where the wire wants it back, it goes back with the result."""
    row.tap.clear()
    turn = row.ask("weigh")
    answered(turn, scene.DONE)
    expect(turn.reasoning.strip() == scene.REASONING, f"the reasoning is {turn.reasoning!r}", turn)
    expect(turn.files == {"one.txt": scene.result("one") + "\n"}, "the command did not run once", turn)
    if row.face.wire == "anthropic":
        expect(scene.REASONING in row.tap.questions[1].body, "the reasoning did not go back", turn)


def error_mid_stream(row):
    row.tap.clear()
    turn = row.ask("tool", "error")
    failed_honestly(turn)
    expect(len(row.tap.questions) <= 3, f"{len(row.tap.questions)} requests for one question", turn)
    first = row.tap.questions[0].answer
    if not first.startswith(b"HTTP/1.1 200 "):
        raise NotApplicable("the server makes a refusal with a status of it, which was taken well")
    expect(b"data:" in first, f"the server did not begin to answer: {first[:200]}")


def cut_text(row):
    """The line breaks in the middle of a text, once: the text is there once in the end."""
    row.tap.cut(after_first_text(row.unbroken("text")), times=1)
    turn = row.ask("text")
    answered(turn, scene.TEXT)
    expect(len(row.tap.questions) == 2, f"{len(row.tap.questions)} requests", turn)


def cut_call(row):
    """The line breaks in the middle of a call, each time."""
    whole = row.unbroken("tool")
    for limit in (within_call(whole), len(whole) // 3):
        row.tap.cut(limit, times=ALWAYS)
        failed_honestly(row.ask("tool", "tool-again"))
    row.tap.clear()


def cut_by_the_server(row):
    """The same by the server's own means."""
    for name in ("cut-text", "drop-text"):
        if name in row.server.scenes:
            answered(row.ask(name), scene.TEXT)
    for name in ("cut-tool", "drop-tool"):
        if name in row.server.scenes:
            failed_honestly(row.ask(name))


def refused(row):
    """429 with a second to wait, then an answer."""
    row.tap.clear()
    turn = row.ask("refused")
    answered(turn, scene.TEXT)
    expect(len(row.tap.questions) == 2, f"{len(row.tap.questions)} requests", turn)
    expect(any(notice["kind"] == "retry" for notice in turn.of("notice")), "the wait is not told", turn)
    expect(turn.seconds >= 1, f"asked again after {turn.seconds:.1f} s", turn)


def overflow(row):
    """More piped text than the model's context holds: it is sent shorter, or refused and told. At most one more request."""
    row.tap.clear()
    turn = row.ask("overflow", piped="x" * row.server.overflow_bytes)
    requests = [question.request for question in row.tap.questions]
    expect(1 <= len(requests) <= 2, f"{len(requests)} requests", turn)
    if turn.status == 0:
        expect(turn.reason == "answered" and not turn.files, "not answered", turn)
        expect(len(requests[-1]) < row.server.overflow_bytes, "what was too long was taken", turn)
    else:
        failed_honestly(turn)
        expect("context" in turn.error or "too long" in turn.error, "the cause is not told", turn)


def cancel(row):
    """Ctrl-C while the server is silent in the middle of an answer; then another question."""
    row.tap.hold(after_first_text(row.unbroken("text")))
    turn = row.ask("text", cancel_at=lambda event: event["type"] == "text")
    row.tap.clear_faults()
    expect(turn.reason in ("cancelled", None) and turn.status == 130, "not cancelled", turn)
    until = time.monotonic() + 2
    while row.tap.questions[0].left_at is None and time.monotonic() < until:
        time.sleep(0.005)
    left_at = row.tap.questions[0].left_at
    expect(left_at is not None, "the connection stays open", turn)
    took = left_at - row.cohab.cancelled_at
    expect(took <= CANCEL_LIMIT_S, f"the connection was closed after {took * 1000:.0f} ms", turn)
    answered(row.ask("text"), scene.TEXT)


def probe_model(row):
    """Two calls as `cohab probe-model` tells them; it runs nothing."""
    row.tap.clear()
    row.server.arrange("parallel")
    fold, files = row.cohab.probe_model(scene.question("parallel"))
    calls = [(call["name"], call["arguments"]) for call in fold.get("tool_calls", [])]
    expect(calls == [("bash", {"command": scene.command(word)}) for word in ("left", "right")], f"the calls are {calls}: {fold}")
    expect(fold["stop"] == "tool" and fold["error"] is None, f"not ended by calls: {fold}")
    expect(not files, f"something ran: {files}")
    expect(KEY not in str(fold), f"the key is shown: {fold}")


def usage(row):
    row.tap.clear()
    turn = row.ask("text")
    answer = row.tap.questions[0].answer_body
    if not any(word in answer for word in (b'"usage"', b'"usageMetadata"', b'"eval_count"')):
        raise NotApplicable("the server sends none")
    known = tuple(turn.usage.get(name) for name in ("input_tokens", "output_tokens"))
    expect(None not in known, f"unknown in {turn.usage}", turn)
    expect(known == (row.server.usage or known), f"not {row.server.usage}", turn)


COLUMNS = {
    "text": [text],
    "tool loop": [tool_loop],
    "parallel calls": [parallel_calls],
    "reasoning": [reasoning, reasoning_before_a_call],
    "error mid-stream": [error_mid_stream],
    "cut stream": [cut_text, cut_call, cut_by_the_server],
    "refused": [refused],
    "overflow": [overflow],
    "cancel": [cancel],
    "usage": [usage],
    "probe-model": [probe_model],
}


def verdict(row, column):
    """`ok`, `FAILED` or `n/a`, and why."""
    reason = row.server.not_applicable.get(column) or row.face.not_applicable.get(column)
    if reason:
        return "n/a", reason
    try:
        for probe in COLUMNS[column]:
            probe(row)
    except Failed as failure:
        return "FAILED", f"{probe.__name__}: {failure}; what went over the line is in {row.keep(column)}"
    except NotApplicable as reason:
        return "n/a", str(reason)
    finally:
        row.tap.clear_faults()
    return "ok", None
