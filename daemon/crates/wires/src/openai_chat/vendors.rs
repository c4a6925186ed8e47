//! Lists the vendors of Chat Completions and their quirks, one row for each. If the keys of several vendors are set, their ranks decide.

use crate::wire::{Quirk, VENDOR, Vendor};

/// Domains of Azure. Each customer has a separate host there.
pub(super) const AZURE_DOMAINS: &[&str] = &["openai.azure.com", "services.ai.azure.com", "cognitiveservices.azure.com"];

/// Services, then servers on this machine. A default model is named only if the vendor has kept the name for long.
pub(super) static VENDORS: &[Vendor] = &[
    Vendor {
        id: "openai",
        name: "OpenAI",
        base_url: "https://api.openai.com/v1",
        key_variables: &["OPENAI_API_KEY"],
        base_url_variable: "OPENAI_BASE_URL",
        default_model: "gpt-4.1",
        rank: 1,
        quirks: &[Quirk::MaxCompletionTokens],
        ..VENDOR
    },
    Vendor {
        id: "openrouter",
        name: "OpenRouter",
        base_url: "https://openrouter.ai/api/v1",
        key_variables: &["OPENROUTER_API_KEY"],
        default_model: "openrouter/auto",
        rank: 3,
        quirks: &[Quirk::NamesCaller, Quirk::CostOnRequest, Quirk::PassesCacheControl],
        ..VENDOR
    },
    Vendor {
        id: "azure",
        name: "Azure",
        domains: AZURE_DOMAINS,
        key_variables: &["AZURE_OPENAI_API_KEY", "AZURE_API_KEY"],
        base_url_variable: "AZURE_OPENAI_ENDPOINT",
        rank: 20,
        quirks: &[Quirk::ApiKeyHeader],
        ..VENDOR
    },
    Vendor {
        id: "deepseek",
        name: "DeepSeek",
        base_url: "https://api.deepseek.com",
        key_variables: &["DEEPSEEK_API_KEY"],
        default_model: "deepseek-chat",
        rank: 4,
        quirks: &[Quirk::ReasoningInCalls, Quirk::ThinkingSwitch],
        ..VENDOR
    },
    Vendor {
        id: "groq",
        name: "Groq",
        base_url: "https://api.groq.com/openai/v1",
        key_variables: &["GROQ_API_KEY"],
        default_model: "llama-3.3-70b-versatile",
        rank: 5,
        ..VENDOR
    },
    Vendor {
        id: "mistral",
        name: "Mistral",
        base_url: "https://api.mistral.ai/v1",
        key_variables: &["MISTRAL_API_KEY"],
        default_model: "mistral-large-latest",
        rank: 6,
        quirks: &[Quirk::ShortCallIds, Quirk::NoStreamOptions, Quirk::AnswerBehindResults],
        ..VENDOR
    },
    Vendor {
        id: "xai",
        name: "xAI",
        base_url: "https://api.x.ai/v1",
        key_variables: &["XAI_API_KEY"],
        default_model: "grok-4",
        rank: 7,
        ..VENDOR
    },
    Vendor {
        id: "together",
        name: "Together AI",
        base_url: "https://api.together.xyz/v1",
        key_variables: &["TOGETHER_API_KEY"],
        rank: 21,
        ..VENDOR
    },
    Vendor {
        id: "fireworks",
        name: "Fireworks AI",
        base_url: "https://api.fireworks.ai/inference/v1",
        key_variables: &["FIREWORKS_API_KEY"],
        rank: 22,
        ..VENDOR
    },
    Vendor {
        id: "cerebras",
        name: "Cerebras",
        base_url: "https://api.cerebras.ai/v1",
        key_variables: &["CEREBRAS_API_KEY"],
        rank: 23,
        ..VENDOR
    },
    Vendor {
        id: "moonshot",
        name: "Moonshot AI",
        base_url: "https://api.moonshot.ai/v1",
        key_variables: &["MOONSHOT_API_KEY"],
        rank: 24,
        ..VENDOR
    },
    Vendor {
        id: "zai",
        name: "Z.ai",
        base_url: "https://api.z.ai/api/paas/v4",
        key_variables: &["ZAI_API_KEY"],
        rank: 25,
        quirks: &[Quirk::ThinkingSwitch],
        ..VENDOR
    },
    Vendor {
        id: "perplexity",
        name: "Perplexity",
        base_url: "https://api.perplexity.ai",
        key_variables: &["PERPLEXITY_API_KEY"],
        default_model: "sonar-pro",
        rank: 26,
        quirks: &[Quirk::NoVersionFolder],
        ..VENDOR
    },
    Vendor {
        id: "nvidia",
        name: "NVIDIA",
        base_url: "https://integrate.api.nvidia.com/v1",
        key_variables: &["NVIDIA_API_KEY"],
        rank: 27,
        ..VENDOR
    },
    Vendor {
        id: "huggingface",
        name: "Hugging Face",
        base_url: "https://router.huggingface.co/v1",
        key_variables: &["HF_TOKEN"],
        rank: 28,
        ..VENDOR
    },
    Vendor { id: "lm-studio", name: "LM Studio", base_url: "http://127.0.0.1:1234/v1", ..VENDOR },
    Vendor { id: "llama-cpp", name: "llama.cpp", base_url: "http://127.0.0.1:8080/v1", ..VENDOR },
    Vendor { id: "vllm", name: "vLLM", base_url: "http://127.0.0.1:8000/v1", ..VENDOR },
    Vendor { id: "sglang", name: "SGLang", base_url: "http://127.0.0.1:30000/v1", ..VENDOR },
    Vendor { id: "jan", name: "Jan", base_url: "http://127.0.0.1:1337/v1", ..VENDOR },
    Vendor { id: "litellm", name: "LiteLLM", base_url: "http://127.0.0.1:4000/v1", ..VENDOR },
];
