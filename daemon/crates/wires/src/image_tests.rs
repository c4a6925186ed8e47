//! Each wire shows images in the form of its reference, with the text behind them.

use std::collections::BTreeSet;

use cohab_model_api::{Image, Message, ModelRequest};
use serde_json::{Value, json};

use super::{
    WIRES,
    wire::{Options, Quirk},
};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n1";
const PNG_BASE64: &str = "iVBORw0KGgox";
const PDF_BASE64: &str = "JVBERi0xLjc=";

fn question() -> ModelRequest {
    let image = |name, bytes: &[u8]| Image::read(name, bytes.to_vec()).expect("an image");
    let images = vec![image("shot.png", PNG), image("plan.pdf", b"%PDF-1.7")];
    ModelRequest::of(vec![Message::User { text: "what is this".into(), images }])
}

/// The message of the user in a body.
fn shown(wire: &str, quirks: &[Quirk]) -> Value {
    let quirks: BTreeSet<Quirk> = quirks.iter().copied().collect();
    let wire = WIRES.iter().find(|one| one.name() == wire).expect("a wire");
    let options = Options { model: "anthropic/claude-m", quirks: &quirks, ..Options::default() };
    let body = wire.body(&question(), &options);
    ["messages", "input", "contents"].iter().find_map(|key| body.get(key)).expect("messages")[0].clone()
}

#[test]
fn every_wire_shows_images_in_its_own_form() {
    let (png, pdf) =
        (format!("data:image/png;base64,{PNG_BASE64}"), format!("data:application/pdf;base64,{PDF_BASE64}"));
    let expected = [
        (
            "anthropic",
            json!([
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG_BASE64}},
                {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF_BASE64}},
                {"type": "text", "text": "what is this", "cache_control": {"type": "ephemeral"}},
            ]),
        ),
        (
            "openai-chat",
            json!([
                {"type": "image_url", "image_url": {"url": png}},
                {"type": "file", "file": {"filename": "plan.pdf", "file_data": pdf}},
                {"type": "text", "text": "what is this"},
            ]),
        ),
        (
            "openai-responses",
            json!([
                {"type": "input_image", "image_url": png},
                {"type": "input_file", "filename": "plan.pdf", "file_data": pdf},
                {"type": "input_text", "text": "what is this"},
            ]),
        ),
        (
            "gemini",
            json!([
                {"inlineData": {"mimeType": "image/png", "data": PNG_BASE64}},
                {"inlineData": {"mimeType": "application/pdf", "data": PDF_BASE64}},
                {"text": "what is this"},
            ]),
        ),
        ("ollama", json!("what is this\n\n[plan.pdf is not shown: Ollama takes no PDFs]")),
    ];
    assert_eq!(
        WIRES.iter().map(|wire| wire.name()).collect::<BTreeSet<_>>().len(),
        expected.len(),
        "each wire is here"
    );
    for (wire, parts) in expected {
        let message = shown(wire, &[]);
        let content = if wire == "gemini" { &message["parts"] } else { &message["content"] };
        assert_eq!(*content, parts, "{wire}");
        assert_eq!(message["images"] == json!([PNG_BASE64]), wire == "ollama", "{message}");
    }
}

#[test]
fn a_cache_mark_stands_behind_the_images() {
    let parts = shown("openai-chat", &[Quirk::PassesCacheControl]);
    let marks: Vec<bool> =
        parts["content"].as_array().expect("parts").iter().map(|part| part.get("cache_control").is_some()).collect();
    assert_eq!(marks, [false, false, true]);
}
