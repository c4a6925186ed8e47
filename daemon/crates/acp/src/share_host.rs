//! The place of an agent in a turn that shares the shell: it lets programs find the shell and waits until the user ends that. It speaks
//! the Agent Client Protocol over its own streams and calls nothing itself; the calls come by the socket of the live shell.

use std::{
    io::{self, BufRead, Write},
    path::PathBuf,
};

use serde_json::{Value, json};

use crate::{
    shares::{Published, SharedShell, Shares},
    wire::{self, Incoming, PROTOCOL_VERSION},
};

/// Name of the only conversation.
const SESSION: &str = "share";

/// The shell that is to be shared.
pub struct HostArgs {
    /// What the user wants to call it; may be empty.
    pub name: String,
    /// The kind of the shell.
    pub shell: String,
    /// Where programs find it.
    pub shares: Shares,
    /// The socket of the shell.
    pub socket: PathBuf,
    /// What a caller has to show.
    pub token: String,
}

/// Shares the shell from the first prompt on, until the prompt is cancelled or the input ends.
///
/// # Errors
/// The streams cannot be read or written.
pub fn run(host: &HostArgs, input: impl BufRead, output: &mut impl Write) -> io::Result<()> {
    let mut folder = PathBuf::new();
    let mut shared: Option<(Value, Published)> = None;
    for line in input.lines() {
        let Ok(message) = serde_json::from_str::<Incoming>(&line?) else { continue };
        let id = message.id.unwrap_or_default();
        match message.method.as_deref().unwrap_or_default() {
            "initialize" => send(output, &wire::response(&id, &json!({"protocolVersion": PROTOCOL_VERSION})))?,
            "session/new" => {
                folder = message.params["cwd"].as_str().map(PathBuf::from).unwrap_or_default();
                send(output, &wire::response(&id, &json!({"sessionId": SESSION})))?;
            }
            "session/prompt" => {
                let wanted = SharedShell {
                    name: host.name.clone(),
                    shell: host.shell.clone(),
                    folder: folder.clone(),
                    socket: host.socket.clone(),
                    token: host.token.clone(),
                };
                match host.shares.publish(wanted) {
                    Ok(published) => {
                        let text = notice(&published.shared.name);
                        let content = json!({"type": "text", "text": text});
                        let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
                        let params = json!({"sessionId": SESSION, "update": update});
                        send(output, &wire::notification("session/update", &params))?;
                        shared = Some((id, published));
                    }
                    Err(error) => {
                        let reason = format!("the shell cannot be shared: {error}");
                        send(output, &wire::error(&id, wire::INTERNAL_ERROR, &reason))?;
                    }
                }
            }
            "session/cancel" => {
                if let Some((id, published)) = shared.take() {
                    drop(published);
                    send(output, &wire::response(&id, &json!({"stopReason": "cancelled"})))?;
                }
            }
            _ if id.is_null() => {}
            _ => send(output, &wire::error(&id, wire::METHOD_NOT_FOUND, "there is no such method"))?,
        }
    }
    Ok(())
}

/// What the user reads.
fn notice(name: &str) -> String {
    format!(
        "This shell is shared as `{name}`. Programs that have `cohab mcp serve` as an MCP server can see and run commands here; you see \
         each command, and your policy judges it. `? /unshare` ends it.\n\nTo connect one, for example: \
         `claude mcp add cohab -- cohab mcp serve`\n\n"
    )
}

fn send(output: &mut impl Write, message: &Value) -> io::Result<()> {
    writeln!(output, "{message}")?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_shell_is_shared_until_the_prompt_is_cancelled() {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("s");
        let _listener = UnixListener::bind(&socket).expect("a socket");
        let host = HostArgs {
            name: "web".into(),
            shell: "fish".into(),
            shares: Shares::at(folder.path().join("shared")),
            socket,
            token: "t".into(),
        };
        let messages = |last: &str| {
            [
                json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}),
                json!({"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": {"cwd": "/w", "mcpServers": []}}),
                json!({"jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": {"sessionId": "share"}}),
                json!({"jsonrpc": "2.0", "method": last, "params": {"sessionId": "share"}}),
                json!({"jsonrpc": "2.0", "id": 4, "method": "session/odd"}),
            ]
            .map(|message| message.to_string())
            .join("\n")
        };
        let answers = |messages: &str| {
            let mut output = Vec::new();
            run(&host, messages.as_bytes(), &mut output).expect("it runs");
            let text = String::from_utf8(output).expect("text");
            text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect::<Vec<Value>>()
        };
        let ended = answers(&messages("session/cancel"));
        assert_eq!(ended[1]["result"]["sessionId"], SESSION);
        let text = ended[2]["params"]["update"]["content"]["text"].as_str().expect("a text");
        assert!(text.starts_with("This shell is shared as `web`."), "{text}");
        assert_eq!((&ended[3]["id"], &ended[3]["result"]["stopReason"]), (&json!(3), &json!("cancelled")));
        assert_eq!(ended[4]["error"]["code"], wire::METHOD_NOT_FOUND);
        // The input ends: nothing is shared any more, and nothing is said.
        assert_eq!(answers(&messages("session/other")).len(), 4);
        assert!(host.shares.list().is_empty());
    }
}
