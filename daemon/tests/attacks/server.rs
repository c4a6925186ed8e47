//! An MCP server that speaks for somebody else, as a shell script.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use cohab_agent::port::{ApprovalAnswer, ApprovalQuestion, Approver, Tool};
use cohab_config::mcp::McpServer;
use cohab_mcp::{
    catalog::Catalog,
    consents::{ConsentFile, Consents},
    keys::NoKeys,
    pool::{ServerPool, Surroundings},
    server::{Author, Server},
    sign_in::SignIns,
    tools::{TurnServers, tools},
};

/// Where the planted text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// In the result of a tool.
    Result,
    /// In the description of a tool.
    Description,
    /// In what it keeps.
    Resource,
}

/// Name of the server.
pub const NAME: &str = "notes";

/// Answers as the protocol wants it. `tell` writes what it gets into the file `told` of its folder.
const SCRIPT: &str = r##"while read -r line; do
    id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case $line in
    *'"method":"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"notes","version":"1"}}' ;;
    *'"method":"tools/list"'*) result='{"tools":[{"name":"look","description":"Looks up @description@","inputSchema":{"type":"object"}},{"name":"tell","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/call"'*'"tell"'*) printf %s "$line" > told; result='{"content":[]}' ;;
    *'"method":"tools/call"'*) result='{"content":[{"type":"text","text":"A note. @result@"}]}' ;;
    *'"method":"resources/read"'*) result='{"contents":[{"uri":"note:1","text":"A note. @resource@"}]}' ;;
    *'"id"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}\n' "$id"; continue ;;
    *) continue ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"##;

/// A user whom no server asks.
struct SaysNothing;

#[async_trait]
impl Approver for SaysNothing {
    async fn ask(&self, _: ApprovalQuestion) -> ApprovalAnswer {
        ApprovalAnswer::Refused { reason: "no".into() }
    }
}

/// Writes the script, which has `text` in the part.
pub fn write(home: &Path, part: Part, text: &str) {
    let named = [("@description@", Part::Description), ("@result@", Part::Result), ("@resource@", Part::Resource)];
    let script = named
        .into_iter()
        .fold(SCRIPT.to_owned(), |script, (mark, of)| script.replace(mark, if of == part { text } else { "" }));
    fs::write(script_of(home), script).expect("it can be written");
}

fn script_of(home: &Path) -> PathBuf {
    home.join("server.sh")
}

/// The model's tools for the server; the user has allowed both of its tools. `state` is for files of cohab's own.
pub fn tools_for(home: &Path, state: &Path) -> Vec<Arc<dyn Tool>> {
    let program = script_of(home).display().to_string();
    let mut settings = McpServer::program("/bin/sh".into(), vec![program]);
    settings.allow = vec!["look".into(), "tell".into()];
    let server = Server { name: NAME.into(), author: Author::User, settings, files: Vec::new() };
    let sign_ins = SignIns::at(state.join("sign-ins.json"), Arc::default());
    let variables = [("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
    tools(&Arc::new(TurnServers {
        question: String::new(),
        pool: Arc::new(ServerPool::new(Box::new(NoKeys), sign_ins, state.join("logs"))),
        catalog: Catalog { servers: vec![server], consents: Some(Consents::default()) },
        surroundings: Surroundings { variables: variables.into_iter().collect(), folder: home.to_owned() },
        consents: ConsentFile::at(state.join("consents.json")),
        search_wait: Duration::from_secs(30),
        output_max_bytes: 64 * 1024,
        user: Arc::new(SaysNothing),
        judged: std::sync::Mutex::default(),
    }))
}
