//! Lists of models as services give them.

use serde_json::Value;

use super::wire::Model;

/// Where services write the size of a context, in the order of how much it means for the next request.
const WINDOW_POINTERS: &[&str] = &[
    "/loaded_context_length",
    "/meta/n_ctx",
    "/max_model_len",
    "/context_length",
    "/context_window",
    "/max_context_length",
];

/// The models of a list in the form `{"data": [{"id": ...}]}`, without those that only embed.
pub fn of_data(answer: &Value) -> Vec<Model> {
    let rows = answer.get("data").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    rows.iter().filter_map(of_row).filter(|model| !model.id.to_ascii_lowercase().contains("embed")).collect()
}

fn of_row(row: &Value) -> Option<Model> {
    let id = row.get("id")?.as_str().filter(|id| !id.is_empty())?.to_owned();
    let context_window_tokens = WINDOW_POINTERS
        .iter()
        .find_map(|pointer| row.pointer(pointer).and_then(Value::as_u64).filter(|size| *size > 0));
    Some(Model { id, context_window_tokens, ..Model::default() })
}
