//! Cases of the user's prompt and the hooks around it, also when they change while the shell runs.

use std::time::Duration;

use cohab_shell_relay::live::LiveEvent;

use crate::terminal::{Kind, Options, Terminal};

fn with_rc(kind: Kind, more: &str) -> Terminal {
    let rc = format!("{}{more}", kind.plain_rc());
    Terminal::with(&Options { kind, rc: &rc, ..Options::default() })
}

/// Types a line; its end need not be reported.
fn change(t: &mut Terminal, line: &str) {
    t.events.clear();
    t.keys(format!("{line}\r"));
    t.wait(line, |t| t.events.contains(&LiveEvent::PromptReady));
    t.settle_for(Duration::from_millis(200));
}

/// Types a line whose end no mark reports.
fn untold(t: &mut Terminal, line: &str) {
    t.keys(format!("{line}\r"));
    t.settle_for(Duration::from_millis(300));
}

/// All functions of the relay for a user: commands, the line, questions, the end of the user's commands.
fn works_on(t: &mut Terminal) {
    for status in [9, 0] {
        let outcome = t.run(&format!("echo on; sh -c 'exit {status}'"));
        assert_eq!((outcome.status, outcome.output.as_str()), (Some(status), "on\n"));
    }
    t.keys("echo half");
    t.settle_for(Duration::from_millis(200));
    assert_eq!(t.run("echo between").output, "between\n");
    t.wait("the line", |t| t.text().ends_with("echo half"));
    t.keys("-typed\r");
    t.wait_text("\nhalf-typed\n");
    t.settle_for(Duration::from_millis(300));
    asks(t);
    assert_eq!(t.line("sh -c 'exit 4'").status, 4);
    assert!(!t.shown.windows(4).any(|window| window == b"7391"), "a mark reached the terminal");
}

fn asks(t: &mut Terminal) {
    t.ask_why();
    t.wait_text("? why\nBecause.\n");
}

case!(case_079_the_prompt_command_replaced [bash]: |kind| {
    let mut t = Terminal::of(kind);
    for line in ["PROMPT_COMMAND=true", "PROMPT_COMMAND=(true 'true; true')", "t.run", "unset PROMPT_COMMAND"] {
        if line == "t.run" {
            t.run("PROMPT_COMMAND=true");
        } else {
            change(&mut t, line);
        }
        works_on(&mut t);
    }
});

case!(case_079_the_prompt_replaced [bash zsh] |kind| {
    let mut t = Terminal::of(kind);
    for line in ["PS1='new> '", "PS1= PS2= PS0=", "PS1='two\nrows> '", "unset PS1 PS2 PS0", "PS1='$ '"] {
        change(&mut t, line);
        works_on(&mut t);
        t.run("PS1='of a command> '");
        works_on(&mut t);
    }
});

case!(case_079_prompts_that_do_not_expand [bash]: |kind| {
    let mut t = Terminal::of(kind);
    t.keys("shopt -u promptvars\r");
    t.settle_for(Duration::from_millis(500));
    asks(&mut t);
    // The beginning of a command is not reported, and so not its end.
    untold(&mut t, "echo one");
    asks(&mut t);
    for status in [9, 0] {
        let outcome = t.run(&format!("echo on; sh -c 'exit {status}'"));
        assert_eq!((outcome.status, outcome.output.as_str()), (Some(status), "on\n"));
    }
    change(&mut t, "shopt -s promptvars");
    works_on(&mut t);
});

case!(case_079_hooks_and_marks_gone [bash]: |kind| {
    let mut t = Terminal::of(kind);
    change(&mut t, "unset PROMPT_COMMAND");
    // The next Enter puts the hooks back.
    change(&mut t, "PS1='bare> ' PS0= PS2=");
    works_on(&mut t);
    change(&mut t, "unset PROMPT_COMMAND");
    change(&mut t, "shopt -u promptvars");
    asks(&mut t);
    untold(&mut t, "echo two");
    asks(&mut t);
    assert_eq!(t.run("echo on; sh -c 'exit 3'").status, Some(3));
});

case!(case_079_the_start_up_file_read_again [bash zsh fish fish4] |kind| {
    let mut t = with_rc(kind, if kind == Kind::Bash { "PROMPT_COMMAND='last=$?'\n" } else { "" });
    change(&mut t, &format!("source ~/{}", kind.rc_file()));
    works_on(&mut t);
    change(&mut t, &format!("source ~/{}", kind.rc_file()));
    works_on(&mut t);
});

