//! Lists all wires, in the order in which they are shown.

use super::{
    anthropic::Anthropic, gemini::Gemini, ollama::Ollama, openai_chat::OpenAiChat, openai_responses::OpenAiResponses,
    wire::Wire,
};

/// All wires.
pub static WIRES: &[&dyn Wire] = &[&Anthropic, &OpenAiChat, &OpenAiResponses, &Gemini, &Ollama];
