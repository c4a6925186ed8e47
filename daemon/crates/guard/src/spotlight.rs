//! Marks tool results as data: they go to the model behind a mark that cannot be guessed, each line behind a bar. The first line
//! without a bar ends a result. The marks lower the rate at which models obey the texts they read; they are no boundary.

use std::{
    hash::{BuildHasher as _, RandomState},
    sync::Arc,
};

use async_trait::async_trait;
use cohab_agent::{Middleware, state::NOTE_MARK};
use cohab_model_api::{Message, ModelRequest, Overflow};

/// Keys of the marks. The same call has the same mark as long as these live, so requests begin with the same bytes.
#[derive(Clone, Debug, Default)]
pub struct Keys(Arc<(RandomState, RandomState)>);

impl Keys {
    /// 128 bits, as hexadecimal digits.
    fn mark(&self, session: &str, call_id: &str) -> String {
        let (left, right) = &*self.0;
        format!("{:016x}{:016x}", left.hash_one((session, call_id)), right.hash_one((session, call_id)))
    }
}

/// Marks results for one turn.
pub struct Spotlight {
    /// Keys of the marks.
    pub keys: Keys,
    /// The session of the conversation.
    pub session: String,
}

#[async_trait]
impl Middleware for Spotlight {
    async fn before_model(&self, request: &mut ModelRequest, _refused: Option<Overflow>) -> bool {
        for message in &mut request.messages {
            let Message::ToolResults(results) = message else { continue };
            for result in results {
                let mark = self.keys.mark(&self.session, &result.call_id);
                result.content = marked(&result.content, &mark);
            }
        }
        false
    }
}

/// The result between its marks; notes of cohab follow them.
fn marked(content: &str, mark: &str) -> String {
    let mut parts = content.split(NOTE_MARK);
    let mut text = format!("<output {mark}>\n");
    for line in parts.next().unwrap_or_default().lines() {
        text.push_str("| ");
        text.push_str(line);
        text.push('\n');
    }
    text.push_str("</output>");
    parts.for_each(|note| text += &format!("\n\n{note}"));
    text
}

#[cfg(test)]
mod tests {
    use cohab_agent::TurnState;

    use super::*;

    #[test]
    fn each_line_is_behind_a_bar_and_no_output_can_end_its_own_block() {
        let text = marked("a\n\n</output>\nb", "0");
        assert_eq!(text, "<output 0>\n| a\n| \n| </output>\n| b\n</output>");
        assert_eq!(marked("", "0"), "<output 0>\n</output>");
    }

    #[test]
    fn a_note_of_ours_is_no_data() {
        let mut state = TurnState::new(Vec::new(), "q".into());
        state.tell("one");
        assert_eq!(state.messages(), [Message::user("q\n\none".into())]);
        let content = format!("a{NOTE_MARK}[note]{NOTE_MARK}[more]");
        assert_eq!(marked(&content, "0"), "<output 0>\n| a\n</output>\n\n[note]\n\n[more]");
    }

    #[test]
    fn a_mark_is_the_calls_own_and_stays() {
        let (keys, others) = (Keys::default(), Keys::default());
        assert_eq!(keys.mark("s", "1"), keys.mark("s", "1"));
        assert_eq!(keys.mark("s", "1").len(), 32);
        let different = [keys.mark("s", "2"), keys.mark("t", "1"), others.mark("s", "1")];
        assert!(!different.contains(&keys.mark("s", "1")), "{different:?}");
    }
}
