//! `cohab models` lists the models of the configured service.

use std::{io::Write, process::ExitCode};

use clap::Args;
use cohab_config::{self};
use cohab_models::{
    detect, http,
    key_store::KeyStores,
    model_list,
    resolution::{self, Answerer},
    resolved_endpoint::ResolvedEndpoint,
};
use cohab_prompt::{
    Row, Stopped,
    picker::{self, Picker},
};
use cohab_protocol::Paths;
use cohab_setup::in_thousands;
use cohab_text::sanitize::{escaped_json, one_line};
use cohab_types::{environment::Variables, picked_line};
use cohab_wires::wire::Model;
use reqwest::Url;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use super::{Failure, ModelFlags, model_jobs};

/// Widest column of names: with the others it fits 80 columns.
const MAX_NAME_COLUMNS: usize = 52;

/// List the models of the configured service
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(after_help = "The list and its order are the service's own; `*` marks the model in use.\n\
    --json prints one object: service, host, models (id, context_window_tokens, can_call_tools, is_loaded, \
    is_in_use; null where the service does not report it), and with --local also local (server, url, models); with \
    --tiers only jobs (kind, name, profile, is_set, provider, model).\n\
    Exit status: 0 listed, 1 failed, 2 wrong usage, 3 output not read.")]
pub struct ModelsArgs {
    /// Which service
    #[command(flatten)]
    pub model: ModelFlags,
    /// Also list the models of servers that run on this machine
    #[arg(long)]
    pub local: bool,
    /// List the model of each tier and role, without asking a service
    #[arg(long, conflicts_with = "local")]
    pub tiers: bool,
    /// Pick one at the terminal and print its name
    #[arg(long, conflicts_with_all = ["local", "tiers", "json"])]
    pub pick: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// The models of one service.
struct Listed {
    service: String,
    host: String,
    url: String,
    in_use: Option<String>,
    models: Vec<Model>,
}

/// Runs it.
pub fn run(args: &ModelsArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let result = runtime.map_err(Failure::from).and_then(|runtime| {
        if args.pick {
            runtime.block_on(pick(args, paths, output))
        } else {
            runtime.block_on(list(args, paths, output))
        }
    });
    super::finish(result, output, errors)
}

/// Lets the user pick a model of the configured service; lists them where nothing can be picked.
async fn pick(args: &ModelsArgs, paths: &Paths, output: &mut dyn Write) -> Result<(), Failure> {
    let listed = configured(paths, &args.model.variables()).await?;
    let Some(terminal) = picker::terminal()?.filter(|_| !listed.models.is_empty()) else {
        return table(&listed, output);
    };
    let in_use = |model: &Model| listed.in_use.as_ref() == Some(&model.id);
    let rows: Vec<Row> = listed.models.iter().map(|model| row(model, in_use(model))).collect();
    let picked = picker::pick(
        &terminal,
        &Picker {
            title: &format!("Models of {}", listed.service),
            rows: &rows,
            preselected: listed.models.iter().position(in_use).unwrap_or(0),
            enter: "picks",
            preview: None,
            remove: None,
        },
    );
    match picked {
        Ok(row) => Ok(output.write_all(picked_line::report(&listed.models[row].id).as_bytes())?),
        Err(Stopped::Cancelled) => Ok(()),
        Err(Stopped::Gone(error)) => Err(error.into()),
    }
}

fn row(model: &Model, is_in_use: bool) -> Row {
    let size = model.context_window_tokens.map(|tokens| format!("{} tokens", in_thousands(tokens)));
    let tools = (model.can_call_tools == Some(false)).then(|| "no tools".to_owned());
    let loaded = (model.is_loaded == Some(true)).then(|| "loaded".to_owned());
    let in_use = is_in_use.then(|| "in use".to_owned());
    let facts: Vec<String> = [in_use, size, tools, loaded].into_iter().flatten().collect();
    Row::new(&model.id, facts.join(" · "))
}

async fn list(args: &ModelsArgs, paths: &Paths, output: &mut dyn Write) -> Result<(), Failure> {
    let variables = args.model.variables();
    if args.tiers {
        let asked = variables.get("COHAB_PROFILE").map(String::as_str);
        return model_jobs::show(&cohab_config::load(paths)?, asked, args.json, output);
    }
    let local = if args.local { local(&variables).await } else { Vec::new() };
    let own = match configured(paths, &variables).await {
        // Without a configured service only the local ones are listed.
        Err(Failure::Other(..)) if !local.is_empty() => None,
        own => Some(own?),
    };
    if args.json {
        writeln!(output, "{}", escaped_json(&as_json(own.as_ref(), args.local.then_some(&local[..])).to_string()))?;
        return Ok(());
    }
    let others = local.iter().filter(|other| own.as_ref().is_none_or(|own| own.host != other.host));
    for (number, listed) in own.iter().chain(others).enumerate() {
        if number > 0 {
            writeln!(output)?;
        }
        table(listed, output)?;
    }
    Ok(())
}

async fn configured(paths: &Paths, variables: &Variables) -> Result<Listed, Failure> {
    let settings = cohab_config::load(paths)?;
    let settings = settings.model_of(variables.get("COHAB_PROFILE").map(String::as_str));
    let settings = settings.map_err(|error| Failure::Other(error.to_string(), Some(error.hint)))?;
    let environment = |name: &str| variables.get(name).cloned();
    let hosts = detect::usual_hosts(environment("OLLAMA_HOST").as_deref());
    let answerer = resolution::answerer(&settings, &environment, &hosts).await;
    let service = match answerer.map_err(|error| Failure::Other(error.message, error.hint))? {
        Answerer::Service(service) | Answerer::Local(_, service) => service,
        Answerer::Offline => return Err(none("no model service is set up, so there are no models to list")),
        Answerer::Script(_) => return Err(none("the provider `scripted` has no models to list")),
    };
    let key = match &service.key {
        Some(key) => {
            let secret = key.secret(&KeyStores::new(&paths.config_dir), &service.account).await;
            Some(secret.map_err(|error| Failure::Other(error.message, Some(error.hint)))?)
        }
        None => None,
    };
    let models = model_list::models(&service, key).await;
    let models = models.map_err(|error| Failure::Other(error.message, error.hint))?;
    let in_use = service.model().await.ok();
    Ok(listed(&service, in_use, models))
}

fn none(message: &str) -> Failure {
    Failure::Other(message.to_owned(), Some("`cohab setup` sets one up".to_owned()))
}

async fn local(variables: &Variables) -> Vec<Listed> {
    let hosts = detect::usual_hosts(variables.get("OLLAMA_HOST").map(String::as_str));
    let found = detect::find_all(&hosts).await.into_iter();
    found
        .map(|server| {
            let host = Url::parse(&server.url).map(|url| http::host_of(&url)).unwrap_or_default();
            Listed { service: server.server, host, url: server.url, in_use: None, models: server.models }
        })
        .collect()
}

fn listed(service: &ResolvedEndpoint, in_use: Option<String>, models: Vec<Model>) -> Listed {
    let (host, url) = (http::host_of(&service.base), service.base.to_string());
    Listed { service: service.name.clone(), host, url, in_use, models }
}

fn table(listed: &Listed, output: &mut dyn Write) -> Result<(), Failure> {
    let Listed { service, host, in_use, models, .. } = listed;
    let count = match models.len() {
        1 => "1 model".to_owned(),
        count => format!("{count} models"),
    };
    writeln!(output, "{service} ({host}): {count}")?;
    let names: Vec<String> = models.iter().map(|model| one_line(&model.id, MAX_NAME_COLUMNS)).collect();
    let width = names.iter().map(|name| name.width()).max().unwrap_or(0);
    for (model, name) in models.iter().zip(&names) {
        let mark = if in_use.as_ref() == Some(&model.id) { '*' } else { ' ' };
        let size = model.context_window_tokens.map(in_thousands).unwrap_or_default();
        let tools = model.can_call_tools.map_or("", |can| if can { "tools" } else { "no tools" });
        let loaded = if model.is_loaded == Some(true) { "loaded" } else { "" };
        let gap = " ".repeat(width.saturating_sub(name.width()));
        let row = format!("{mark} {name}{gap}  {size:>5}  {tools:<8}  {loaded}");
        writeln!(output, "{}", row.trim_end())?;
    }
    if let Some(missing) = in_use.as_ref().filter(|id| !models.iter().any(|model| model.id == **id)) {
        writeln!(output, "\nIn use, but not in the list: {}", one_line(missing, MAX_NAME_COLUMNS))?;
    }
    Ok(())
}

fn as_json(own: Option<&Listed>, local: Option<&[Listed]>) -> Value {
    let models = |listed: &Listed| -> Vec<Value> {
        let rows = listed.models.iter().map(|model| {
            json!({
                "id": model.id, "context_window_tokens": model.context_window_tokens,
                "can_call_tools": model.can_call_tools, "is_loaded": model.is_loaded,
                "is_in_use": listed.in_use.as_ref() == Some(&model.id),
            })
        });
        rows.collect()
    };
    let mut object = json!({
        "service": own.map(|own| &own.service), "host": own.map(|own| &own.host), "url": own.map(|own| &own.url),
        "in_use": own.and_then(|own| own.in_use.as_ref()), "models": own.map(models).unwrap_or_default(),
    });
    if let Some(local) = local {
        let servers = local.iter().map(|one| json!({"server": one.service, "url": one.url, "models": models(one)}));
        object["local"] = servers.collect();
    }
    object
}

#[cfg(test)]
#[path = "models_tests.rs"]
mod tests;
