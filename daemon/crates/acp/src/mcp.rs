//! The live shell as an MCP server: the messages. What a tool does becomes a call of the loop elsewhere.

use cohab_text::sanitize::one_line;
use serde_json::{Value, json};

use crate::{ask::Wish, wire};

/// Versions of the protocol that begin with `initialize`, the newest first.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The names of the tools.
pub(crate) const TOOLS: [&str; 6] = ["run", "last_command", "output", "cwd", "jobs", "history_search"];
/// Longest time that a caller may give a command, in milliseconds.
const TIMEOUT_MAX_MS: u64 = 3_600_000;

/// The live shell that an agent is offered.
#[derive(Clone, Debug)]
pub(crate) struct OfferedShell {
    /// Name of its kind, or `shell`.
    pub shell: &'static str,
    /// Name of the MCP server.
    pub server: String,
    /// Whether the names of its tools begin with its own.
    pub is_in_tool_names: bool,
    /// Whether programs come in that the user did not start here: a line names each.
    pub is_shared: bool,
}

impl OfferedShell {
    /// The name of a tool as the agent gets it.
    pub(crate) fn tool(&self, name: &str) -> String {
        if self.is_in_tool_names { format!("{}_{name}", self.server) } else { name.to_owned() }
    }
}

/// Longest name of a caller, in columns.
const CALLER_COLUMNS: usize = 40;

/// What is to be done about a message.
#[derive(Debug)]
pub(crate) enum Reaction {
    /// Nothing.
    None,
    /// Send this.
    Send(Value),
    /// Do this, then answer the request of this id.
    Call { id: Value, wish: Wish },
    /// The caller wants no answer to the request of this id.
    Cancel(Value),
}

/// Reads a message.
pub(crate) fn reaction(message: &Value, offered: &OfferedShell) -> Reaction {
    let shell = offered.shell;
    let method = message["method"].as_str().unwrap_or_default();
    let params = &message["params"];
    if message["id"].is_string() && !wire::is_short_id(&message["id"]) {
        // Its id is not repeated: it may be long.
        return Reaction::Send(wire::error(&Value::Null, wire::INVALID_REQUEST, wire::WRONG_ID));
    }
    let Some(id) = message.get("id").filter(|id| wire::is_short_id(id)) else {
        return match method {
            "notifications/cancelled" => Reaction::Cancel(params["requestId"].clone()),
            _ => Reaction::None,
        };
    };
    match method {
        "initialize" => Reaction::Send(wire::response(id, &initialized(params["protocolVersion"].as_str(), shell))),
        "ping" => Reaction::Send(wire::response(id, &json!({}))),
        "tools/list" => Reaction::Send(wire::response(id, &json!({"tools": tools(offered)}))),
        "tools/call" => match wish(params["name"].as_str().unwrap_or_default(), offered, &params["arguments"]) {
            Ok(wish) => Reaction::Call { id: id.clone(), wish },
            Err(reason) => Reaction::Send(wire::error(id, wire::INVALID_PARAMS, &reason)),
        },
        // A response to a request that was never made.
        "" => Reaction::None,
        _ => Reaction::Send(wire::error(id, wire::METHOD_NOT_FOUND, "there is no such method")),
    }
}

/// How a caller introduces itself, if the message does that: its name and version.
pub(crate) fn introduced(message: &Value) -> Option<String> {
    let client = &message["params"]["clientInfo"];
    let name = client["name"].as_str().filter(|_| message["method"] == "initialize")?;
    let version = client["version"].as_str().unwrap_or_default();
    Some(one_line(format!("{name} {version}").replace('`', "'").trim(), CALLER_COLUMNS))
}

/// The result of a tool.
pub(crate) fn result(text: &str, is_error: bool) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": is_error})
}

fn initialized(wanted: Option<&str>, shell: &str) -> Value {
    let version = wanted.filter(|wanted| VERSIONS.contains(wanted)).unwrap_or(VERSIONS[0]);
    let instructions = format!(
        "Commands run in the user's own live {shell} session, where the user sees them; `cd` and `export` stay. The user's policy \
         judges each command, and the user may refuse it.",
    );
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "cohab", "version": env!("CARGO_PKG_VERSION")},
        "instructions": instructions,
    })
}

fn tools(offered: &OfferedShell) -> Value {
    let tool = |name: &str, description: &str, properties: Value, required: Value| {
        let schema =
            json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
        json!({"name": offered.tool(name), "description": description, "inputSchema": schema})
    };
    let run = format!(
        "Runs a command line in the user's own live {} session. `cd`, `export` and the like stay, for later commands and for the \
         user. Returns the output and a line with exit status and folder.",
        offered.shell
    );
    json!([
        tool(
            "run",
            &run,
            json!({
                "command": {"type": "string", "description": "The line, as it would be typed."},
                "timeout_ms": {"type": "integer", "minimum": 1, "maximum": TIMEOUT_MAX_MS,
                    "description": "How long to wait for its end; it is not killed then."},
            }),
            json!(["command"])
        ),
        tool(
            "last_command",
            "Shows the last command of the live shell: its line, exit status and folder.",
            json!({}),
            json!([])
        ),
        tool(
            "output",
            "Shows the end of the output of the last command, in pages.",
            json!({
                "from_line": {"type": "integer", "minimum": 1}, "lines": {"type": "integer", "minimum": 1, "maximum": 200},
            }),
            json!([])
        ),
        tool("cwd", "Names the folder of the live shell.", json!({}), json!([])),
        tool("jobs", "Lists the jobs of the live shell.", json!({}), json!([])),
        tool(
            "history_search",
            "Finds commands of the live shell by a part of their line, the newest first.",
            json!({
                "query": {"type": "string"}, "limit": {"type": "integer", "minimum": 1, "maximum": 50},
            }),
            json!(["query"])
        ),
    ])
}

