//! Cases with lines typed ahead into a command of the agent's that does not read them.

use std::time::Duration;

use cohab_shell_relay::live::LiveEvent;

use crate::terminal::Terminal;

case!(case_310_the_program_of_a_second_line_typed_ahead_gets_no_key_of_ours [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let id = t.begin("sleep 0.3");
    t.wait_started(&id);
    t.keys("true\rcat >eaten\r");
    let second = t.begin("echo x");
    t.result(&id).expect("it runs");
    t.wait_foreground("cat");
    t.settle_until(Duration::from_millis(400));
    t.keys("\x04");
    assert_eq!(t.result(&second).expect("it runs at the next prompt").output, "x\n");
    assert_eq!(std::fs::read(t.home_path().join("eaten")).expect("cat has made it"), b"");
});

case!(case_311_an_unfinished_line_typed_ahead_gets_its_rest [bash zsh] |kind| {
    let mut t = Terminal::of(kind);
    let id = t.begin("sleep 0.3");
    t.wait_started(&id);
    t.keys("for i in 1 2; do\r");
    t.result(&id).expect("it runs");
    t.wait_text(">");
    t.keys("echo n$i; done\r");
    t.wait_text("n1\nn2\n$");
    assert_eq!(t.run("echo on").output, "on\n");
});

case!(case_311_an_unfinished_line_typed_ahead_within_an_answer_gets_its_rest [bash zsh] |kind| {
    let mut t = Terminal::of(kind);
    t.keys("? go\r");
    t.wait("the answer", |t| t.events.contains(&LiveEvent::AnswerReady));
    t.draw("? go\n");
    let id = t.begin("sleep 0.3");
    t.wait_started(&id);
    t.keys("for i in 1 2; do\r");
    t.result(&id).expect("it runs");
    // zsh has painted its continuation prompt by the time it reports it.
    t.settle_for(Duration::from_millis(400));
    t.events.clear();
    t.keys("echo n$i; done\r");
    t.wait_text("n1\nn2");
    t.wait("the answer goes on", |t| t.events.contains(&LiveEvent::AnswerReady));
    assert_eq!(t.run("echo on").output, "on\n");
    t.draw("Done.\n");
    t.end_answer(false);
    t.wait_text("on\nDone.\n$");
});
