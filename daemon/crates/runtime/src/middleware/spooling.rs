//! Cuts long tool results: the model gets head and tail, and can page through the whole in a file.

use std::sync::Arc;

use async_trait::async_trait;
use cohab_agent::{Middleware, builtin_tools::LINE_MAX_BYTES};
use cohab_model_api::{Secrets, ToolResult};
use cohab_store::spool::Spool;
use cohab_text::cut::cut_lines;
use tokio::task::spawn_blocking;

/// The tool that pages by itself.
const READ: &str = "read";
/// Extra bytes for the notes of tools that bound their results themselves.
const NOTES_BYTES: usize = 4 * 1024;

/// Bounds the results of one turn.
pub struct Spooling {
    /// The spool and the session; `None` if nothing is stored.
    pub spool: Option<(Spool, String)>,
    /// Longest result that the model gets, in bytes.
    pub max_bytes: usize,
    /// Removes secrets from stored text.
    pub secrets: Arc<Secrets>,
}

#[async_trait]
impl Middleware for Spooling {
    async fn after_tool(&self, result: &mut ToolResult) {
        if result.content.len() <= self.max_bytes + NOTES_BYTES {
            return;
        }
        let mut hint = String::new();
        if result.tool == READ {
            hint = "[read less of it at once, with `limit`]".to_owned();
        } else if let Some((spool, key)) = self.spool.clone() {
            let (content, secrets) = (result.content.clone(), Arc::clone(&self.secrets));
            let has_long_lines = content.lines().any(|line| line.len() > LINE_MAX_BYTES);
            let broken = if has_long_lines { "; long lines are broken there" } else { "" };
            let keep = move || spool.keep(&key, &secrets.scrubbed(content), LINE_MAX_BYTES);
            match spawn_blocking(keep).await {
                Ok(Ok(path)) => {
                    hint = Spool::note(&path, broken);
                }
                Ok(Err(error)) => tracing::warn!(%error, "a long output could not be kept"),
                Err(error) => tracing::warn!(%error, "a long output could not be kept"),
            }
        }
        // At the end of the result: later shortening removes the middle.
        let content = cut_lines(&result.content, self.max_bytes);
        result.content = format!("{}\n{hint}", content.trim_end()).trim_end().to_owned();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(content: String) -> ToolResult {
        ToolResult { call_id: "1".into(), tool: "bash".into(), content, is_error: false }
    }

    #[tokio::test]
    async fn a_long_result_keeps_head_and_tail_and_is_whole_in_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let spool = Spool::at(folder.path());
        let spooling = Spooling { spool: Some((spool, "shell:1".into())), max_bytes: 4_096, secrets: Arc::default() };
        let whole: String = (0..5_000).map(|line| format!("line {line}\n")).collect::<String>() + "[exit 0]";
        let mut long = result(whole.clone());
        spooling.after_tool(&mut long).await;
        let text = &long.content;
        assert!(
            text.starts_with("line 0\n")
                && text.contains("\nline 4999\n[exit 0]\n[more of it is in ")
                && text.len() < 4_400
        );
        let (_, note) = text.split_once("[more of it is in ").expect("the file is named");
        let (path, _) = note.split_once(", for `read`").expect("it says how");
        assert_eq!(std::fs::read_to_string(path).expect("it is there"), whole);
    }

    #[tokio::test]
    async fn a_long_line_can_be_paged_through_too() {
        let folder = tempfile::tempdir().expect("a folder");
        let spool = Some((Spool::at(folder.path()), "shell:1".into()));
        let spooling = Spooling { spool, max_bytes: 4_096, secrets: Arc::default() };
        let line = "ä".repeat(10_000) + "END";
        let mut long = result(format!("{line}\n[exit 0]"));
        spooling.after_tool(&mut long).await;
        let (_, note) = long.content.split_once("[more of it is in ").expect("the file is named");
        let (path, how) = note.split_once(", for `read`").expect("it says how");
        assert!(how.ends_with("; long lines are broken there]"), "{how}");
        let kept = std::fs::read_to_string(path).expect("it is there");
        assert!(kept.lines().all(|line| line.len() <= LINE_MAX_BYTES) && kept.lines().count() == 12);
        assert_eq!(kept.replace('\n', ""), line + "[exit 0]");
    }

    #[tokio::test]
    async fn where_nothing_is_kept_or_can_be_it_is_cut_all_the_same() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let no_folder = Some((Spool::at(file.path()), "shell:1".to_owned()));
        for spool in [None, no_folder] {
            let spooling = Spooling { spool, max_bytes: 4_096, secrets: Arc::default() };
            let mut long = result("word\n".repeat(4_000));
            spooling.after_tool(&mut long).await;
            assert!(long.content.contains(" bytes left out]\n") && long.content.len() < 4_200, "{}", long.content);
            let mut page = ToolResult { tool: READ.into(), ..result("word\n".repeat(4_000)) };
            spooling.after_tool(&mut page).await;
            assert!(page.content.ends_with("\nword\n[read less of it at once, with `limit`]"));
            let mut short = result("word\n".repeat(900));
            spooling.after_tool(&mut short).await;
            assert_eq!(short.content.len(), 4_500);
        }
    }
}
