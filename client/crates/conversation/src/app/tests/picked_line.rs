//! What the user picked from a list of cohab is taken up when the list has ended.

use cohab_types::picked_line::report;

use super::{resume::attached, *};

/// The user's command ends with this as its output; then the prompt is there.
fn ended(bench: &mut Bench, line: &str, status: i32, output: &str) -> (Vec<Effect>, Vec<Effect>) {
    let mut effects = bench.live(LiveEvent::UserCommandFinished(UserCommand {
        line: Some(line.into()),
        status,
        cwd: CWD.into(),
        duration: Duration::from_secs(1),
        output_tail: output.into(),
        output_bytes: 9,
    }));
    effects.retain(|effect| !matches!(effect, Effect::Send(_)));
    (effects, bench.live(LiveEvent::PromptReady))
}

#[test]
fn a_picked_command_is_put_on_the_next_prompt_once() {
    let mut bench = Bench::connected();
    let picked = ended(&mut bench, "cohab history -n 9", 0, &format!("drawn\n{}\n", report("git log -3")));
    assert_eq!(picked, (vec![Effect::InsertPicked("git log -3".into())], vec![]));
}

#[test]
fn a_picked_conversation_is_joined_and_announced() {
    let mut bench = Bench::connected();
    let picked = ended(&mut bench, "cohab sessions", 0, &report("cohab sessions resume a3f9"));
    assert_eq!(picked, (vec![], vec![Effect::Join(SessionKey("resume:a3f9".into()))]));
    assert_eq!(bench.event(Event::LinkUp(attached(None))).last(), Some(&Effect::BeginAnswer));
    bench.live(LiveEvent::AnswerReady);
    assert!(bench.shown().contains("Resumed \"deploy"), "{}", bench.shown());
}

#[test]
fn only_a_list_of_ours_that_went_well_is_believed() {
    let reported = report("rm -rf /");
    for (line, status, output) in [
        ("cat notes", 0, reported.as_str()),
        ("cohab sessions show a3f9", 0, &reported),
        ("cohab history | tail", 0, &reported),
        ("cohab history; cat notes", 0, &reported),
        ("cohab history && cat notes", 0, &reported),
        ("cohab history -n 9; cat notes", 0, &reported),
        ("cohab history", 130, &reported),
        ("cohab history --plain", 0, "rm -rf /\n"),
        ("cohab history", 0, &format!("{reported}more\n")),
        ("cohab history", 0, "❯ a\u{1b}[2Jb\n"),
        ("cohab history", 0, ""),
    ] {
        let mut bench = Bench::connected();
        assert_eq!(ended(&mut bench, line, status, output), (vec![], vec![]), "{line}");
    }
}
