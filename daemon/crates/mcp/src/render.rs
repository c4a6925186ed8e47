//! Writes what a server answers as text for the model. Pure.

use cohab_text::cut::cut_middle;
use rmcp::model::{CallToolResult, ContentBlock, GetPromptResult, ReadResourceResult, ResourceContents, Role};

/// The text of a call's result, of at most `max_bytes`.
pub(crate) fn of_call(result: &CallToolResult, max_bytes: usize) -> String {
    let mut text = String::new();
    for block in &result.content {
        add(&mut text, &of_block(block));
    }
    if text.is_empty()
        && let Some(value) = &result.structured_content
    {
        text = value.to_string();
    }
    cut_middle(&text, max_bytes)
}

/// The text of a resource, of at most `max_bytes`.
pub(crate) fn of_resource(result: &ReadResourceResult, max_bytes: usize) -> String {
    let mut text = String::new();
    for contents in &result.contents {
        add(&mut text, &of_contents(contents));
    }
    cut_middle(&text, max_bytes)
}

/// The text of a prompt, of at most `max_bytes`. What it has the model say stands under its name.
pub(crate) fn of_prompt(result: &GetPromptResult, max_bytes: usize) -> String {
    let mut text = String::new();
    for message in &result.messages {
        let block = of_block(&message.content);
        add(&mut text, &if message.role == Role::Assistant { format!("assistant: {block}") } else { block });
    }
    cut_middle(&text, max_bytes)
}

fn add(text: &mut String, part: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    *text += part;
}

fn of_block(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => not_shown("image", &image.mime_type, image.data.len()),
        ContentBlock::Audio(audio) => not_shown("audio", &audio.mime_type, audio.data.len()),
        ContentBlock::Resource(resource) => of_contents(&resource.resource),
        ContentBlock::ResourceLink(link) => format!("[resource {} ({})]", link.uri, link.name),
        _ => "[content of a kind that cohab does not know]".to_owned(),
    }
}

fn of_contents(contents: &ResourceContents) -> String {
    match contents {
        ResourceContents::TextResourceContents { text, .. } => text.clone(),
        ResourceContents::BlobResourceContents { mime_type, blob, .. } => {
            not_shown("data", mime_type.as_deref().unwrap_or("of unknown type"), blob.len())
        }
        _ => "[content of a kind that cohab does not know]".to_owned(),
    }
}

fn not_shown(kind: &str, mime_type: &str, base64_bytes: usize) -> String {
    format!("[{kind}, {mime_type}, {} bytes: not shown]", base64_bytes / 4 * 3)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_is_shown_and_the_rest_is_named() {
        let result: CallToolResult = serde_json::from_value(json!({"content": [
            {"type": "text", "text": "a"},
            {"type": "image", "data": "AAAAAAAA", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "x:y", "text": "b"}},
            {"type": "resource_link", "uri": "x:z", "name": "z"},
        ], "structuredContent": {"n": 1}}))
        .unwrap();
        assert_eq!(of_call(&result, 1_000), "a\n[image, image/png, 6 bytes: not shown]\nb\n[resource x:z (z)]");
        let only: CallToolResult =
            serde_json::from_value(json!({"content": [], "structuredContent": {"n": 1}})).unwrap();
        assert_eq!(of_call(&only, 1_000), "{\"n\":1}");
        let long: CallToolResult =
            serde_json::from_value(json!({"content": [{"type": "text", "text": "x".repeat(100_000)}]})).unwrap();
        assert!(of_call(&long, 1_000).len() <= 1_100);
    }
}
