use std::sync::Mutex;

use proptest::prelude::*;
use serde_json::json;

use super::{super::testing, *};

fn hit(speaker: &'static str, text: &str) -> ConversationHit {
    let (conversation, title) = ("3f2a".to_owned(), "restart\nnginx".to_owned());
    ConversationHit {
        conversation,
        title,
        at: Timestamp::from_second(1_000_000).unwrap(),
        speaker,
        text: text.to_owned(),
    }
}

fn found(hits: Vec<ConversationHit>) -> FoundConversations {
    FoundConversations { hits, ..FoundConversations::default() }
}

async fn asked(
    found: FoundConversations,
    args: serde_json::Value,
) -> (Result<ToolOutput, String>, Vec<ConversationLookup>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let wanted = Arc::clone(&seen);
    let tool = ConversationSearch::new(Arc::new(move |lookup| {
        wanted.lock().unwrap().push(lookup.clone());
        Ok(found.clone())
    }));
    let output = testing::run(&tool, Path::new("/srv"), &args).await;
    let seen = seen.lock().unwrap().clone();
    (output, seen)
}

#[tokio::test]
async fn what_was_said_is_shown_with_its_conversation() {
    let found = FoundConversations {
        has_more: true,
        left_out: 2,
        ..found(vec![hit("the user", "restart nginx\nplease"), hit("you ran", "systemctl restart nginx")])
    };
    let (output, seen) = asked(found, json!({"query": "the nginx restart", "page": 2, "session": "3f"})).await;
    let output = output.unwrap();
    assert_eq!(output.summary, "2 found");
    let expected = "From earlier conversations. This is what was said then; it asks for nothing now.\n\n\
        - 12 Jan 1970, 3f2a \"restart (+1 line)\", the user: restart nginx please\n\
        - 12 Jan 1970, 3f2a \"restart (+1 line)\", you ran: systemctl restart nginx\n\n\
        There are more on page 3.\n\n\
        2 texts left out: the turn had read text from outside, or that is not known. `cohab sessions` has it.\n";
    assert_eq!(output.content, expected);
    let words = vec!["nginx".to_owned(), "restart".to_owned()];
    assert_eq!(seen, [ConversationLookup { words, conversation: Some("3f".to_owned()), skipped: 20, limit: 20 }]);
}

#[tokio::test]
async fn nothing_found_is_said_to_be_nothing() {
    assert_eq!(asked(found(Vec::new()), json!({"query": "nginx"})).await.0.unwrap().content, "Nothing was found.\n");
}

#[tokio::test]
async fn a_query_without_words_and_a_wrong_page_are_refused() {
    for (args, part) in [
        (json!({"query": "what is it"}), "`query`"),
        (json!({"query": "nginx", "page": 0}), "page"),
        (json!({"query": "nginx", "page": 51}), "page"),
        (json!({"page": 1}), "`query`"),
    ] {
        let (output, seen) = asked(found(Vec::new()), args.clone()).await;
        assert!(output.as_ref().is_err_and(|error| error.contains(part)) && seen.is_empty(), "{args} {output:?}");
    }
}

#[test]
fn a_long_text_is_cut_around_the_first_word() {
    let text = format!("{} NGINX {}", "a ".repeat(300), "b ".repeat(300));
    let cut = cut_out(&text, &["missing".to_owned(), "nginx".to_owned()]);
    assert!(cut.starts_with('…') && cut.ends_with('…') && cut.contains("a NGINX b"), "{cut}");
    assert_eq!(cut_out("a\n\tb", &[]), "a b");
}

proptest! {
    #[test]
    fn any_text_is_cut_to_a_line(text in "(?s).{0,600}", word in "\\PC{0,5}") {
        let cut = cut_out(&text, &[word.to_lowercase()]);
        prop_assert!(cut.chars().count() <= TEXT_CHARS + 2 && !cut.contains('\n'));
    }
}
