//! Starts a server for the user, and stops it again.

use std::time::Instant;

use cohab_mcp::{
    catalog::{Listed, Standing},
    pool::{ServerPool, Started, Surroundings},
    server::Server,
};
use cohab_models::key_store::KeyStores;

use super::{place::McpFiles, show::reason};
use crate::cli::Failure;

pub(super) fn test(place: &McpFiles, name: &str) -> Result<String, Failure> {
    let server = usable(place.find(name)?)?;
    let begun = Instant::now();
    let Started { protocol, name: told, tools } = started(place, &server)?;
    let took = begun.elapsed().as_secs_f64();
    let count = if tools.tools.len() == 1 { "1 tool".to_owned() } else { format!("{} tools", tools.tools.len()) };
    let left_out = match tools.left_out {
        0 => String::new(),
        number => format!(", {number} left out: too many, or names that are not valid"),
    };
    let told = if told.is_empty() { String::new() } else { format!(" ({told})") };
    Ok(format!("`{name}` works{told}: protocol {protocol}, {count}{left_out}, {took:.1} s.\n"))
}

pub(super) fn usable(Listed { server, standing }: Listed) -> Result<Server, Failure> {
    match standing {
        Standing::Ready | Standing::Off => Ok(server),
        other => Err(Failure::Other(reason(&server, &other), None)),
    }
}

pub(super) fn started(place: &McpFiles, server: &Server) -> Result<Started, Failure> {
    let keys = KeyStores::new(&place.paths.config_dir);
    let pool = ServerPool::new(Box::new(keys), place.sign_ins(), place.paths.log_dir().join("mcp"));
    let surroundings = Surroundings { folder: place.home.clone(), ..Surroundings::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let started = runtime.block_on(async {
        let started = pool.start(server, &surroundings).await;
        pool.stop().await;
        started
    });
    started.map_err(|reason| {
        let log = pool.log_of(server);
        let hint = log.exists().then(|| format!("what it printed is in {}", log.display()));
        Failure::Other(format!("`{}` cannot be used: {reason}", server.name), hint)
    })
}
