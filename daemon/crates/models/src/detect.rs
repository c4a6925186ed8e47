//! Looks for model servers on this machine: loopback only, no key sent, nothing started, a fraction of a second.

mod ask;
mod kinds;

use std::{cmp::Reverse, collections::BTreeSet, time::Duration};

use futures::future;
use reqwest::{Client, Url};
use tokio::time::{Instant, timeout, timeout_at};

use self::{
    ask::get,
    kinds::{Look, ServerKind},
};
pub use cohab_wires::wire::Model;
use cohab_wires::{ollama, vendor, wire::Wire};

use super::http;

/// For connecting.
const CONNECT_LIMIT: Duration = Duration::from_millis(150);
/// Limit for identifying the servers, over all hosts.
const FIRST_CHECK_LIMIT: Duration = Duration::from_millis(300);
/// Limit for the details of the found servers' models, over all of them.
const DETAILS_LIMIT: Duration = Duration::from_secs(2);

/// Default ports of local servers: Ollama, LM Studio, llama.cpp, vLLM, Jan, SGLang.
pub const USUAL_PORTS: &[u16] = &[11434, 1234, 8080, 8000, 1337, 30000];

/// A model server on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// Base URL for the wire.
    pub url: String,
    /// Name of the wire to speak.
    pub wire: &'static str,
    /// Its kind, for people: `Ollama`, `llama.cpp`, or the name in its answer.
    pub server: String,
    /// All models that can converse, the best first.
    pub models: Vec<Model>,
    /// The model to ask.
    pub model: String,
    /// Whether that model can call tools; `None` when the server does not report it.
    pub can_call_tools: Option<bool>,
    /// Expected context size in tokens, if the server reports it.
    pub context_window_tokens: Option<u64>,
}

impl LocalServer {
    /// Takes `name` as the model to ask, listed or not.
    pub fn choose(&mut self, name: &str) {
        let model = self.models.iter().find(|model| model.id == name);
        let told = model.and_then(|model| model.context_window_tokens);
        self.can_call_tools = model.and_then(|model| model.can_call_tools);
        // Where each request fixes the size, a model gets no more than the usual one, though it could have more.
        let usual = vendor::named(self.wire).and_then(|spoken| spoken.wire.default_context_window_tokens());
        self.context_window_tokens = told.map(|told| usual.map_or(told, |usual| told.min(usual)));
        name.clone_into(&mut self.model);
    }
}

/// The best server of [`find_all`].
pub async fn find(hosts: &[String]) -> Option<LocalServer> {
    find_all(hosts).await.into_iter().next()
}

/// All servers with models at `hosts` (`127.0.0.1:11434`), which are checked concurrently, within 300 ms in all; the details may take 2
/// s more. Hosts that are not on this machine are left out. The best comes first: by whether its model can call tools, is loaded, has a
/// large context, then in the order of `hosts`.
pub async fn find_all(hosts: &[String]) -> Vec<LocalServer> {
    find_within(FIRST_CHECK_LIMIT, hosts).await
}

async fn find_within(first_check: Duration, hosts: &[String]) -> Vec<LocalServer> {
    let bases: Vec<Url> =
        hosts.iter().filter_map(|host| Url::parse(&format!("http://{host}/")).ok()).filter(http::is_loopback).collect();
    let Some(client) = bases.first().and_then(|base| http::client(base, CONNECT_LIMIT).ok()) else { return Vec::new() };
    let until = Instant::now() + first_check;
    let looks = future::join_all(bases.iter().map(|base| look(&client, base, until))).await;
    let known = bases.iter().zip(&looks).filter_map(|(base, look)| Some((base, kinds::of(look)?, look)));
    let until = Instant::now() + DETAILS_LIMIT;
    let servers = known.map(|(base, kind, look)| server(&client, base, kind, look, until));
    let mut servers: Vec<LocalServer> = future::join_all(servers).await.into_iter().flatten().collect();
    // One server under two names counts once.
    let mut seen = BTreeSet::new();
    servers.retain(|server| seen.insert((port_of(server), server.server.clone())));
    servers.sort_by_key(|server| server.models.first().map(rank));
    servers
}

