//! The arguments of `cohab mcp`.

use clap::{Args, Subcommand};

/// Use tools of MCP servers
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum McpCommand {
    /// Add a server: a program, or an address
    #[command(
        override_usage = "cohab mcp add [OPTIONS] <NAME> -- <COMMAND> [ARGS]...\n       cohab mcp add [OPTIONS] <NAME> <URL>",
        after_help = "cohab mcp add time -- uvx mcp-server-time\n\
            cohab mcp add docs https://example.org/mcp --header 'Authorization: Bearer ${DOCS_TOKEN}'\n\n\
            ${NAME} is a variable of your shell, read when the server starts. The program gets no other variable that is named \
            like a secret."
    )]
    Add(AddArgs),
    /// List the servers
    List(ListArgs),
    /// Show a server and its rules
    Show(ShowArgs),
    /// Start a server and count its tools
    Test(NameArgs),
    /// Sign in at a server that wants it
    #[command(
        after_help = "Opens a page of the service; you agree there, and cohab keeps the access in a file that only you can read. \
            `cohab mcp logout` forgets it."
    )]
    Login(LoginArgs),
    /// Forget a sign-in
    Logout(NameArgs),
    /// Let a tool run without a question, or use a project's server
    #[command(
        after_help = "Without a tool it allows a server that the project's .mcp.json proposes, exactly as it is now. A tool that its \
            server describes differently later is asked about again. Everything is shown before you agree."
    )]
    Allow(AllowArgs),
    /// Never call a tool, or no longer use a project's server
    Deny(RuleArgs),
    /// Remove a server
    Rm(NameArgs),
    /// Serve a shell that you share to an agent elsewhere
    #[command(
        after_help = "An agent starts it; you share a shell with `? /share` at its prompt. Each call is judged and shown as a command of \
            cohab's own. To connect an agent, for example:\n\n\
            claude mcp add cohab -- cohab mcp serve\n\
            codex mcp add cohab -- cohab mcp serve"
    )]
    Serve(ServeArgs),
    /// List the shells that you share
    Shared(ListArgs),
    /// Use a server of the MCP conformance suite
    #[command(hide = true)]
    Conformance(AddressArgs),
}

/// A server to add.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct AddArgs {
    /// What to call it
    pub name: String,
    /// Address of a server that speaks HTTP
    #[arg(conflicts_with = "command", required_unless_present = "command")]
    pub url: Option<String>,
    /// Variable for the program
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Header for each request
    #[arg(long, value_name = "NAME: VALUE")]
    pub header: Vec<String>,
    /// What it is for, in one line for the model
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// Program and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// How to list.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct ListArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Which server to show.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct ShowArgs {
    /// Its name
    pub name: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// One server.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct NameArgs {
    /// Its name
    pub name: String,
}

/// Where to sign in.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct LoginArgs {
    /// Name of the server
    pub name: String,
    /// Right to ask for, beside those that you have
    #[arg(long, value_name = "RIGHT")]
    pub scope: Vec<String>,
    /// Show the address only
    #[arg(long)]
    pub no_browser: bool,
}

/// Whom to serve.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct ServeArgs {
    /// Use only the shell that is shared under this name
    #[arg(long, value_name = "NAME")]
    pub shell: Option<String>,
}

/// A server's address.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct AddressArgs {
    /// Where it listens
    pub url: String,
}

/// What to allow.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct AllowArgs {
    /// Name of the server
    pub name: String,
    /// Name of the tool
    pub tool: Option<String>,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}

/// A server, or one of its tools.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct RuleArgs {
    /// Name of the server
    pub name: String,
    /// Name of the tool
    pub tool: Option<String>,
}
