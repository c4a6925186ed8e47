//! Starts a server for the user, and stops it again.

use std::time::Instant;

use cohab_mcp::{
    catalog::{Listed, Standing},
    contents::usage,
    pool::{ServerPool, Started, Surroundings},
    server::Server,
};
use cohab_models::key_store::KeyStores;
use cohab_text::sanitize::one_line;

use super::{place::McpFiles, show::reason};
use crate::cli::Failure;

/// Longest description of a prompt, in columns.
const DESCRIPTION_COLUMNS: usize = 60;

pub(super) fn test(place: &McpFiles, name: &str) -> Result<String, Failure> {
    let server = usable(place.find(name)?)?;
    let begun = Instant::now();
    let (Started { protocol, name: told, tools }, prompts) =
        with_server(place, &server, async |pool, surroundings| {
            let started = pool.start(&server, surroundings).await?;
            Ok((started, pool.prompts(&server, surroundings).await?))
        })?;
    let took = begun.elapsed().as_secs_f64();
    let count = if tools.tools.len() == 1 { "1 tool".to_owned() } else { format!("{} tools", tools.tools.len()) };
    let left_out = match tools.left_out {
        0 => String::new(),
        number => format!(", {number} left out: too many, or names that are not valid"),
    };
    let told = if told.is_empty() { String::new() } else { format!(" ({told})") };
    let mut text = format!("`{name}` works{told}: protocol {protocol}, {count}{left_out}, {took:.1} s.\n");
    if !prompts.is_empty() {
        text += "Prompts, to be asked for as a question:\n";
    }
    for prompt in &prompts {
        let description = one_line(prompt.description.as_deref().unwrap_or_default(), DESCRIPTION_COLUMNS);
        text += format!("  ? {}  {description}", usage(&server, prompt)).trim_end();
        text += "\n";
    }
    Ok(text)
}

pub(super) fn usable(Listed { server, standing }: Listed) -> Result<Server, Failure> {
    match standing {
        Standing::Ready | Standing::Off => Ok(server),
        other => Err(Failure::Other(reason(&server, &other), None)),
    }
}

pub(super) fn started(place: &McpFiles, server: &Server) -> Result<Started, Failure> {
    with_server(place, server, async |pool, surroundings| pool.start(server, surroundings).await)
}

/// Asks a server, and stops it again.
fn with_server<T>(
    place: &McpFiles,
    server: &Server,
    ask: impl AsyncFnOnce(&ServerPool, &Surroundings) -> Result<T, String>,
) -> Result<T, Failure> {
    let keys = KeyStores::new(&place.paths.config_dir);
    let pool = ServerPool::new(Box::new(keys), place.sign_ins(), place.paths.log_dir().join("mcp"));
    let surroundings = Surroundings { folder: place.home.clone(), ..Surroundings::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let answer = runtime.block_on(async {
        let answer = ask(&pool, &surroundings).await;
        pool.stop().await;
        answer
    });
    answer.map_err(|reason| {
        let log = pool.log_of(server);
        let hint = log.exists().then(|| format!("what it printed is in {}", log.display()));
        Failure::Other(format!("`{}` cannot be used: {reason}", server.name), hint)
    })
}
