use clap::Parser;
use cohab_model_api::Secrets;
use cohab_store::sessions::steps::AgentStatus;

use super::{
    super::{super::testing::Home, tests::with_steps},
    *,
};

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: TraceArgs,
}

fn output(home: &Home, words: &str) -> Result<String, String> {
    let args = Line::parse_from(["trace"].into_iter().chain(words.split_whitespace())).args;
    read(args.output.expect("it is asked for"), &args, &home.paths).map_err(|failure| match failure {
        Failure::Other(message, _) => message,
        _ => panic!("another failure"),
    })
}

fn shown(home: &Home, number: u32) -> Result<String, String> {
    output(home, &format!("--output {number} --session shell:2"))
}

#[test]
fn steps_are_counted_from_the_last() {
    let home = with_steps(AgentStatus::Completed);
    let all: Vec<String> = (1..).map_while(|number| shown(&home, number).ok()).collect();
    assert!(all.len() > 2 && all.iter().all(|text| text.contains("It retries") && !text.contains('\u{1b}')), "{all:?}");
    insta::assert_snapshot!(all.join("----\n"));
    let beyond = u32::try_from(all.len()).expect("few") + 1;
    assert_eq!(shown(&home, beyond), Err(format!("only {} steps of this conversation have output", all.len())));
}

#[test]
fn the_last_conversation_counts_without_a_name() {
    let home = with_steps(AgentStatus::Completed);
    assert_eq!(output(&home, "--output 1"), shown(&home, 1));
    assert_eq!(output(&home, "last --output 2"), shown(&home, 2));
}

#[test]
fn a_conversation_without_steps_says_so() {
    let home = Home::with_sessions();
    assert_eq!(shown(&home, 1), Err("no step of this conversation has output yet".to_owned()));
}

#[test]
fn an_output_that_was_cut_is_read_whole_and_from_no_other_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let spool = Spool::at(folder.path());
    let whole: String = (0..100).map(|line| format!("line {line}\n")).collect();
    let path = spool.keep("shell:2", &Secrets::default().scrubbed(whole.clone()), 1_000).expect("kept");
    let cut = format!("line 0\n[900 bytes left out]\nline 99\n{}", Spool::note(&path, ""));
    assert_eq!(spool.whole("shell:2", &cut).as_deref(), Some(whole.as_str()));
    assert_eq!(spool.whole("shell:3", &cut), None);
    assert_eq!(spool.whole("shell:2", &whole), None);
    let elsewhere = folder.path().join("key");
    std::fs::write(&elsewhere, "secret").expect("written");
    assert_eq!(spool.whole("shell:2", &Spool::note(&elsewhere, "")), None);
}
