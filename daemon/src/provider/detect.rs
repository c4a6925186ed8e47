//! Looks for model servers on this machine: loopback only, no key sent, nothing started, a fraction of a second.

use std::time::Duration;

use futures::future;
use reqwest::{Client, Method, Url};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout, timeout_at};

use super::{http, wire::Wire};

/// For connecting.
const CONNECT_LIMIT: Duration = Duration::from_millis(150);
/// For finding out who is there, over all ports.
const FIRST_CHECK_LIMIT: Duration = Duration::from_millis(300);
/// For the details of the models of one server that was found.
const DETAILS_LIMIT: Duration = Duration::from_secs(2);
/// Of an answer, as much is read.
const MAX_BODY_BYTES: usize = 1024 * 1024;
/// Of so many models details are asked.
const MAX_MODELS: usize = 8;

/// Where local servers listen unless told otherwise: Ollama, LM Studio, llama.cpp, vLLM, Jan, SGLang.
pub const USUAL_PORTS: &[u16] = &[11434, 1234, 8080, 8000, 1337, 30000];

/// A model server on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// Base URL for the wire `openai-chat`.
    pub url: String,
    /// What it is, for people: `Ollama`, `llama.cpp`, or what its answer says.
    pub server: String,
    /// The model to ask.
    pub model: String,
    /// Whether the model can call tools; `None` when the server does not say.
    pub can_call_tools: Option<bool>,
}

/// Looks at `hosts` (`127.0.0.1:11434`) at the same time, for 300 ms in all; the details of a server that was found may take
/// 2 s more. Hosts that are not on this machine are left out. Of several servers the one whose model can call tools wins, then
/// the order of `hosts`.
pub async fn find(hosts: &[String]) -> Option<LocalServer> {
    let bases: Vec<Url> =
        hosts.iter().filter_map(|host| Url::parse(&format!("http://{host}/")).ok()).filter(http::is_loopback).collect();
    let client = http::client(bases.first()?, CONNECT_LIMIT).ok()?;
    let until = Instant::now() + FIRST_CHECK_LIMIT;
    let checks = bases.iter().map(|base| timeout_at(until, first_check(&client, base)));
    let answers = future::join_all(checks).await;
    let mut found = Vec::new();
    for candidate in answers.into_iter().filter_map(Result::ok).flatten() {
        found.push(candidate.with_details(&client).await);
    }
    let best = found.iter().position(|server| server.can_call_tools == Some(true)).unwrap_or(0);
    (!found.is_empty()).then(|| found.swap_remove(best))
}

/// The model that the server at `base`, on this machine, offers first.
pub(crate) async fn first_model(wire: &dyn Wire, base: &Url) -> Option<String> {
    let client = http::client(base, CONNECT_LIMIT).ok().filter(|_| http::is_loopback(base))?;
    let list = timeout(DETAILS_LIMIT, fetch(&client, Method::GET, wire.models_url(base), None)).await.ok()??;
    wire.models(&list).into_iter().next().map(|model| model.id)
}

/// Where to look: the host named by `OLLAMA_HOST`, then the usual ports.
#[must_use]
pub fn usual_hosts(ollama_host: Option<&str>) -> Vec<String> {
    let named = ollama_host.map(str::trim).filter(|host| !host.is_empty()).and_then(host_of_setting);
    let usual = USUAL_PORTS.iter().map(|port| format!("127.0.0.1:{port}"));
    let mut hosts: Vec<String> = named.into_iter().chain(usual).collect();
    let mut seen = std::collections::BTreeSet::new();
    hosts.retain(|host| seen.insert(host.clone()));
    hosts
}

/// `OLLAMA_HOST` may be a host, a port, both, or a URL; a server that listens everywhere is asked on loopback.
fn host_of_setting(setting: &str) -> Option<String> {
    let setting = setting.strip_prefix("https://").or_else(|| setting.strip_prefix("http://")).unwrap_or(setting);
    let setting = setting.split('/').next().unwrap_or_default();
    let with_host = if setting.starts_with(':') { format!("127.0.0.1{setting}") } else { setting.to_owned() };
    let url = Url::parse(&format!("http://{with_host}/")).ok()?;
    let host = match url.host_str()? {
        "0.0.0.0" | "[::]" => "127.0.0.1",
        host => host,
    };
    // The URL parser hides port 80, the default of its scheme.
    let port = url.port().unwrap_or(if with_host.ends_with(":80") { 80 } else { USUAL_PORTS[0] });
    Some(format!("{host}:{port}"))
}

