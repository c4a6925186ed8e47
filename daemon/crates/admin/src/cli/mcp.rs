//! `cohab mcp` adds, lists, tries and removes servers that give tools, and says which of their tools run without a question.

mod allow;
mod arguments;
mod change;
mod conformance;
mod login;
mod place;
mod serve;
mod show;
mod trial;

use std::{
    io::{self, IsTerminal as _, Write},
    process::ExitCode,
};

use cohab_protocol::Paths;

pub use self::arguments::{
    AddArgs, AllowArgs, ListArgs, LoginArgs, McpCommand, NameArgs, RuleArgs, ServeArgs, ShowArgs,
};
pub use self::serve::serve;
use self::{allow::Asker, place::McpFiles};
use super::Failure;

/// Runs it. Exit status: 0 done, 1 it cannot be, 3 the output is closed.
pub fn run(command: &McpCommand, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    // Not locked: a sign-in reads there meanwhile.
    let input = &mut io::BufReader::new(io::stdin());
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let asker = &mut Asker { input, is_terminal };
    let text = McpFiles::here(paths).and_then(|place| done(&place, command, asker, output));
    super::finish(text.and_then(|text| Ok(output.write_all(text.as_bytes())?)), output, errors)
}

fn done(
    place: &McpFiles,
    command: &McpCommand,
    asker: &mut Asker<'_>,
    output: &mut dyn Write,
) -> Result<String, Failure> {
    match command {
        McpCommand::Add(args) => change::add(place, args),
        McpCommand::List(args) => show::list(place, args.json),
        McpCommand::Show(args) => show::show(place, &args.name, args.json),
        McpCommand::Test(args) => trial::test(place, &args.name),
        McpCommand::Allow(args) => allow::allow(place, args, asker, output),
        McpCommand::Deny(args) => change::deny(place, args),
        McpCommand::Rm(args) => change::remove(place, &args.name),
        McpCommand::Login(args) => login::login(place, args, asker.is_terminal),
        McpCommand::Logout(args) => login::logout(place, &args.name),
        McpCommand::Shared(args) => Ok(serve::shared(&place.paths, args.json)),
        // It has been run without what is here.
        McpCommand::Serve(_) => Ok(String::new()),
        McpCommand::Conformance(args) => conformance::run(&args.url),
    }
}

#[cfg(test)]
#[path = "mcp_tests.rs"]
mod tests;