case!(case_079_the_hooks_replaced [zsh]: |kind| {
    let mut t = Terminal::of(kind);
    let lines = [
        "precmd_functions=()",
        "precmd() { last=$? }",
        "preexec_functions=() zshaddhistory_functions=()",
        "unset precmd_functions",
        "zle-line-init() { : }; zle -N zle-line-init",
        "zle -D zle-line-init",
        "bindkey -v",
        "bindkey -e",
    ];
    for line in lines {
        change(&mut t, line);
        works_on(&mut t);
    }
    assert!(!t.run("history").output.contains("__cohab"));
});

case!(case_079_the_prompt_function_replaced [fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let lines = [
        "function fish_prompt; printf 'new> '; end",
        "function fish_prompt; printf 'two\\nrows> '; end",
        "functions -e fish_prompt",
        "function fish_prompt; end",
        "fish_vi_key_bindings; function fish_mode_prompt; end",
        "fish_default_key_bindings",
    ];
    for line in lines {
        change(&mut t, line);
        works_on(&mut t);
    }
});

fn two_rows(kind: Kind) -> &'static str {
    match kind {
        Kind::Bash => "build() { PS1=\"[$?] \\\\w\\n> \"; }; PROMPT_COMMAND=build; cd /usr\n",
        Kind::Zsh => "precmd() { PS1=\"[$?] %~\"$'\\n> ' }; cd /usr\n",
        Kind::Fish | Kind::Fish4 => "function fish_prompt; printf '[%s] %s\\n> ' $status (pwd); end; cd /usr\n",
    }
}

case!(case_084_two_rows_built_at_each_prompt [bash zsh fish fish4] |kind| {
    let mut t = with_rc(kind, two_rows(kind));
    t.run("sh -c 'exit 5'");
    t.wait_screen("[0] /usr\n> sh -c 'exit 5'\n[5] /usr\n>");
    t.keys("echo half");
    t.settle_for(Duration::from_millis(200));
    t.run("cd /var");
    t.wait_screen("[0] /usr\n> sh -c 'exit 5'\n[5] /usr\n> cd /var\n[0] /var\n> echo half");
    t.keys("-typed\r");
    t.wait_screen("[0] /usr\n> sh -c 'exit 5'\n[5] /usr\n> cd /var\n[0] /var\n> echo half-typed\nhalf-typed\n[0] /var\n>");
});

case!(case_084_two_rows_around_an_answer [bash zsh fish fish4] |kind| {
    let mut t = with_rc(kind, two_rows(kind));
    t.keys("? why\r");
    t.wait("the answer", |t| t.events.contains(&LiveEvent::AnswerReady));
    t.draw("? why\nBecause.\n");
    t.end_answer(false);
    t.wait_screen("[0] /usr\n> ? why\nBecause.\n[0] /usr\n>");
});

case!(case_080_a_string_that_reads_the_status [bash]: |kind| {
    let mut t = with_rc(kind, "trap 'dbg=$BASH_COMMAND' DEBUG; PROMPT_COMMAND='last=$?'\n");
    hooks_see_the_status(&mut t);
    t.line("echo before; echo \"[$dbg]\"");
    t.wait_text("before\n[echo \"[$dbg]\"]\n");
    assert!(t.run("trap -p DEBUG").output.starts_with("trap -- 'dbg=$BASH_COMMAND' DEBUG"));
});

case!(case_080_an_array_that_reads_the_status [bash]: |kind| {
    let mut t = with_rc(kind, "PROMPT_COMMAND=('last=$?' 'again=$?; ((++prompts))')\nprompts=0\n");
    hooks_see_the_status(&mut t);
    t.line("echo \"again $again\"");
    t.wait_text("again 0\n");
    // Each prompt once: the commands above and those of the check.
    let before: u32 = t.line("echo $prompts").output_tail.trim().parse().unwrap();
    t.run("true");
    let after: u32 = t.line("echo $prompts").output_tail.trim().parse().unwrap();
    assert_eq!(after, before + 2);
});

case!(case_080_a_function_that_is_the_hook [bash]: |kind| {
    let mut t = with_rc(kind, "hook() { local st=$?; last=$st; return $st; }; PROMPT_COMMAND=hook\n");
    hooks_see_the_status(&mut t);
});

/// Asserts that the hooks of the user's commands and of ours see the status.
fn hooks_see_the_status(t: &mut Terminal) {
    t.line("(exit 7)");
    t.line("echo \"last=$last status=$?\"");
    t.wait_text("last=7 status=7");
    t.run("(exit 8)");
    t.line("echo \"last=$last status=$?\"");
    t.wait_text("last=8 status=8");
}