/// A server that answered like one.
struct Candidate {
    base: Url,
    kind: Kind,
    models: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Ollama,
    LmStudio,
    LlamaCpp,
    Vllm,
    Sglang,
    Other,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Ollama => "Ollama",
            Self::LmStudio => "LM Studio",
            Self::LlamaCpp => "llama.cpp",
            Self::Vllm => "vLLM",
            Self::Sglang => "SGLang",
            Self::Other => "an OpenAI-compatible server",
        }
    }

    /// By the answer's shape; ports prove nothing.
    fn of(list: &Value, has_ollama_version: bool) -> Self {
        let owner = list.pointer("/data/0/owned_by").and_then(Value::as_str).unwrap_or_default();
        match owner {
            _ if has_ollama_version => Self::Ollama,
            "organization_owner" => Self::LmStudio,
            "llamacpp" => Self::LlamaCpp,
            "vllm" => Self::Vllm,
            "sglang" => Self::Sglang,
            _ => Self::Other,
        }
    }
}

async fn first_check(client: &Client, base: &Url) -> Option<Candidate> {
    let models = fetch(client, Method::GET, base.join("v1/models").ok()?, None);
    let version = fetch(client, Method::GET, base.join("api/version").ok()?, None);
    let (list, version) = future::join(models, version).await;
    let list = list?;
    let models = model_ids(&list);
    let has_ollama_version = version.is_some_and(|version| version.get("version").is_some_and(Value::is_string));
    let kind = Kind::of(&list, has_ollama_version);
    (!models.is_empty()).then(|| Candidate { base: base.clone(), kind, models })
}

/// Ids of the models in an answer to `/v1/models`, without those that only embed.
fn model_ids(list: &Value) -> Vec<String> {
    let models = list.get("data").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let ids = models.iter().filter_map(|model| model.get("id")).filter_map(Value::as_str);
    ids.filter(|id| !id.is_empty() && !id.to_ascii_lowercase().contains("embed")).map(str::to_owned).collect()
}

impl Candidate {
    /// Chooses the model: one that can call tools, and of those a loaded one, where the server tells.
    async fn with_details(self, client: &Client) -> LocalServer {
        let known = match self.kind {
            Kind::Ollama => timeout(DETAILS_LIMIT, self.ask_ollama(client)).await.ok().flatten(),
            Kind::LmStudio => timeout(DETAILS_LIMIT, self.ask_lm_studio(client)).await.ok().flatten(),
            _ => None,
        };
        let (model, can_call_tools) = known.unwrap_or_else(|| (self.models[0].clone(), None));
        let url = format!("{}v1", self.base);
        LocalServer { url, server: self.kind.name().to_owned(), model, can_call_tools }
    }

    async fn ask_ollama(&self, client: &Client) -> Option<(String, Option<bool>)> {
        let url = self.base.join("api/show").ok()?;
        let models = &self.models[..self.models.len().min(MAX_MODELS)];
        let asked = models.iter().enumerate().map(|(rank, model)| {
            let answer = fetch(client, Method::POST, url.clone(), Some(json!({"model": model})));
            async move { Some((rank, has_word(answer.await?.get("capabilities"), "tools"))) }
        });
        let answers = future::join_all(asked).await;
        let mut told: Vec<(usize, bool)> = answers.into_iter().flatten().collect();
        told.sort_unstable_by_key(|(rank, can)| (!can, *rank));
        told.first().map(|(rank, can)| (self.models[*rank].clone(), Some(*can)))
    }

    async fn ask_lm_studio(&self, client: &Client) -> Option<(String, Option<bool>)> {
        let list = fetch(client, Method::GET, self.base.join("api/v0/models").ok()?, None).await?;
        let models = list
            .get("data")?
            .as_array()?
            .iter()
            .filter(|model| model.get("type").is_none_or(|kind| kind != "embeddings"));
        let best = models
            .min_by_key(|model| (!has_word(model.get("capabilities"), "tool_use"), model["state"] != "loaded"))?;
        let can = best.get("capabilities").map(|words| has_word(Some(words), "tool_use"));
        Some((best.get("id")?.as_str()?.to_owned(), can))
    }
}

fn has_word(list: Option<&Value>, word: &str) -> bool {
    list.and_then(Value::as_array).is_some_and(|words| words.iter().any(|entry| entry == word))
}

/// The JSON answer of a request, if it succeeds and is not too long.
async fn fetch(client: &Client, method: Method, url: Url, body: Option<Value>) -> Option<Value> {
    let request = client.request(method, url);
    let request = if let Some(body) = body { request.json(&body) } else { request };
    let mut response = request.send().await.ok().filter(|response| response.status().is_success())?;
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_BODY_BYTES {
            return None;
        }
    }
    serde_json::from_slice(&bytes).ok()
}

#[cfg(test)]
#[path = "detect_tests.rs"]
mod tests;
