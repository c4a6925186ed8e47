//! Lists and shows servers, without starting any.

use std::fmt::Write as _;

use cohab_mcp::{
    catalog::{Listed, Standing},
    consents::{ServerConsent, ToolConsent},
    server::{Author, Server},
};
use cohab_text::sanitize::{escaped_json, one_line, visible_controls};
use serde_json::{Value, json};

use super::place::{McpFiles, failed};
use crate::cli::Failure;

/// Longest target in a list, in columns.
const TARGET_COLUMNS: usize = 60;

pub(super) fn list(place: &McpFiles, as_json: bool) -> Result<String, Failure> {
    let servers = place.servers()?;
    if as_json {
        let all: Vec<Value> = servers.iter().map(|one| value(one, None)).collect();
        return Ok(escaped_json(&json!({ "servers": all }).to_string()) + "\n");
    }
    if servers.is_empty() {
        return Ok("There are no MCP servers. `cohab mcp add --help` shows how to add one.\n".to_owned());
    }
    let width = servers.iter().map(|one| one.server.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for Listed { server, standing } in &servers {
        let target = one_line(&server.target(), TARGET_COLUMNS);
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{:width$}  {}  {target}", server.name, word(standing));
    }
    for one in &servers {
        if !matches!(one.standing, Standing::Ready | Standing::Off) {
            let _ = writeln!(text, "{}", reason(&one.server, &one.standing));
        }
    }
    Ok(text)
}

pub(super) fn show(place: &McpFiles, name: &str, as_json: bool) -> Result<String, Failure> {
    let one = place.find(name)?;
    let consent = place.consents.read().map_err(failed)?.servers.remove(&one.server.id()).unwrap_or_default();
    if as_json {
        return Ok(escaped_json(&value(&one, Some(&consent)).to_string()) + "\n");
    }
    let Listed { server, standing } = &one;
    let settings = &server.settings;
    let is_signed_in = place.sign_ins().has(server);
    let place = match &server.author {
        Author::User => "your settings".to_owned(),
        Author::Project(folder) => format!("{}/.mcp.json", folder.display()),
    };
    let lines = |names: Vec<&String>| names.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let mut rows = vec![("name", server.name.clone()), ("from", place), ("state", word(standing).to_owned())];
    match &server.author {
        Author::Project(_) => rows.extend(definition_rows(server)),
        // Values of the user's own settings may be secret.
        Author::User => rows.extend([
            (what(server), server.target()),
            ("variables", lines(settings.env.keys().collect())),
            ("headers", lines(settings.headers.keys().collect())),
        ]),
    }
    rows.extend([
        ("signed in", if is_signed_in { "yes".to_owned() } else { String::new() }),
        ("purpose", settings.description.clone().unwrap_or_default()),
        ("allow", lines(settings.allow.iter().collect())),
        ("ask", lines(settings.ask.iter().collect())),
        ("deny", lines(settings.deny.iter().collect())),
    ]);
    for (tool, said) in &consent.tools {
        rows.push(match said {
            ToolConsent::Allowed { .. } => ("allowed", tool.clone()),
            ToolConsent::Denied => ("denied", tool.clone()),
            ToolConsent::Seen { .. } => continue,
        });
    }
    let mut text = table(&rows);
    if !matches!(standing, Standing::Ready | Standing::Off) {
        let _ = writeln!(text, "{}", reason(server, standing));
    }
    Ok(text)
}

fn what(server: &Server) -> &'static str {
    if server.settings.command.is_some() { "starts" } else { "asks" }
}

/// All that a project says of its server, with the values as they are written there.
pub(super) fn definition(server: &Server) -> String {
    table(&definition_rows(server))
}

fn definition_rows(server: &Server) -> Vec<(&'static str, String)> {
    let settings = &server.settings;
    let mut rows = vec![(what(server), settings.command.clone().or_else(|| settings.url.clone()).unwrap_or_default())];
    rows.extend(settings.args.iter().map(|argument| ("argument", argument.clone())));
    rows.extend(settings.env.iter().map(|(name, value)| ("variable", format!("{name}={value}"))));
    rows.extend(settings.headers.iter().map(|(name, value)| ("header", format!("{name}: {value}"))));
    rows.extend(server.files.iter().map(|file| ("its file", file.path.display().to_string())));
    // Nothing of what the user agrees to may be invisible.
    rows.into_iter().map(|(name, shown)| (name, visible_controls(&shown).replace('\n', "\\n"))).collect()
}

fn table(rows: &[(&str, String)]) -> String {
    let mut text = String::new();
    for (name, shown) in rows.iter().filter(|(_, shown)| !shown.is_empty()) {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{name:<10} {}", one_line(shown, usize::MAX));
    }
    text
}

fn value(Listed { server, standing }: &Listed, consent: Option<&ServerConsent>) -> Value {
    let settings = &server.settings;
    let project = match &server.author {
        Author::User => None,
        Author::Project(folder) => Some(folder.to_string_lossy()),
    };
    let mut value = json!({
        "name": server.name, "project": project, "state": word(standing), "command": settings.command,
        "args": settings.args, "url": settings.url, "env": settings.env.keys().collect::<Vec<_>>(),
        "headers": settings.headers.keys().collect::<Vec<_>>(), "description": settings.description,
        "allow": settings.allow, "ask": settings.ask, "deny": settings.deny,
    });
    if let Some(consent) = consent {
        let named = |is_meant: fn(&ToolConsent) -> bool| {
            consent.tools.iter().filter(|(_, said)| is_meant(said)).map(|(tool, _)| tool.clone()).collect::<Vec<_>>()
        };
        value["allowed_tools"] = json!(named(|said| matches!(said, ToolConsent::Allowed { .. })));
        value["denied_tools"] = json!(named(|said| matches!(said, ToolConsent::Denied)));
    }
    value
}

fn word(standing: &Standing) -> &'static str {
    match standing {
        Standing::Ready => "ready",
        Standing::Off => "off",
        Standing::NotTrusted => "not trusted",
        Standing::NotAllowed => "not allowed",
        Standing::Changed => "changed",
        Standing::Hidden => "hidden",
        Standing::Invalid(_) => "not valid",
    }
}

/// Why a server is not used, and what to do.
pub(super) fn reason(server: &Server, standing: &Standing) -> String {
    let name = &one_line(&server.name, 60);
    match standing {
        Standing::Ready => format!("`{name}` is used"),
        Standing::Off => format!("`{name}` is switched off by `enabled = false`"),
        Standing::NotTrusted => format!("`{name}` is not used: `cohab trust` trusts the project's folder"),
        Standing::NotAllowed => format!("`{name}` is not used: `cohab mcp allow {name}` allows it for this project"),
        Standing::Changed => {
            format!(
                "`{name}` is not used: the project changed it; look at it, then `cohab mcp allow {name}` allows it again"
            )
        }
        Standing::Hidden => format!("the project's `{name}` is not used: you have a server of that name"),
        Standing::Invalid(reason) => format!("the project's `{name}` is not valid: {}", one_line(reason, usize::MAX)),
    }
}
