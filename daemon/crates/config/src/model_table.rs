//! Facts about models by their names: built-in context sizes, and the sizes and prices that the user writes into `models.toml`.

use std::sync::LazyLock;

use cohab_model_api::TokenUsage;
use serde::Deserialize;

/// Largest context that a table may name, in tokens.
const MAX_WINDOW_TOKENS: u64 = 100_000_000;
/// Smallest context that a table may name, in tokens.
const MIN_WINDOW_TOKENS: u64 = 1_024;
/// Highest price that a table may name, in US dollars for a million tokens.
const MAX_USD_PER_MTOK: f64 = 100_000.0;

/// The table of this release.
static KNOWN: LazyLock<ModelTable> =
    LazyLock::new(|| ModelTable::parse(include_str!("known_models.toml")).unwrap_or_default());

/// Entries by patterns; for each fact the first matching entry that has it decides.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelTable {
    model: Vec<TableEntry>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct TableEntry {
    #[serde(rename = "match")]
    pattern: Pattern,
    host: Option<Pattern>,
    context_window_tokens: Option<WindowTokens>,
    input_usd_per_mtok: Option<Price>,
    output_usd_per_mtok: Option<Price>,
    cache_read_usd_per_mtok: Option<Price>,
    cache_write_usd_per_mtok: Option<Price>,
}

/// Text in which `*` matches anything, without regard to case.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
struct Pattern(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u64")]
struct WindowTokens(u64);

/// US dollars for a million tokens, which equals millionths of a dollar for one token.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
struct Price(f64);

impl TryFrom<String> for Pattern {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let text = text.trim().to_ascii_lowercase();
        if text.is_empty() { Err("a pattern must not be empty") } else { Ok(Self(text)) }
    }
}

impl TryFrom<u64> for WindowTokens {
    type Error = String;

    fn try_from(tokens: u64) -> Result<Self, Self::Error> {
        if (MIN_WINDOW_TOKENS..=MAX_WINDOW_TOKENS).contains(&tokens) {
            return Ok(Self(tokens));
        }
        Err(format!("a context must be from {MIN_WINDOW_TOKENS} to {MAX_WINDOW_TOKENS} tokens, not {tokens}"))
    }
}

impl TryFrom<f64> for Price {
    type Error = String;

    fn try_from(usd: f64) -> Result<Self, Self::Error> {
        if (0.0..=MAX_USD_PER_MTOK).contains(&usd) {
            return Ok(Self(usd));
        }
        Err(format!("a price must be from 0 to {MAX_USD_PER_MTOK} dollars for a million tokens, not {usd}"))
    }
}

impl Pattern {
    /// Matches the whole text, or the text after its last `/`: gateways put the vendor in front.
    fn matches(&self, text: &str) -> bool {
        let text = text.to_ascii_lowercase();
        let model = text.rsplit('/').next().unwrap_or_default();
        self.matches_all(&text) || self.matches_all(model)
    }

    fn matches_all(&self, text: &str) -> bool {
        let mut parts = self.0.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = text.strip_prefix(first) else { return false };
        let mut last = None;
        for part in parts {
            if let Some(middle) = last.replace(part) {
                let Some(at) = rest.find(middle) else { return false };
                rest = &rest[at + middle.len()..];
            }
        }
        last.map_or(rest.is_empty(), |last| rest.ends_with(last))
    }
}

/// Prices of a million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
}

impl Prices {
    /// Cost of these tokens, in millionths of a US dollar; `None` if their number is unknown.
    #[must_use]
    pub fn cost_microusd(&self, usage: &TokenUsage) -> Option<u64> {
        let of = |tokens: Option<u64>, price: f64| tokens.unwrap_or(0) as f64 * price;
        let (input, output) = (usage.input?, usage.output?);
        let cached = of(usage.cache_read, self.cache_read) + of(usage.cache_write, self.cache_write);
        Some((of(Some(input), self.input) + of(Some(output), self.output) + cached).round() as u64)
    }
}

impl ModelTable {
    /// Reads a table.
    ///
    /// # Errors
    /// The first error in the text.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// Size of a model's context in tokens, by this table or the table of this release.
    #[must_use]
    pub fn context_window_tokens(&self, host: &str, model: &str) -> Option<u64> {
        let window = |table: &Self| table.first(host, model, |entry| entry.context_window_tokens);
        window(self).or_else(|| window(&KNOWN)).map(|tokens| tokens.0)
    }

    /// Prices of a model, by this table. Cached tokens without a separate price cost as much as others.
    #[must_use]
    pub fn prices(&self, host: &str, model: &str) -> Option<Prices> {
        let price = |of: fn(&TableEntry) -> Option<Price>| self.first(host, model, of).map(|price| price.0);
        let (input, output) = (price(|entry| entry.input_usd_per_mtok)?, price(|entry| entry.output_usd_per_mtok)?);
        let cache_read = price(|entry| entry.cache_read_usd_per_mtok).unwrap_or(input);
        let cache_write = price(|entry| entry.cache_write_usd_per_mtok).unwrap_or(input);
        Some(Prices { input, output, cache_read, cache_write })
    }

    fn first<T>(&self, host: &str, model: &str, value: impl Fn(&TableEntry) -> Option<T>) -> Option<T> {
        let is_meant = |entry: &&TableEntry| {
            entry.pattern.matches(model) && entry.host.as_ref().is_none_or(|pattern| pattern.matches_all(host))
        };
        self.model.iter().filter(is_meant).find_map(value)
    }
}

#[cfg(test)]
#[path = "model_table_tests.rs"]
mod tests;
