//! What a client of the Agent Client Protocol says, as far as cohab reads it.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use url::Url;

/// Parameters of `session/new`.
#[derive(Clone, Debug, Deserialize)]
pub struct NewSession {
    /// The folder.
    pub cwd: PathBuf,
}

/// Parameters of `session/load` and `session/resume`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadSession {
    /// The session.
    pub session_id: String,
    /// The folder.
    pub cwd: PathBuf,
}

/// Parameters of requests about a session.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OfSession {
    /// The session.
    pub session_id: String,
}

/// Parameters of `session/list`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ListSessions {
    /// Only those of this folder.
    pub cwd: Option<PathBuf>,
    /// Where the last answer ended.
    pub cursor: Option<String>,
}

/// Parameters of `session/set_mode`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SetMode {
    /// The session.
    pub session_id: String,
    /// The mode.
    pub mode_id: String,
}

/// Parameters of `session/prompt`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Prompt {
    /// The session.
    pub session_id: String,
    /// The question, in pieces.
    pub prompt: Vec<Block>,
}

/// A piece of a question.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// Something to look at.
    ResourceLink {
        /// Where it is.
        uri: String,
        /// Its name.
        #[serde(default)]
        name: String,
    },
    /// The text of a file.
    Resource {
        /// The file.
        resource: Resource,
    },
    /// A picture or a sound, which cohab does not announce to take.
    #[serde(other)]
    Other,
}

/// The text of a file.
#[derive(Clone, Debug, Deserialize)]
pub struct Resource {
    /// Where it is.
    pub uri: String,
    /// Its text; absent for bytes.
    pub text: Option<String>,
}

/// The answer to `session/request_permission`.
#[derive(Clone, Debug, Deserialize)]
pub struct PermissionAnswer {
    /// The outcome.
    pub outcome: Outcome,
}

/// What the user chose.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// One of our options.
    #[serde(rename_all = "camelCase")]
    Selected {
        /// The option.
        option_id: String,
    },
    /// The turn was cancelled meanwhile.
    Cancelled,
}

/// The question and what comes with it: text, and texts of files.
///
/// # Errors
/// A piece is of a kind that cohab does not take.
pub fn question(prompt: Vec<Block>) -> Result<(String, Option<String>), String> {
    let (mut text, mut piped) = (String::new(), String::new());
    for block in prompt {
        match block {
            Block::Text { text: more } => text.push_str(&more),
            Block::ResourceLink { uri, name } => text.push_str(&link(&uri, &name)),
            Block::Resource { resource: Resource { uri, text: Some(content) } } => {
                text.push_str(&link(&uri, ""));
                piped.push_str(&format!("--- {uri}\n{content}\n"));
            }
            Block::Resource { resource } => return Err(format!("{} is not text", resource.uri)),
            Block::Other => return Err("only text, links and texts of files are taken".to_owned()),
        }
    }
    Ok((text, (!piped.is_empty()).then_some(piped)))
}

/// A link as words of the question: a file of this machine by its path.
fn link(uri: &str, name: &str) -> String {
    let path = Url::parse(uri).ok().and_then(|url| url.to_file_path().ok());
    match path.as_deref().and_then(Path::to_str) {
        Some(path) => path.to_owned(),
        None if name.is_empty() => uri.to_owned(),
        None => format!("{name} ({uri})"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(blocks: serde_json::Value) -> Result<(String, Option<String>), String> {
        question(serde_json::from_value(blocks).unwrap())
    }

    #[test]
    fn a_question_is_made_of_its_pieces() {
        let (text, piped) = of(json!([
            {"type": "text", "text": "what is in "},
            {"type": "resource_link", "uri": "file:///work/a%20b.rs", "name": "a b.rs"},
            {"type": "text", "text": " and "},
            {"type": "resource", "resource": {"uri": "untitled:1", "text": "fn x() {}", "mimeType": "text/rust"}},
        ]))
        .unwrap();
        assert_eq!(text, "what is in /work/a b.rs and untitled:1");
        assert_eq!(piped.as_deref(), Some("--- untitled:1\nfn x() {}\n"));
    }

    #[test]
    fn what_is_no_text_is_refused() {
        assert!(of(json!([{"type": "image", "data": "AA==", "mimeType": "image/png"}])).is_err());
        assert!(of(json!([{"type": "resource", "resource": {"uri": "file:///a", "blob": "AA=="}}])).is_err());
    }
}
