use std::time::Duration;

use cohab_memory::{
    knowledge::record::Passage,
    past::record::{NewRun, NewTurn, PastLine, RunSource, TurnCommand},
};
use jiff::Timestamp;
use serde_json::json;

use super::{super::testing, *};

fn line(id: u64, line: &str) -> Ranked {
    let last = NewRun {
        line: line.into(),
        at: Timestamp::from_second(1_000_000).ok(),
        folder: Some("/home/ann/media".into()),
        exit_code: Some(0),
        duration: Some(Duration::from_secs(1)),
        output_tail: "frame 7\n".into(),
        source: RunSource::Shell,
    };
    Ranked { item: PastItem::Line(PastLine { id, last, runs: 2 }), score: 1.0 }
}

fn turn(id: u64, trust: f64) -> Ranked {
    let commands = vec![
        TurnCommand { line: "nginx -t".into(), exit_code: Some(1) },
        TurnCommand { line: "echo '```'".into(), exit_code: Some(0) },
    ];
    let turn = NewTurn {
        turn: id.to_string(),
        session: "s".into(),
        at: Timestamp::from_second(1_000_000).unwrap(),
        folder: "/srv".into(),
        question: "why does nginx fail\nand when".into(),
        answer: "A brace is missing.".into(),
        commands,
        trust,
    };
    Ranked { item: PastItem::Turn(PastTurn { id, turn }), score: 1.0 }
}

fn tool(found: Option<Recalled>) -> MemorySearch {
    tool_with(found, Vec::new())
}

fn tool_with(found: Option<Recalled>, passages: Vec<RankedPassage>) -> MemorySearch {
    let documents: SearchDocuments = Arc::new(move |wanted| {
        assert_eq!(wanted.folder.as_deref(), Some(Path::new("/srv")), "a project's documents stay in it");
        Ok(passages.clone())
    });
    MemorySearch::new(Arc::new(move |_, _| Ok(found.clone())), documents, "/home/ann".into())
}

fn passage(file: &str, text: &str) -> RankedPassage {
    let passage = Passage { line: 12, headings: "Deploying".into(), text: text.into() };
    RankedPassage { file: file.into(), line: 13, score: 1.0, passage }
}

async fn asked(found: Option<Recalled>) -> ToolOutput {
    testing::run(&tool(found), Path::new("/srv"), &json!({"queries": ["nginx", "video"]})).await.unwrap()
}

#[tokio::test]
async fn what_was_found_is_told_once_with_its_commands() {
    let ranked = vec![line(1, "ffmpeg -i a.mov b.mp4"), turn(2, 0.7)];
    let output = asked(Some(Recalled { ranked, ..Recalled::default() })).await;
    assert_eq!(output.summary, "2 found");
    let expected = "12 Jan 1970, in ~/media, worked, 2 times:\n\n```sh\nffmpeg -i a.mov b.mp4\n```\n\nIt printed: frame 7\n\n\
        12 Jan 1970, in /srv, asked: why does nginx fail (+1 line)\n\n```sh\nnginx -t\n```\n\nIt ended with exit 1.\n\n\
        ````sh\necho '```'\n````\n\nAnswer: A brace is missing.\n\n";
    assert_eq!(output.content, expected);
}

#[tokio::test]
async fn what_strangers_may_have_written_is_left_out() {
    let output = asked(Some(Recalled { ranked: vec![turn(2, 0.3)], is_of_another_time: true, ..Recalled::default() }))
        .await
        .content;
    assert!(output.starts_with("Nothing was found in that time.") && output.contains("why does nginx"), "{output}");
    assert!(!output.contains("brace") && !output.contains("nginx -t"), "{output}");
}

#[tokio::test]
async fn nothing_is_said_to_be_nothing() {
    assert_eq!(asked(Some(Recalled::default())).await.content, "Nothing was found.");
    assert!(asked(None).await.content.contains("memory.shell_history"));
}

#[tokio::test]
async fn passages_come_once_behind_their_source() {
    let passages = vec![passage("/home/ann/docs/a.md", "Pull the lever.\n```\nmake\n```"), passage("/tmp/b", "x")];
    let recalled = Recalled { ranked: vec![line(1, "make")], ..Recalled::default() };
    let tool = tool_with(Some(recalled), passages);
    let ask = async |kinds: serde_json::Value| {
        let arguments = json!({"queries": ["lever", "levers"], "kinds": kinds});
        testing::run(&tool, Path::new("/srv"), &arguments).await
    };
    let output = ask(json!(["knowledge"])).await.unwrap();
    let expected = "From document /home/ann/docs/a.md:12, under \"Deploying\":\n\n````\nPull the lever.\n```\nmake\n```\n````\n\n\
        From document /tmp/b:12, under \"Deploying\":\n\n```\nx\n```\n\n";
    assert_eq!((output.content.as_str(), output.summary.as_str()), (expected, "2 found"));
    assert_eq!(ask(json!([])).await.unwrap().summary, "3 found");
    assert_eq!(ask(json!(["done"])).await.unwrap().summary, "1 found");
    assert!(ask(json!(["everything"])).await.is_err());
}

#[tokio::test]
async fn queries_are_few() {
    for queries in [json!([]), json!(["a", "b", "c", "d", "e"])] {
        let error = testing::run(&tool(None), Path::new("/"), &json!({"queries": queries})).await.unwrap_err();
        assert!(error.contains("1 to 4"), "{error}");
    }
}
