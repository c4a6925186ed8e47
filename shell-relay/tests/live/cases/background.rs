//! Cases with output while the assistant has the terminal: jobs' lines are handed to it, the line editor's painting is not.

use std::time::Duration;

use cohab_shell_relay::live::LiveEvent;

use crate::terminal::{Kind, Options, Terminal};

/// A shell whose line editor repaints its prompt all the time, as prompts with a clock or with the state of a repository do. Each time a
/// letter is added to `paints`.
fn restless(kind: Kind) -> Terminal {
    let restless = match kind {
        Kind::Zsh => {
            "setopt prompt_subst\nPS1='%F{green}top $(date +%N)%f\n$ '\nRPS1='%D{%S}'\nTMOUT=1\n\
             TRAPALRM() { zle reset-prompt; print -rn x >>$HOME/paints }\n"
        }
        _ => {
            "function fish_prompt; printf 'top %s\\n$ ' (random); end\n\
             function on_it --on-signal USR1; commandline -f repaint; printf x >>~/paints; end\n\
             sh -c 'while kill -USR1 '$fish_pid'; do sleep 0.2; done' &\n"
        }
    };
    let rc = format!("{}{restless}", kind.plain_rc());
    Terminal::with(&Options { kind, rc: &rc, ..Options::default() })
}

fn background(t: &Terminal) -> String {
    let written = t.events.iter().filter_map(|event| match event {
        LiveEvent::BackgroundOutput(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    });
    written.collect()
}

fn paints(t: &Terminal) -> usize {
    std::fs::read(t.home_path().join("paints")).map_or(0, |all| all.len())
}

fn ask(t: &mut Terminal) {
    t.keys("\x1b\r");
    t.wait("the answer", |t| t.events.contains(&LiveEvent::AnswerReady));
}

case!(case_300_a_prompt_painted_anew_within_an_answer_is_not_shown [zsh fish fish4] |kind| {
    let mut t = restless(kind);
    ask(&mut t);
    let before = paints(&t);
    t.wait("the prompt painted anew", |t| paints(t) > before + 2);
    t.settle_for(Duration::from_millis(100));
    assert_eq!(background(&t), "");
    t.draw("\nThe answer.\n");
    t.end_answer(false);
    assert!(t.text().contains("\nThe answer.\ntop"), "{}", t.text());
});

case!(case_301_a_jobs_lines_within_an_answer_are_handed_over [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.line("sh -c 'until [ -e go ]; do sleep 0.02; done; echo one; echo; printf \"two \\033[31mred\\033[0m\\n\"; sleep 0.1; printf half' &");
    ask(&mut t);
    std::fs::write(t.home_path().join("go"), "").unwrap();
    t.wait("the job's lines", |t| background(t).contains("red"));
    t.settle_for(Duration::from_millis(300));
    // Behind them the shell may report that the job has ended, and then repaints its prompt.
    let shown = background(&t).replace('\r', "");
    assert!(shown.starts_with("one\n\ntwo \x1b[31mred\x1b[0m\n"), "{shown:?}");
    assert!(!shown.contains('$') && shown.matches('\x1b').count() == 2, "a prompt in {shown:?}");
});

case!(case_302_the_end_of_a_job_told_at_once [bash zsh] |kind| {
    let mut t = Terminal::of(kind);
    t.line(if kind == Kind::Bash { "set -b" } else { "setopt notify" });
    t.line("sh -c 'until [ -e go ]; do sleep 0.02; done; echo last' &");
    ask(&mut t);
    std::fs::write(t.home_path().join("go"), "").unwrap();
    t.wait("the job's line", |t| background(t).contains("last"));
    t.settle_for(Duration::from_millis(300));
    let shown = background(&t);
    assert!(!shown.contains('$'), "a prompt in {shown:?}");
});