/// What a call of a tool wants done.
fn wish(name: &str, offered: &OfferedShell, arguments: &Value) -> Result<Wish, String> {
    let number = |name: &str| match &arguments[name] {
        Value::Null => Ok(None),
        value => value
            .as_u64()
            .filter(|number| *number > 0)
            .map(Some)
            .ok_or_else(|| format!("`{name}` must be a whole number above 0")),
    };
    let text = |name: &str| {
        arguments[name].as_str().map(str::to_owned).ok_or_else(|| format!("`{name}` must be text, and is required"))
    };
    let unknown = || format!("there is no tool `{}`", crate::failure::shown(name));
    let tool = TOOLS.into_iter().find(|tool| offered.tool(tool) == name).ok_or_else(unknown)?;
    Ok(match tool {
        "run" => {
            let timeout_ms = number("timeout_ms")?.map(|limit| limit.min(TIMEOUT_MAX_MS));
            Wish::Run { command: text("command")?, timeout_ms }
        }
        "jobs" => Wish::Run { command: "jobs".to_owned(), timeout_ms: None },
        "cwd" | "last_command" => Wish::Look(json!({"what": tool})),
        "output" => {
            let mut args = json!({"what": "output"});
            for field in ["from_line", "lines"] {
                if let Some(number) = number(field)? {
                    args[field] = number.into();
                }
            }
            Wish::Look(args)
        }
        "history_search" => {
            let mut args = json!({"what": "history_search", "query": text("query")?});
            if let Some(limit) = number("limit")? {
                args["lines"] = limit.into();
            }
            Wish::Look(args)
        }
        _ => return Err(unknown()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(is_in_tool_names: bool) -> OfferedShell {
        OfferedShell { shell: "zsh", server: "cohab-1".into(), is_in_tool_names, is_shared: false }
    }

    fn sent(message: &Value) -> Value {
        match reaction(message, &offered(false)) {
            Reaction::Send(sent) => sent,
            other => panic!("not sent: {other:?}"),
        }
    }

    #[test]
    fn it_begins_with_a_version_that_both_know() {
        let with = |version: &str| {
            let message =
                json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": version}});
            sent(&message)["result"]["protocolVersion"].clone()
        };
        assert_eq!((with("2025-03-26"), with("2099-01-01")), (json!("2025-03-26"), json!(VERSIONS[0])));
        assert_eq!(sent(&json!({"id": "a", "method": "ping"})), json!({"jsonrpc": "2.0", "id": "a", "result": {}}));
        assert_eq!(sent(&json!({"id": 2, "method": "server/discover"}))["error"]["code"], wire::METHOD_NOT_FOUND);
        assert!(matches!(reaction(&json!({"method": "notifications/initialized"}), &offered(false)), Reaction::None));
        assert!(matches!(reaction(&json!([1]), &offered(false)), Reaction::None));
        let long = sent(&json!({"id": "x".repeat(wire::ID_MAX_BYTES + 1), "method": "ping"}));
        assert_eq!((&long["id"], &long["error"]["code"]), (&Value::Null, &json!(wire::INVALID_REQUEST)));
    }

    #[test]
    fn every_tool_of_the_list_can_be_called() {
        let list = sent(&json!({"id": 1, "method": "tools/list"}))["result"]["tools"].clone();
        let names: Vec<&str> =
            list.as_array().expect("a list").iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert_eq!(names, TOOLS);
        for name in names {
            let params = json!({"name": name, "arguments": {"command": "ls", "query": "a"}});
            let call = reaction(&json!({"id": 7, "method": "tools/call", "params": params}), &offered(false));
            assert!(matches!(call, Reaction::Call { id, .. } if id == 7), "{name}");
        }
    }

    #[test]
    fn wrong_arguments_are_named() {
        for (name, arguments, reason) in [
            ("run", json!({}), "`command` must be text"),
            ("run", json!({"command": 1}), "`command` must be text"),
            ("run", json!({"command": "ls", "timeout_ms": 0}), "`timeout_ms` must be"),
            ("output", json!({"lines": "3"}), "`lines` must be"),
            ("sudo", json!({}), "no tool `sudo`"),
        ] {
            let error = wish(name, &offered(false), &arguments).expect_err(name);
            assert!(error.contains(reason), "{error}");
        }
        assert!(matches!(
            wish("run", &offered(false), &json!({"command": "ls", "timeout_ms": u64::MAX})),
            Ok(Wish::Run { timeout_ms: Some(TIMEOUT_MAX_MS), .. })
        ));
        assert!(wish("cohab-1_cwd", &offered(true), &json!({})).is_ok());
        assert!(wish("cwd", &offered(true), &json!({})).is_err());
    }
}
