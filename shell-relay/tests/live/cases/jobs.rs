//! Cases of jobs, time, and commands that wait for one another.

use std::time::Duration;

use cohab_policy::{self, Level};
use cohab_types::command::Ending;

use crate::terminal::{BY_USER, Kind, Terminal};

case!(case_049_stopped [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let id = t.begin("sleep 30");
    t.wait_foreground("sleep");
    t.keys("\x1a");
    let outcome = t.result(&id).unwrap();
    let status = if kind.is_fish() { 0 } else { 148 };
    assert_eq!((outcome.ending, outcome.status), (Ending::Stopped, Some(status)), "{outcome:?}");
    t.settle();
    let jobs = t.run("jobs").output;
    assert!(jobs.contains("sleep 30") && jobs.to_lowercase().contains(if kind == Kind::Zsh { "suspended" } else { "stopped" }), "{jobs}");
    // The job still exists, and only a job that stops counts as one.
    assert_eq!(t.run("sh -c 'exit 148'").ending, Ending::Exited);
    assert_eq!(t.run("true").ending, Ending::Exited);
    assert_eq!(t.run("kill -9 %1; sleep 0.05; sh -c 'exit 148'").ending, Ending::Exited);
});

case!(case_049_stopped_and_gone_on [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let id = t.begin("sh -c 'echo begun; kill -STOP $$; echo gone on'");
    let outcome = t.result(&id).unwrap();
    assert_eq!(outcome.ending, Ending::Stopped, "{outcome:?}");
    t.settle();
    let command = t.line("fg");
    assert!(command.output_tail.contains("gone on"), "{command:?}");
});

case!(case_050_stopped_job_of_the_user [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    for text in ["fg", "fg %1", "bg", "kill %1"] {
        let verdict = cohab_policy::assess_line(text, cohab_policy::Context::new(&t.home_path(), &t.home_path()));
        assert_ne!(verdict.level, Level::Allow, "{text} takes a job of the user's unasked");
    }
    t.keys("sleep 30\r");
    t.wait_foreground("sleep");
    t.events.clear();
    t.keys("\x1a");
    t.wait("the prompt", |t| t.events.contains(&cohab_shell_relay::live::LiveEvent::PromptReady));
    // With the user's consent it works as usual.
    let id = t.begin("fg");
    t.wait_foreground("sleep");
    t.keys("\x03");
    let outcome = t.result(&id).unwrap();
    // fish's `fg` succeeds regardless of the end of the job.
    let expected = if kind.is_fish() { (Ending::Exited, Some(0)) } else { (BY_USER, Some(130)) };
    assert_eq!((outcome.ending, outcome.status), expected, "{outcome:?}");
    t.settle();
    assert_eq!(t.run("echo next").output, "next\n");
});

case!(case_051_background_job [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    // The sleep is longer than any wait, so a wait for it would fail.
    let outcome = t.run("sleep 600 & echo bg");
    assert_eq!((outcome.ending, outcome.status), (Ending::Exited, Some(0)));
    assert!(outcome.output.ends_with("bg\n"), "{}", outcome.output);
    assert!(t.run("jobs").output.contains("sleep 600"));
});

case!(case_052_noise_of_a_background_job [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.line("sh -c 'until [ -e go ]; do sleep 0.02; done; echo noise; touch done' &");
    let outcome = t.run("touch go; sh -c 'until [ -e done ]; do sleep 0.02; done'; echo fg");
    assert_eq!(outcome.status, Some(0));
    let noise = outcome.output.find("noise\n").expect("what it wrote is in the capture");
    assert!(noise < outcome.output.find("fg\n").unwrap(), "{:?}", outcome.output);
});

case!(case_053_time_is_up [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let mut request = t.request("echo begun; sh -c 'until [ -e go ]; do sleep 0.02; done'; echo done; sleep 0");
    request.timeout = Duration::from_millis(500);
    let id = t.begin_request(request);
    let outcome = t.result(&id).unwrap();
    assert_eq!((outcome.ending, outcome.status, outcome.output.as_str()), (Ending::StillRunning, None, "begun\n"));
    std::fs::write(t.home_path().join("go"), "").unwrap();
    t.wait_text("\nbegun\ndone\n$");
    assert_eq!(t.run("echo next").output, "next\n");
});

case!(case_054_busy [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let first = t.begin("sh -c 'until [ -e go ]; do sleep 0.02; done'");
    t.wait_started(&first);
    let second = t.begin("echo second");
    let third = t.begin("echo third");
    t.settle();
    // The queue and the wait in it are limited.
    let ids: Vec<String> = (0..3).map(|_| t.begin("true")).collect();
    assert_eq!(t.result(&ids[2]).unwrap_err().code(), "shell_busy");
    t.cancel(&ids[0]);
    assert_eq!(t.result(&ids[0]).unwrap_err().code(), "cancelled");
    t.cancel(&second);
    assert_eq!(t.result(&second).unwrap_err().code(), "cancelled");
    t.tick_later(Duration::from_secs(31));
    assert_eq!(t.result(&third).unwrap_err().code(), "shell_busy");
    assert_eq!(t.result(&ids[1]).unwrap_err().code(), "shell_busy");
    let fourth = t.begin("echo fourth");
    std::fs::write(t.home_path().join("go"), "").unwrap();
    assert_eq!(t.result(&first).unwrap().status, Some(0));
    assert_eq!(t.result(&fourth).unwrap().output, "fourth\n");
});
