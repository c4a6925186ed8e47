//! Lists the possible services, the most likely first. Pure.

use std::collections::BTreeSet;

use cohab_models::{detect::LocalServer, http};
use cohab_wires::{vendor, wire::Vendor};
use reqwest::Url;

use super::Row;

/// One choice.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// A server that was found on this machine.
    Local(LocalServer),
    /// A vendor.
    Vendor(&'static Vendor),
    /// A server at an address that the user enters.
    Other,
    /// No model.
    Offline,
}

/// All choices with their rows: servers found here, vendors with a key, other vendors, servers that could run here, any other. `has`
/// reports which variables are set.
pub(super) fn targets(found: &[LocalServer], has: impl Fn(&str) -> bool) -> Vec<(Target, Row)> {
    let mut rows: Vec<(Target, Row)> = found.iter().map(local).collect();
    let mut vendors: Vec<(bool, &'static Vendor, Row)> = vendor::all()
        .map(|(_, vendor)| {
            let variable = vendor.key_variables.iter().find(|name| has(name));
            (variable.is_some(), vendor, row_of(vendor, variable.copied()))
        })
        .collect();
    vendors.retain(|(_, vendor, _)| {
        let is_found = |server: &LocalServer| server.url.starts_with(vendor.base_url);
        !vendor.is_local() || !found.iter().any(is_found)
    });
    // A service that speaks two wires is one choice: its first.
    let mut seen = BTreeSet::new();
    vendors.retain(|(_, vendor, _)| seen.insert((vendor.name, vendor.base_url)));
    // The sort keeps the order of the table among equals.
    vendors.sort_by_key(|(has_key, vendor, _)| (!has_key, vendor.is_local(), vendor.rank));
    rows.extend(vendors.into_iter().map(|(_, vendor, row)| (Target::Vendor(vendor), row)));
    rows.push((Target::Other, Row::new("Another server", "anything OpenAI-compatible, by its URL")));
    rows.push((Target::Offline, Row::new("No model", "the built-in assistant: no network, a fixed set of answers")));
    rows
}

fn local(server: &LocalServer) -> (Target, Row) {
    let host = Url::parse(&server.url).map(|url| http::host_of(&url)).unwrap_or_default();
    (Target::Local(server.clone()), Row::new(&server.server, format!("runs on this machine, at {host}")))
}

fn row_of(vendor: &Vendor, variable: Option<&str>) -> Row {
    let host = Url::parse(vendor.base_url).map(|url| http::host_of(&url)).ok();
    let remark = match (variable, host) {
        (Some(variable), _) => format!("key found in ${variable}"),
        (None, Some(host)) if vendor.is_local() => format!("not running at {host}"),
        (None, Some(host)) => host,
        (None, None) => "at an address of your own".to_owned(),
    };
    Row::new(vendor.name, remark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_already_comes_first_and_the_last_resort_last() {
        let server = LocalServer {
            url: "http://127.0.0.1:9999/v1".into(),
            server: "llama.cpp".into(),
            wire: "openai-chat",
            models: Vec::new(),
            model: "m".into(),
            can_call_tools: None,
            context_window_tokens: None,
        };
        let rows = targets(std::slice::from_ref(&server), |name| name == "OPENAI_API_KEY");
        let names: Vec<&str> = rows.iter().map(|(_, row)| row.name.as_str()).collect();
        assert_eq!(names[0], "llama.cpp");
        assert_eq!((names[1], rows[1].1.remark.as_str()), ("OpenAI", "key found in $OPENAI_API_KEY"));
        assert_eq!(names[2], "Anthropic");
        assert_eq!(names[names.len() - 2..], ["Another server", "No model"]);
    }
}
