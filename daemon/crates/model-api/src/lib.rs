//! The interface between the agent and the providers of models.
//!
//! - [`Message`] and its parts: a conversation, independent of any provider.
//! - [`Image`]: an image or PDF that a message shows.
//! - [`ModelProvider`]: answers a [`ModelRequest`] with a stream of [`ModelEvent`]s, of which the last one is terminal.
//! - [`ProviderError`]: a failure, by families that callers decide on.
//! - [`TokenUsage`], [`ModelService`]: the usage of a call, and the place where the model runs.
//! - [`calibration`] corrects the estimate of tokens by what a model's answers show; [`window_size`] decides how large its context is.
//! - [`Secrets`] takes secrets out of what leaves the daemon; only it makes a [`Scrubbed`], and what sends or stores takes nothing else.
//!
//! This crate names no wire, no service and no HTTP client.

pub mod calibration;
mod error;
mod image;
mod message;
mod provider;
mod secrets;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod usage;
pub mod window_size;

pub use self::{
    error::{ProviderError, ProviderErrorKind},
    image::{IMAGES_MAX_BYTES, Image, MAX_IMAGES},
    message::{
        AssistantMessage, BrokenArguments, JsonObject, Message, NO_APPROVER, ProviderData, ToolCall, ToolResult,
    },
    provider::{Escalate, ModelEvent, ModelInfo, ModelProvider, ModelRequest, StopClass, ToolSpec},
    secrets::{Channel, Scrub, Scrubbed, Secrets},
    usage::{ModelService, Overflow, TokenUsage},
};
