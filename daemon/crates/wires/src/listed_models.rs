//! Reads the lists of models that services return.

use serde_json::Value;

use super::wire::Model;

/// Fields with the size of a context, the most relevant one for the next request first.
const WINDOW_POINTERS: &[&str] = &[
    "/loaded_context_length",
    "/meta/n_ctx",
    "/max_model_len",
    "/context_length",
    "/context_window",
    "/max_context_length",
];

/// The models of a list in the form `{"data": [{"id": ...}]}`, without embedding-only models.
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
