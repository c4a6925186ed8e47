//! Adds and removes servers, and takes rights away.

use cohab_config::{
    ConfigFile,
    mcp::{self, TABLE},
};
use cohab_mcp::{
    catalog::{Listed, Standing},
    consents::ToolConsent,
    server::{Author, argument_problem},
};
use cohab_text::sanitize::one_line;
use toml_edit::{Array, InlineTable, Table, value};

use super::{
    arguments::{AddArgs, RuleArgs},
    login::forget,
    place::{McpFiles, failed},
};
use crate::cli::Failure;

pub(super) fn add(place: &McpFiles, args: &AddArgs) -> Result<String, Failure> {
    let AddArgs { name, url, env, header, description, command } = args;
    if !mcp::is_name(name) {
        return Err(Failure::Other(format!("`{}` cannot be a name", one_line(name, 60)), Some(mcp::NAME_RULE.into())));
    }
    if place.settings.contains_key(name) {
        let hint = format!("`cohab mcp rm {name}` removes it");
        return Err(Failure::Other(format!("there is a server `{name}` already"), Some(hint)));
    }
    if let Some(problem) = argument_problem(command) {
        let hint = format!("`--env` passes a variable on; then [mcp.{name}] has it in `env`");
        return Err(Failure::Other(problem, Some(hint)));
    }
    let mut table = Table::new();
    let mut words = command.iter();
    if let Some(program) = words.next() {
        table.insert("command", value(program));
        let arguments: Array = words.collect();
        if !arguments.is_empty() {
            table.insert("args", value(arguments));
        }
    }
    url.iter().for_each(|url| drop(table.insert("url", value(url))));
    let pairs = [("env", env, '=', "NAME=VALUE"), ("headers", header, ':', "NAME: VALUE")];
    for (key, given, separator, form) in pairs {
        let mut inner = InlineTable::new();
        for pair in given {
            let (name, text) = pair
                .split_once(separator)
                .ok_or_else(|| Failure::Other(format!("`{}` must be written as {form}", one_line(pair, 60)), None))?;
            inner.insert(name.trim(), text.trim().into());
        }
        if !inner.is_empty() {
            table.insert(key, value(inner));
        }
    }
    description.iter().for_each(|text| drop(table.insert("description", value(text))));
    ConfigFile::read(&place.paths.config_file())?.put_table(TABLE, name, Some(table))?;
    Ok(format!(
        "Added the MCP server `{name}`. `cohab mcp test {name}` tries it; cohab uses it from the next question on.\n"
    ))
}

pub(super) fn remove(place: &McpFiles, name: &str) -> Result<String, Failure> {
    let Listed { server, .. } = place.find(name)?;
    if let Author::Project(_) = &server.author {
        let hint = format!("`cohab mcp deny {name}` stops using it");
        return Err(Failure::Other(format!("`{name}` is a server of the project, in its .mcp.json"), Some(hint)));
    }
    ConfigFile::read(&place.paths.config_file())?.put_table(TABLE, name, None)?;
    place.consents.change(|all| drop(all.servers.remove(&server.id()))).map_err(failed)?;
    forget(place, &server)?;
    Ok(format!("Removed the MCP server `{name}`.\n"))
}

pub(super) fn deny(place: &McpFiles, RuleArgs { name, tool }: &RuleArgs) -> Result<String, Failure> {
    let Listed { server, standing } = place.find(name)?;
    let id = server.id();
    if let Some(tool) = tool {
        let denied = |tools: &mut std::collections::BTreeMap<_, _>| tools.insert(tool.clone(), ToolConsent::Denied);
        place.consents.change(|all| drop(denied(&mut all.servers.entry(id).or_default().tools))).map_err(failed)?;
        return Ok(format!("The tool `{}` of `{name}` is never called.\n", one_line(tool, 60)));
    }
    if server.author == Author::User {
        let hint = format!("`cohab mcp rm {name}` removes it; `enabled = false` in [mcp.{name}] switches it off");
        return Err(Failure::Other(format!("`{name}` is your own server; name a tool of it"), Some(hint)));
    }
    if !matches!(standing, Standing::Ready | Standing::Changed) {
        return Ok(format!("The project's server `{name}` was not allowed.\n"));
    }
    place.consents.change(|all| drop(all.servers.remove(&id))).map_err(failed)?;
    Ok(format!("The project's server `{name}` is no longer used.\n"))
}
