//! The table of server kinds, one row each: the answer that identifies the kind, and the place of details about its models.

use cohab_wires::{listed_models, wire::Model};
use futures::{
    FutureExt as _,
    future::{self, BoxFuture},
};
use reqwest::{Client, Url};
use serde_json::{Value, json};

use super::ask::{get, post};

/// Most models whose details are requested one by one.
const MAX_ASKED: usize = 8;
/// llama.cpp's name for its model before it is loaded; it has only one, and accepts any name for it.
const LOADING_MODEL: &str = "default";

/// The answers of a host.
#[derive(Debug, Default)]
pub(super) struct Look {
    /// The answer of `/v1/models`.
    pub(super) list: Option<Value>,
    /// The answer of `/api/version`.
    pub(super) version: Option<Value>,
}

/// A kind of server.
pub(super) struct ServerKind {
    /// Name for people.
    pub(super) name: &'static str,
    /// Name of the wire it speaks best.
    pub(super) wire: &'static str,
    /// The path of that wire's calls, below the root.
    pub(super) path: &'static str,
    /// Whether the answer is that of such a server. Ports prove nothing.
    is_shape: fn(&Look) -> bool,
    /// Completes what `/v1/models` listed.
    pub(super) details: for<'a> fn(&'a Client, &'a Url, Vec<Model>) -> BoxFuture<'a, Vec<Model>>,
}

/// All kinds; the first match counts.
static KINDS: &[ServerKind] = &[
    ServerKind {
        name: "Ollama",
        wire: "ollama",
        path: "",
        is_shape: |look| look.list.is_some() && version(look).is_some(),
        details: |client, base, models| of_ollama(client, base, models).boxed(),
    },
    ServerKind {
        name: "LM Studio",
        is_shape: |look| owner(look) == "organization_owner",
        details: |client, base, models| of_lm_studio(client, base, models).boxed(),
        ..KIND
    },
    ServerKind {
        name: "llama.cpp",
        is_shape: |look| owner(look) == "llamacpp" || is_loading(look),
        details: |client, base, models| of_llama_cpp(client, base, models).boxed(),
        ..KIND
    },
    ServerKind { name: "vLLM", is_shape: |look| owner(look) == "vllm", ..KIND },
    ServerKind { name: "SGLang", is_shape: |look| owner(look) == "sglang", ..KIND },
    ServerKind { name: "Jan", is_shape: |look| matches!(owner(look), "jan" | "janhq" | "menlo"), ..KIND },
    ServerKind { name: "an OpenAI-compatible server", is_shape: |look| !KIND.listed(look).is_empty(), ..KIND },
];

/// The common case: the list has all facts.
const KIND: ServerKind = ServerKind {
    name: "",
    wire: "openai-chat",
    path: "v1",
    is_shape: |_| false,
    details: |_, _, models| future::ready(models).boxed(),
};

/// The kind that gave that answer.
pub(super) fn of(look: &Look) -> Option<&'static ServerKind> {
    KINDS.iter().find(|kind| (kind.is_shape)(look))
}

impl ServerKind {
    /// The models that `/v1/models` lists.
    pub(super) fn listed(&self, look: &Look) -> Vec<Model> {
        if is_loading(look) {
            return vec![Model { id: LOADING_MODEL.to_owned(), is_loaded: Some(false), ..Model::default() }];
        }
        look.list.as_ref().map(listed_models::of_data).unwrap_or_default()
    }
}

fn owner(look: &Look) -> &str {
    let owner = look.list.as_ref().and_then(|list| list.pointer("/data/0/owned_by")?.as_str());
    owner.unwrap_or_default()
}

fn version(look: &Look) -> Option<&str> {
    look.version.as_ref()?.get("version")?.as_str()
}

/// Until its model is loaded, llama.cpp answers everything with the same error.
fn is_loading(look: &Look) -> bool {
    let error = look.list.as_ref().and_then(|list| list.get("error"));
    let text = |key: &str| error.and_then(|error| error.get(key)?.as_str()).unwrap_or_default();
    text("type") == "unavailable_error" && text("message").contains("Loading model")
}