/// The best model of the server at `base`, on this machine, if it reports more than names; otherwise its first one.
pub(crate) async fn first_model(wire: &dyn Wire, base: &Url) -> Option<String> {
    let client = http::client(base, CONNECT_LIMIT).ok().filter(|_| http::is_loopback(base))?;
    if let Some(found) = server_at(base).await.filter(|found| found.wire == wire.name()) {
        return Some(found.model);
    }
    let list = timeout(DETAILS_LIMIT, get(&client, base, wire.models_url(base).as_str())).await.ok()??;
    wire.models(&list).into_iter().next().map(|model| model.id)
}

/// The expected context size in tokens of `model` at `base`, on this machine, if the server reports it.
pub(crate) async fn context_window_tokens(base: &Url, model: &str) -> Option<u64> {
    let mut found = server_at(base).await?;
    found.choose(model);
    found.context_window_tokens
}

/// The server at `base`. Below a path there may be another one than at the root.
async fn server_at(base: &Url) -> Option<LocalServer> {
    if base.scheme() != "http" || !matches!(base.path().trim_end_matches('/'), "" | "/v1" | "/api") {
        return None;
    }
    find(&[format!("{}:{}", base.host_str()?, base.port_or_known_default()?)]).await
}

/// The hosts to search: the one in `OLLAMA_HOST`, then the usual ports.
#[must_use]
pub fn usual_hosts(ollama_host: Option<&str>) -> Vec<String> {
    let named = ollama_host.and_then(|setting| {
        let url = Url::parse(&ollama::base_of_setting(setting)).ok()?;
        Some(format!("{}:{}", url.host_str()?, url.port_or_known_default()?))
    });
    let usual = USUAL_PORTS.iter().map(|port| format!("127.0.0.1:{port}"));
    let mut hosts: Vec<String> = named.into_iter().chain(usual).collect();
    let mut seen = BTreeSet::new();
    hosts.retain(|host| seen.insert(host.clone()));
    hosts
}

/// Sends the first requests to a host. Each answer has the whole time, and none of them waits for another.
async fn look(client: &Client, base: &Url, until: Instant) -> Look {
    let ask = |path| async move { timeout_at(until, get(client, base, path)).await.ok().flatten() };
    let (list, version) = future::join(ask("v1/models"), ask("api/version")).await;
    Look { list, version }
}

/// `None` if it has no model that could answer.
async fn server(client: &Client, base: &Url, kind: &ServerKind, look: &Look, until: Instant) -> Option<LocalServer> {
    let listed = kind.listed(look);
    let detailed = timeout_at(until, (kind.details)(client, base, listed.clone())).await;
    let mut models = detailed.unwrap_or(listed);
    models.sort_by_key(rank);
    let best = models.first()?.id.clone();
    let mut server = LocalServer {
        url: format!("{base}{}", kind.path).trim_end_matches('/').to_owned(),
        wire: kind.wire,
        server: kind.name.to_owned(),
        models,
        model: String::new(),
        can_call_tools: None,
        context_window_tokens: None,
    };
    server.choose(&best);
    Some(server)
}

/// The rank of a model, the lower the better.
fn rank(model: &Model) -> (u8, bool, Reverse<u64>) {
    let tools = match model.can_call_tools {
        Some(true) => 0,
        None => 1,
        Some(false) => 2,
    };
    (tools, model.is_loaded != Some(true), Reverse(model.context_window_tokens.unwrap_or(0)))
}

fn port_of(server: &LocalServer) -> Option<u16> {
    Url::parse(&server.url).ok()?.port_or_known_default()
}

#[cfg(test)]
#[path = "detect_tests.rs"]
mod tests;
