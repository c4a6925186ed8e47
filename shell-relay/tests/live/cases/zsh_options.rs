//! Cases of zsh's options, which change its language: none of them may reach our script.

use std::time::Duration;

use cohab_shell_relay::live::LiveEvent;

use crate::terminal::{Kind, Options, Terminal};

const OPTIONS: [&str; 30] = [
    "auto_cd",
    "bang_hist",
    "bsd_echo",
    "c_bases",
    "chase_links",
    "complete_aliases",
    "correct_all",
    "errexit",
    "extended_glob",
    "glob_subst",
    "hist_verify",
    "ignore_braces",
    "ignore_close_braces",
    "ksh_arrays",
    "ksh_glob",
    "magic_equal_subst",
    "no_bang_hist",
    "no_clobber",
    "no_multibyte",
    "no_prompt_cr no_prompt_sp",
    "no_unset",
    "null_glob",
    "posix_builtins",
    "posix_identifiers",
    "sh_word_split",
    "share_history",
    "single_line_zle",
    "transient_rprompt",
    "warn_create_global",
    "xtrace",
];

fn works_with(t: &mut Terminal, option: &str) {
    let outcome = t.run("true");
    assert_eq!((outcome.status, outcome.output.as_str()), (Some(0), ""), "{option}");
    assert_eq!(t.run("sh -c 'echo x y; exit 3'").status, Some(3), "{option}");
    t.keys("echo half");
    t.settle_for(Duration::from_millis(200));
    assert_eq!(t.run("echo between").output, "between\n", "{option}");
    t.wait(option, |t| t.text().ends_with("echo half"));
    t.keys("-typed\r");
    t.wait_text("\nhalf-typed\n");
    t.settle_for(Duration::from_millis(200));
    t.events.clear();
    t.keys("? why\r");
    t.wait("the answer", |t| t.events.contains(&LiveEvent::AnswerReady));
    t.draw("? why\n");
    assert_eq!(t.run("echo within").output, "within\n", "{option}");
    t.end_answer(false);
    let off = t.line(&format!("for o in {option}; do [[ -o $o ]] || echo $o is off; done"));
    assert_eq!((off.status, off.output_tail.as_str()), (0, ""));
    let shown = String::from_utf8_lossy(&t.shown).into_owned();
    assert!(!shown.contains("__cohab") && !shown.contains("7391"), "{option}: {shown}");
}

fn set_by_the_start_up_file(range: std::ops::Range<usize>) {
    for option in &OPTIONS[range] {
        let rc = format!("{}setopt {option}\n", Kind::Zsh.plain_rc());
        let mut t = Terminal::with(&Options { kind: Kind::Zsh, rc: &rc, ..Options::default() });
        if *option == "xtrace" {
            // The lines of `xtrace` are on the screen, and it is switched off while a command's text runs.
            assert_eq!(t.run("true").output, "");
            continue;
        }
        works_with(&mut t, option);
    }
}

case!(case_057_options_of_zsh_from_the_start [zsh]: |_kind| {
    set_by_the_start_up_file(0..10);
});

case!(case_057_more_options_of_zsh_from_the_start [zsh]: |_kind| {
    set_by_the_start_up_file(10..20);
});

case!(case_057_still_more_options_of_zsh_from_the_start [zsh]: |_kind| {
    set_by_the_start_up_file(20..30);
});

case!(case_057_options_of_zsh_set_meanwhile [zsh]: |kind| {
    let mut t = Terminal::of(kind);
    for option in OPTIONS.iter().filter(|option| !matches!(**option, "xtrace" | "single_line_zle")) {
        t.line(&format!("setopt {option}"));
        works_with(&mut t, option);
        t.line("emulate zsh; setopt zle prompt_cr prompt_sp monitor");
        t.shown.clear();
    }
});

case!(case_062_history_variables_that_are_read_only [zsh]: |kind| {
    let rc = format!("{}HISTFILE=~/.zsh_history\nreadonly HISTFILE HISTSIZE SAVEHIST\n", kind.plain_rc());
    let mut t = Terminal::with(&Options { kind, rc: &rc, ..Options::default() });
    t.line("echo mine");
    for status in [0, 4] {
        let outcome = t.run(&format!("echo on; sh -c 'exit {status}'"));
        assert_eq!((outcome.status, outcome.output.as_str()), (Some(status), "on\n"));
    }
    t.keys("\x1b[A");
    t.wait("the line before", |t| t.text().ends_with("$ echo mine"));
    t.keys("\x15");
    t.settle_for(Duration::from_millis(200));
    assert!(!t.run("fc -l -20").output.contains("__cohab"));
    t.line("print ${(t)HISTFILE}, ${(t)HISTSIZE}, ${(t)SAVEHIST}");
    t.wait_text("scalar-readonly, integer-readonly-special, integer-readonly-special");
});

case!(case_062_a_failing_hook_does_not_drop_the_command [zsh]: |kind| {
    // If a hook of the user's fails, zsh drops the line; for our commands the line is restored.
    let mut t = Terminal::of(kind);
    t.line("readonly constant=1; zshaddhistory() { [[ $1 != *__cohab* ]] || constant=2; return 0 }");
    let outcome = t.run("echo on; sh -c 'exit 4'");
    assert_eq!((outcome.status, outcome.output.as_str()), (Some(4), "on\n"));
});
