"""What the servers are made to say, and what must come of it. A question names its scene: `interop-NAME`."""

# The rocket stands where a server that counts in UTF-16 and cuts at twenty cuts it in two.
TEXT = "Greetings and grüße🚀 from a very small model."
REASONING = "First I weigh it."
CONCLUSION = "Then I answer it."
DONE = "All of it is finished."


def command(word):
    """A command whose output is in no request before it ran, and whose file shows how often it ran."""
    return f"printf 'made-%s\\n' {word} | tee -a {word}.txt"


def result(word):
    return f"made-{word}"


def question(scene):
    return f"Please do interop-{scene}."
