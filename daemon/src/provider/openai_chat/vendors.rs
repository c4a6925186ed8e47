//! Who speaks Chat Completions, and what is particular to each. One row a vendor.

use crate::provider::wire::{VENDOR, Vendor};

/// OpenAI first, then by name.
pub(super) static VENDORS: &[Vendor] = &[Vendor {
    id: "openai",
    name: "OpenAI",
    base_url: "https://api.openai.com/v1",
    key_variables: &["OPENAI_API_KEY"],
    base_url_variable: "OPENAI_BASE_URL",
    default_model: "gpt-4.1",
    rank: 1,
    ..VENDOR
}];
