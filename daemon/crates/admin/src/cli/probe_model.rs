//! `cohab probe-model` sends one request to the configured model and shows the events of the service's answer.

use std::{
    io::{self, IsTerminal as _, Read as _, Write},
    process::ExitCode,
};

use clap::Args;
use cohab_assembly::wiring;
use cohab_context::sections::{SystemContext, system_prompt};
use cohab_guard::known_servers::KnownServers;
use cohab_model_api::{Message, ModelProvider, ModelRequest};
use cohab_models::resolution::Choice;
use cohab_protocol::Paths;

use super::{Failure, ModelFlags};
use cohab_setup::probe::{self, Show, json::JsonLines, text::Lines};

/// Longest prompt from standard input, in bytes.
const PROMPT_MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Send one request to the configured model and show the response
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(after_help = "The prompt is sent unchanged, with the system prompt and the tools of a\n\
    question. Tool calls are shown, never run.\n\
    --json prints one typed object per line; the last has type `fold`: text,\n\
    reasoning, tool_calls, stop, usage, error, times.\n\
    Exit status: 0 complete, 1 failed or cut, 2 wrong usage, 3 output not read.")]
pub struct ProbeArgs {
    /// The prompt; several words are joined [default: standard input]
    #[arg(value_name = "PROMPT")]
    pub prompt: Vec<String>,
    /// Which model
    #[command(flatten)]
    pub model: ModelFlags,
    /// Print one JSON object per event and line
    #[arg(long)]
    pub json: bool,
}

/// Runs it.
pub fn run(args: &ProbeArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let result = prompt(args).and_then(|prompt| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(send(prompt, args, paths, output))
    });
    super::finish(result, output, errors)
}

fn prompt(args: &ProbeArgs) -> Result<String, Failure> {
    let prompt = if args.prompt.is_empty() && !io::stdin().is_terminal() {
        let mut text = String::new();
        let read = io::stdin().lock().take(PROMPT_MAX_BYTES).read_to_string(&mut text);
        read.map_err(|error| Failure::Other(format!("cannot read the prompt from standard input: {error}"), None))?;
        text
    } else {
        args.prompt.join(" ")
    };
    if prompt.trim().is_empty() {
        let hint = "give it as an argument, or pipe it in: `cohab probe-model \"say hello\"`";
        return Err(Failure::Other("no prompt was given".into(), Some(hint.into())));
    }
    Ok(prompt)
}

async fn send(prompt: String, args: &ProbeArgs, paths: &Paths, output: &mut dyn Write) -> Result<(), Failure> {
    let (settings, choice) = wiring::configured_once(paths, &args.model.variables()).await?;
    let provider = agreed(choice, paths)?;
    let request = ModelRequest {
        system: system_prompt(&SystemContext::default()),
        tools: settings.tools.iter().map(|tool| tool.spec()).collect(),
        ..ModelRequest::of(vec![Message::user(prompt)])
    };
    let mut show: Box<dyn Show + '_> = if args.json {
        Box::new(JsonLines(&mut *output))
    } else {
        let is_colored =
            io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let info = provider.info();
        writeln!(output, "{}/{} ({})", info.wire, info.model, info.origin)?;
        Box::new(Lines::new(&mut *output, is_colored))
    };
    let fold = probe::probe(provider.as_ref(), request, show.as_mut()).await?;
    if fold.is_complete() { Ok(()) } else { Err(Failure::Told) }
}

/// No request goes to a server that was only found, unless the user agreed to it before.
fn agreed(choice: Choice, paths: &Paths) -> Result<std::sync::Arc<dyn ModelProvider>, Failure> {
    let (found, provider) = match choice {
        Choice::Ready(provider) => return Ok(provider),
        Choice::AskLocal { found, provider, .. } => (found, provider),
    };
    let known = KnownServers::new(paths.state_dir.join("known-servers"));
    if known.contains(&found.url, &found.server) {
        return Ok(provider);
    }
    let message = format!("{} was found at {}, and you have not agreed to its use yet", found.server, found.url);
    let hint = format!("set its URL to agree: `COHAB_BASE_URL={} cohab probe-model ...`", found.url);
    Err(Failure::Other(message, Some(hint)))
}
