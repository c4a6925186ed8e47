//! Allows a project's server, or a tool, exactly as it is now. The user sees all of it and agrees before anything is kept.

use std::io::{BufRead, Write};

use cohab_mcp::{
    catalog::{Listed, Standing},
    consents::ToolConsent,
    listing::ListedTool,
    server::{Author, Server},
};
use cohab_text::{
    nearest,
    sanitize::{one_line, visible_controls},
};

use super::{
    arguments::AllowArgs,
    place::{McpFiles, failed},
    show::{definition, reason},
    trial::{started, usable},
};
use crate::cli::Failure;

/// Longest description, and longest schema, that can be allowed, in bytes: no one reads a longer one.
const MAX_SHOWN_BYTES: usize = 64 * 1024;

/// The user's answers.
pub(super) struct Asker<'a> {
    pub(super) input: &'a mut dyn BufRead,
    /// The user can be asked.
    pub(super) is_terminal: bool,
}

impl Asker<'_> {
    /// Whether the user agrees. Without a terminal it takes `--yes`.
    fn agrees(&mut self, is_yes: bool, output: &mut dyn Write) -> Result<bool, Failure> {
        if is_yes {
            return Ok(true);
        }
        if !self.is_terminal {
            let hint = Some("look at what is shown, then add `--yes`".to_owned());
            return Err(Failure::Other("nothing is allowed without your answer at a terminal".to_owned(), hint));
        }
        write!(output, "Allow exactly this? [y/N] ")?;
        output.flush()?;
        let mut line = String::new();
        self.input.read_line(&mut line)?;
        Ok(matches!(line.trim(), "y" | "Y" | "yes"))
    }
}

pub(super) fn allow(
    place: &McpFiles,
    args: &AllowArgs,
    asker: &mut Asker<'_>,
    output: &mut dyn Write,
) -> Result<String, Failure> {
    let listed = place.find(&args.name)?;
    let change: Box<dyn FnOnce(&mut _)> = match &args.tool {
        None => {
            let server = proposed(listed)?;
            write!(output, "{}", shown_server(place, &server))?;
            if !asker.agrees(args.yes, output)? {
                return Ok("Not allowed.\n".to_owned());
            }
            // It may have changed while the user read.
            if proposed(place.find(&args.name)?)?.digest() != server.digest() {
                let hint = Some("look at it again".to_owned());
                return Err(Failure::Other(format!("`{}` changed meanwhile", args.name), hint));
            }
            let (id, digest) = (server.id(), server.digest());
            Box::new(move |all: &mut cohab_mcp::consents::Consents| {
                all.servers.entry(id).or_default().definition = Some(digest);
            })
        }
        Some(tool) => {
            let server = usable(listed)?;
            let found = found(place, &server, tool)?;
            write!(output, "{}", described(&server, &found)?)?;
            if !asker.agrees(args.yes, output)? {
                return Ok("Not allowed.\n".to_owned());
            }
            let allowed = ToolConsent::Allowed { definition: found.digest };
            Box::new(move |all: &mut cohab_mcp::consents::Consents| {
                all.servers.entry(server.id()).or_default().tools.insert(found.name, allowed);
            })
        }
    };
    place.consents.change(change).map_err(failed)?;
    Ok(match &args.tool {
        None => {
            "Allowed, from the next question on. A change of this or of a file needs your consent again.\n".to_owned()
        }
        Some(_) => "Allowed, as long as it is described so. After text of others was read, cohab asks all the same.\n"
            .to_owned(),
    })
}

/// A server of the project that can be allowed, with its files.
fn proposed(Listed { server, standing }: Listed) -> Result<Server, Failure> {
    let name = &server.name;
    if server.author == Author::User {
        let hint = format!("`cohab mcp allow {name} TOOL` lets a tool of it run without a question");
        return Err(Failure::Other(format!("`{name}` is your own server and is used already"), Some(hint)));
    }
    match standing {
        Standing::NotAllowed | Standing::Changed | Standing::Ready => {
            let name = name.clone();
            server.with_files().map_err(|reason| failed(format!("the project's `{name}` cannot be allowed: {reason}")))
        }
        Standing::NotTrusted => {
            let hint = format!("`cohab trust` trusts it; then `cohab mcp allow {name}` allows the server");
            Err(Failure::Other("the project's folder is not trusted".into(), Some(hint)))
        }
        other => Err(Failure::Other(reason(&server, &other), None)),
    }
}

fn shown_server(place: &McpFiles, server: &Server) -> String {
    let project = one_line(&place.project.to_string_lossy(), usize::MAX);
    let how = match server.settings.command {
        Some(_) => "runs with your rights and outside of any sandbox",
        None => "gets what the model sends it",
    };
    format!("The server `{}` of {project} {how}:\n{}", server.name, definition(server))
}

fn found(place: &McpFiles, server: &Server, tool: &str) -> Result<ListedTool, Failure> {
    let tools = started(place, server)?.tools;
    tools.find(tool).cloned().ok_or_else(|| {
        let near = nearest::to(tool, tools.tools.iter().map(|tool| tool.name.as_str()));
        let hint = near.map(|near| format!("did you mean `{near}`?"));
        Failure::Other(format!("`{}` has no tool `{}`", server.name, one_line(tool, 60)), hint)
    })
}

/// The whole of a tool's definition.
fn described(server: &Server, tool: &ListedTool) -> Result<String, Failure> {
    if tool.description.len().max(tool.schema.len()) > MAX_SHOWN_BYTES {
        let message = format!("the tool `{}` has a description of more than {} kB", tool.name, MAX_SHOWN_BYTES / 1024);
        return Err(Failure::Other(message, Some("it can be used, but only with a question for each call".into())));
    }
    let schema: serde_json::Value = serde_json::from_str(&tool.schema).unwrap_or_default();
    let indented = |text: &str| visible_controls(text).lines().map(|line| format!("  {line}\n")).collect::<String>();
    let description = match tool.description.trim() {
        "" => "  (no description)\n".to_owned(),
        text => indented(text),
    };
    Ok(format!(
        "The tool `{}` of `{}` would run without a question. The server describes it so:\n{description}Its arguments:\n{}",
        tool.name,
        server.name,
        indented(&format!("{schema:#}"))
    ))
}
