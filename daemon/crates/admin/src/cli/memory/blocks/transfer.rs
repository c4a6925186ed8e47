//! Writes blocks as values of JSON and reads them again: `kind` is `block`, then label, scope, description, limit, template and value.

use cohab_memory::{
    blocks::{
        change,
        operations::{self, Changed},
        record::{Block, BlockKey, BlockLabel, USUAL_CHARS},
        store::BlockStore as _,
    },
    record::Scope,
};
use cohab_store::memory::SqliteMemory;
use serde_json::{Value, json};

use super::{
    super::{
        super::Failure,
        Caller,
        store::{self, scope_json},
    },
    fault, stored,
};

/// The value of `kind` in a line with a block.
pub(in super::super) const KIND: &str = "block";

/// The blocks that were written, as values.
pub(in super::super) fn exported(store: &SqliteMemory, caller: &Caller<'_>) -> Result<Vec<Value>, Failure> {
    let blocks = store.blocks(None).map_err(store::unusable(caller.paths))?;
    let value = |block: &Block| {
        json!({
            "kind": KIND,
            "label": block.key.label.as_str(),
            "scope": scope_json(&block.key.scope),
            "description": block.description,
            "limit": block.max_chars,
            "template": block.template,
            "value": block.value,
        })
    };
    Ok(blocks.iter().map(value).collect())
}

/// The block in a value, once its texts satisfy the constraints. The error is the fault and the remedy.
pub(in super::super) fn read(value: &Value, scope: Scope) -> Result<Block, (String, Option<String>)> {
    let fault = |message: String| (message, None);
    let text = |name: &str| match &value[name] {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        _ => Err(fault(format!("its `{name}` is not a text"))),
    };
    let label: BlockLabel =
        text("label")?.parse().map_err(|error| fault(format!("its `label` cannot be used: {error}")))?;
    let max_chars = match &value["limit"] {
        Value::Null => Some(USUAL_CHARS),
        limit => limit.as_u64().and_then(|limit| usize::try_from(limit).ok()),
    };
    let max_chars = max_chars.ok_or_else(|| fault("its `limit` is not a number of characters".to_owned()))?;
    let block = Block {
        key: BlockKey { label, scope },
        description: text("description")?,
        max_chars,
        template: text("template")?,
        value: change::clean(&text("value")?),
        version: None,
    };
    let checked = operations::constrained(&block, &stored::secret_finder());
    checked.map_err(|fault| {
        let (message, hint) = fault::sentence(&fault, &block.key.label);
        (message, Some(hint))
    })
}

/// Stores a block that was read. False if its text was there already.
pub(in super::super) fn import(block: &Block, store: &mut SqliteMemory, caller: &Caller<'_>) -> Result<bool, Failure> {
    let imported = operations::import(store, block, &stored::secret_finder(), caller.now.timestamp());
    match imported {
        Ok(Changed::Written(_)) => Ok(true),
        Ok(Changed::Unchanged(_)) => Ok(false),
        Err(error) => Err(fault::failure(error, &block.key.label, caller)),
    }
}