/// `/api/show` has a model's abilities, `/api/ps` the loaded models.
async fn of_ollama(client: &Client, base: &Url, models: Vec<Model>) -> Vec<Model> {
    let (mut asked, rest) = (models, Vec::new());
    let rest: Vec<Model> = if asked.len() > MAX_ASKED { asked.split_off(MAX_ASKED) } else { rest };
    let show = |model: Model| async move {
        let Some(shown) = post(client, base, "api/show", &json!({"model": model.id})).await else { return model };
        let facts = shown.get("model_info").and_then(Value::as_object).into_iter().flatten();
        let window = facts.filter(|(key, _)| key.ends_with(".context_length")).find_map(|(_, size)| size.as_u64());
        Model {
            context_window_tokens: window.or(model.context_window_tokens),
            can_call_tools: has_word(shown.get("capabilities"), "tools"),
            ..model
        }
    };
    let (mut shown, running) =
        future::join(future::join_all(asked.into_iter().map(show)), get(client, base, "api/ps")).await;
    shown.extend(rest);
    let running = running.as_ref().and_then(|running| running.get("models")?.as_array());
    for model in &mut shown {
        let is_same =
            |row: &Value| ["name", "model"].iter().any(|key| row.get(*key).is_some_and(|name| *name == model.id));
        model.is_loaded = running.map(|running| running.iter().any(is_same));
    }
    shown
}

/// Newer servers have a separate list, older ones another.
async fn of_lm_studio(client: &Client, base: &Url, models: Vec<Model>) -> Vec<Model> {
    let (new, old) = future::join(get(client, base, "api/v1/models"), get(client, base, "api/v0/models")).await;
    let rows =
        |list: Option<&Value>, key: &str| list.and_then(|list| list.get(key)?.as_array().cloned()).unwrap_or_default();
    let own: Vec<Model> = rows(new.as_ref(), "models").iter().filter_map(lm_studio_row).collect();
    let own =
        if own.is_empty() { rows(old.as_ref(), "data").iter().filter_map(old_lm_studio_row).collect() } else { own };
    if own.is_empty() { models } else { own }
}

fn lm_studio_row(row: &Value) -> Option<Model> {
    if row.get("type").is_some_and(|kind| kind != "llm") {
        return None;
    }
    let instances = row.get("loaded_instances").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let loaded = instances.iter().find_map(|instance| instance.pointer("/config/context_length")?.as_u64());
    Some(Model {
        id: row.get("key")?.as_str()?.to_owned(),
        context_window_tokens: loaded.or_else(|| row.get("max_context_length")?.as_u64()),
        can_call_tools: row.pointer("/capabilities/trained_for_tool_use").and_then(Value::as_bool),
        is_loaded: Some(!instances.is_empty()),
    })
}

fn old_lm_studio_row(row: &Value) -> Option<Model> {
    if row.get("type").is_some_and(|kind| kind == "embeddings") {
        return None;
    }
    let size = |key: &str| row.get(key).and_then(Value::as_u64);
    Some(Model {
        id: row.get("id")?.as_str()?.to_owned(),
        context_window_tokens: size("loaded_context_length").or_else(|| size("max_context_length")),
        can_call_tools: has_word(row.get("capabilities"), "tool_use"),
        is_loaded: row.get("state").map(|state| state == "loaded"),
    })
}

/// `/props` has the context size of one conversation.
async fn of_llama_cpp(client: &Client, base: &Url, mut models: Vec<Model>) -> Vec<Model> {
    let Some(props) = get(client, base, "props").await else { return models };
    let window = props.pointer("/default_generation_settings/n_ctx").and_then(Value::as_u64).filter(|size| *size > 0);
    let can_call_tools = props.pointer("/chat_template_caps/supports_tools").and_then(Value::as_bool);
    // With more than one model, they are a router's, and these facts belong to none of them.
    if let [model] = models.as_mut_slice() {
        model.context_window_tokens = window.or(model.context_window_tokens);
        model.can_call_tools = can_call_tools.or(model.can_call_tools);
    }
    models
}

fn has_word(list: Option<&Value>, word: &str) -> Option<bool> {
    list.and_then(Value::as_array).map(|words| words.iter().any(|entry| entry == word))
}
