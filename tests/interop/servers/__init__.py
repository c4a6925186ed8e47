"""The servers, one file each. A new one is a file and a line here."""

from . import aimock, litellm, llama_cpp, llmock

SERVERS = [aimock.Aimock, llmock.Llmock, llama_cpp.LlamaCpp, litellm.LiteLlm]
