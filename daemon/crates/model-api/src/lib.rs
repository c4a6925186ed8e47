//! The interface between the agent and the providers of models.
//!
//! - [`Message`] and its parts: a conversation, independent of any provider.
//! - [`ModelProvider`]: answers a [`ModelRequest`] with a stream of [`ModelEvent`]s, of which the last one is terminal.
//! - [`ProviderError`]: a failure, by families that callers decide on.
//! - [`TokenUsage`], [`ModelService`]: the usage of a call, and the place where the model runs.
//!
//! This crate names no wire, no service and no HTTP client.

mod error;
mod message;
mod provider;
mod usage;

pub use self::{
    error::{ProviderError, ProviderErrorKind},
    message::{AssistantMessage, BrokenArguments, JsonObject, Message, ProviderData, ToolCall, ToolResult},
    provider::{ModelEvent, ModelInfo, ModelProvider, ModelRequest, StopClass, ToolSpec},
    usage::{ModelService, Overflow, TokenUsage},
};
