//! Cases with Enter or another key that takes the line: questions are taken before the key acts.

use std::time::Duration;

use cohab_shell_relay::live::{LiveEvent, ShellState};

use crate::terminal::{Kind, Options, Terminal};

fn with_rc(kind: Kind, more: &str) -> Terminal {
    let rc = format!("{}{more}", kind.plain_rc());
    Terminal::with(&Options { kind, rc: &rc, ..Options::default() })
}

fn wait_answer(t: &mut Terminal) {
    t.wait("the answer", |t| t.events.contains(&LiveEvent::AnswerReady));
    assert_eq!(t.live.state(), ShellState::Answering);
}

fn entered(t: &Terminal) -> Vec<&str> {
    let lines = t.events.iter().filter_map(|event| match event {
        LiveEvent::LineEntered { text, .. } => Some(text.as_str()),
        _ => None,
    });
    lines.collect()
}

case!(case_106_a_question_never_runs [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.line("echo before");
    t.events.clear();
    t.keys("? touch ran; why\r");
    wait_answer(&mut t);
    assert_eq!(entered(&t), ["? touch ran; why"]);
    t.draw("? touch ran; why\nBecause.\n");
    t.end_answer(false);
    t.wait_screen("$ echo before\nbefore\n$ ? touch ran; why\nBecause.\n$");
    t.line(if kind.is_fish() { "echo $status" } else { "echo $?" });
    t.wait_text("\n0\n$");
    assert!(!t.home_path().join("ran").exists());
});

case!(case_106_a_command_is_passed_on [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let command = t.line("echo one; sh -c 'exit 3'");
    assert_eq!(command.line.as_deref(), Some("echo one; sh -c 'exit 3'"));
    assert_eq!((command.status, command.output_tail.as_str(), command.cwd), (3, "one\n", t.home_path()));
    assert_eq!(entered(&t), ["echo one; sh -c 'exit 3'"]);
    t.wait_screen("$ echo one; sh -c 'exit 3'\none\n$");
});

case!(case_106_the_line_comes_back_after_escape_and_runs [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.keys("echo it");
    t.keys("\x1b\r");
    wait_answer(&mut t);
    assert!(t.events.contains(&LiveEvent::HotkeyPressed { text: "echo it".into(), cwd: t.home_path(), is_command: Some(true) }));
    t.draw("\nThinking.\n");
    t.keys("\x1b");
    t.wait("the wish to stop", |t| t.events.contains(&LiveEvent::CancelRequested { is_escape: true }));
    t.end_answer(true);
    t.wait_screen("$\nThinking.\n$ echo it");
    t.keys("\r");
    t.wait_screen("$\nThinking.\n$ echo it\nit\n$");
});

case!(case_106_enter_in_a_search [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.line("echo findme");
    t.events.clear();
    t.keys("\x12find");
    t.wait_text("find");
    t.settle_for(Duration::from_millis(300));
    t.keys("\r");
    if kind.is_fish() {
        // The first one only chooses.
        t.settle_for(Duration::from_millis(300));
        t.keys("\r");
    }
    t.wait("the found line's output", |t| t.text().lines().filter(|line| *line == "findme").count() == 2);
    t.wait("the prompt", |t| t.events.contains(&LiveEvent::PromptReady));
    assert_eq!(t.run("echo on").output, "on\n");
    t.events.clear();
    t.keys("? why\r");
    wait_answer(&mut t);
});

case!(case_106_enter_behind_a_search [bash]: |kind| {
    for key in ["\x07", "\x15", "\x01\x0b", "\x05\x15"] {
        let mut t = Terminal::of(kind);
        t.line("echo findme");
        t.events.clear();
        t.keys("\x12find");
        t.wait_text("i-search)`find");
        t.keys(key);
        t.settle_for(Duration::from_millis(200));
        t.keys("? why");
        t.settle_for(Duration::from_millis(200));
        t.keys("\r");
        wait_answer(&mut t);
    }
});

case!(case_106_enter_under_a_list_of_completions [bash]: |kind| {
    let mut t = Terminal::with(&Options {
        kind,
        rc: kind.plain_rc(),
        files: &[("aa-one", ""), ("aa-two", "")],
        ..Options::default()
    });
    t.keys("? aa-\t\t");
    t.wait_text("aa-two");
    t.settle();
    t.keys("\r");
    wait_answer(&mut t);
});

case!(case_106_a_line_feed_takes_the_line_too [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.keys("? why\n");
    wait_answer(&mut t);
    t.draw("? why\n");
    t.end_answer(false);
    t.keys("echo j\n");
    t.wait_screen("$ ? why\n$ echo j\nj\n$");
});

case!(case_106_ctrl_o_runs_the_line [bash zsh] |kind| {
    let mut t = Terminal::of(kind);
    t.keys("echo first\r");
    t.wait_text("\nfirst\n$");
    t.events.clear();
    t.keys("echo o\x0f");
    t.wait("the prompt", |t| t.events.contains(&LiveEvent::PromptReady));
    t.wait_text("\no\n$");
    t.settle_for(Duration::from_millis(300));
    assert_eq!(t.run("echo on").output, "on\n");
});

case!(case_106_ctrl_o_means_nothing [fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.keys("echo o\x0f");
    t.settle_for(Duration::from_millis(300));
    assert_eq!(t.run("echo on").output, "on\n");
    t.wait("the line", |t| t.text().ends_with("$ echo o"));
});

case!(case_106_the_hotkey_with_any_line [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.keys("ls -la");
    t.keys("\x1b[D\x1b[D");
    t.keys("\x1b\r");
    wait_answer(&mut t);
    assert!(t.events.contains(&LiveEvent::HotkeyPressed { text: "ls -la".into(), cwd: t.home_path(), is_command: Some(true) }));
    t.draw("\nIt lists.\n");
    t.end_answer(true);
    t.wait_screen("$\nIt lists.\n$ ls -la");
    t.keys("X");
    t.wait_screen("$\nIt lists.\n$ ls -Xla");
});

case!(case_106_the_hotkey_right_behind_keys_typed_ahead [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.keys("sleep 0.4\r");
    t.wait_foreground("sleep");
    t.events.clear();
    t.keys("half");
    t.wait("the prompt", |t| t.events.contains(&LiveEvent::PromptReady));
    t.keys("\x1b\r");
    t.keys("more");
    wait_answer(&mut t);
    assert!(t.events.contains(&LiveEvent::HotkeyPressed { text: "half".into(), cwd: t.home_path(), is_command: Some(false) }), "{:?}", t.events);
    t.draw("\n");
    t.end_answer(true);
    t.wait("the line and what was typed after it", |t| t.text().ends_with("$ halfmore"));
});

case!(case_106_the_hotkey_while_the_prompt_is_made [bash zsh fish fish4] |kind| {
    let slow = match kind {
        Kind::Bash => "PROMPT_COMMAND='sleep 0.3'\n",
        Kind::Zsh => "precmd() { sleep 0.3 }\n",
        Kind::Fish | Kind::Fish4 => "function fish_prompt; sleep 0.3; printf '$ '; end\n",
    };
    let mut t = with_rc(kind, slow);
    t.keys("echo one\r");
    t.wait("its end", |t| t.events.iter().any(|event| matches!(event, LiveEvent::UserCommandFinished(_))));
    t.keys("\x1b\r");
    wait_answer(&mut t);
    assert!(t.events.contains(&LiveEvent::HotkeyPressed { text: String::new(), cwd: t.home_path(), is_command: Some(false) }));
});

/// The user's binding of Enter: `mine` is put in front of the line that runs.
fn own_enter(kind: Kind) -> &'static str {
    match kind {
        Kind::Bash => "bind '\"\\C-m\": \"\\C-aecho mine \\C-j\"'\n",
        Kind::Zsh => "own() { BUFFER=\"echo mine $BUFFER\"; zle accept-line }; zle -N own; bindkey '^M' own\n",
        Kind::Fish | Kind::Fish4 => {
            "function own; commandline -r 'echo mine '(commandline -b); commandline -f execute; end\nbind \\r own\n"
        }
    }
}

case!(case_106_enter_bound_by_the_user [bash zsh fish fish4] |kind| {
    let mut t = with_rc(kind, own_enter(kind));
    t.keys("line\r");
    t.wait_text("\nmine line\n$");
    t.settle_for(Duration::from_millis(300));
    t.keys("half");
    t.settle_for(Duration::from_millis(200));
    assert_eq!(t.run("echo on").output, "on\n");
    t.wait("the line", |t| t.text().ends_with("$ half"));
    t.events.clear();
    t.keys("\x1b\r");
    wait_answer(&mut t);
    t.draw("\n");
    t.end_answer(true);
    t.keys("\r");
    t.wait_text("\nmine half\n$");
});

case!(case_106_a_question_before_the_users_own_enter [bash fish fish4] |kind| {
    // Not in zsh: there the widget has changed the line before it is reported.
    let mut t = with_rc(kind, own_enter(kind));
    t.keys("? why\r");
    wait_answer(&mut t);
    t.draw("? why\n");
    t.end_answer(false);
    t.keys("line\r");
    t.wait_text("\nmine line\n$");
});

case!(case_106_enter_bound_at_the_first_prompt_or_later [fish fish4] |kind| {
    let mut t = with_rc(
        kind,
        "function own; commandline -r 'echo mine '(commandline -b); commandline -f execute; end\n\
         function fish_user_key_bindings; bind \\r own; end\n",
    );
    t.keys("line\r");
    t.wait_text("\nmine line\n$");
    t.settle_for(Duration::from_millis(300));
    t.keys("; bind --erase \\r\r");
    t.wait_text("bind --erase");
    t.settle_for(Duration::from_millis(500));
    t.keys("echo plain\r");
    t.wait_text("\nplain\n$");
    t.keys("bind -M default \\r own\r");
    t.settle_for(Duration::from_millis(500));
    t.keys("again\r");
    t.wait_text("\nmine again\n$");
});

case!(case_106_enter_bound_in_vi_mode [bash zsh fish fish4] |kind| {
    let vi = match kind {
        Kind::Bash => "set -o vi\nbind -m vi-insert '\"\\C-m\": accept-line'\n",
        Kind::Zsh => "bindkey -v\nbindkey -M viins '^M' accept-line\n",
        Kind::Fish | Kind::Fish4 => {
            "fish_vi_key_bindings\nfunction fish_mode_prompt; end\n\
             function own; commandline -f execute; end\nbind -M insert \\r own\n"
        }
    };
    let mut t = with_rc(kind, vi);
    t.keys("echo vi\r");
    t.wait_text("\nvi\n$");
    t.settle_for(Duration::from_millis(300));
    assert_eq!(t.run("echo on").output, "on\n");
    t.events.clear();
    // Escape and Enter in one piece are the shell's, to which fish has bound a line break; only the form of the kitty protocol is
    // Alt-Enter.
    t.keys("echo two\x1b\r");
    if kind.is_fish() {
        t.settle_for(Duration::from_millis(300));
        t.keys("\x03");
    } else {
        t.wait_text("\ntwo\n$");
    }
    assert!(!t.events.iter().any(|event| matches!(event, LiveEvent::HotkeyPressed { .. })));
    t.settle_for(Duration::from_millis(300));
    t.keys("what\x1b[13;3u");
    wait_answer(&mut t);
});

case!(
    case_106_vi_mode_by_a_key[bash] | kind | {
        let mut t = with_rc(kind, "bind -m emacs '\"\\C-xv\": vi-editing-mode'\n");
        t.line("true");
        t.keys("echo one\x18v\r");
        t.wait_text("\none\n$");
        t.settle_for(Duration::from_millis(300));
        t.events.clear();
        t.line("echo two");
        assert_eq!(told_of(&t), Some((Some(true), true)), "the shell tells of the next line by itself");
    }
);

case!(
    case_106_a_command_in_vi_mode_by_a_key[bash] | kind | {
        let mut t = with_rc(kind, "bind -m emacs '\"\\C-xv\": vi-editing-mode'\n");
        t.keys("echo half\x18v");
        t.wait_text("echo half");
        t.settle_for(Duration::from_millis(200));
        assert_eq!(t.run("echo on").output, "on\n");
        t.wait("the half-typed line", |t| t.text().ends_with("$ echo half"));
    }
);

case!(
    case_106_a_command_in_vi_mode_that_a_key_began[fish fish4] | kind | {
        let mut t = with_rc(kind, "bind \\cx fish_vi_key_bindings\n");
        t.line("true");
        t.keys("echo half\x18");
        t.wait_text("echo half");
        t.settle_for(Duration::from_millis(300));
        assert_eq!(t.run("echo on").output, "on\n");
        t.wait("the half-typed line", |t| t.text().contains("echo half"));
    }
);

case!(
    case_106_a_command_in_a_mode_of_the_users_own[fish fish4] | kind | {
        let mut t = with_rc(kind, "bind \\cx -m mine true\nbind -M mine z 'commandline -i zz'\n");
        t.line("true");
        t.keys("echo half\x18z");
        t.wait_text("echo halfzz");
        assert_eq!(t.run("echo on").output, "on\n");
        t.wait("the half-typed line", |t| t.text().contains("echo halfzz"));
    }
);

/// The last line that was entered: the shell's report about its first word, and whether Enter came by itself.
fn told_of(t: &Terminal) -> Option<(Option<bool>, bool)> {
    t.events.iter().rev().find_map(|event| match event {
        LiveEvent::LineEntered { is_command, is_alone, .. } => Some((*is_command, *is_alone)),
        _ => None,
    })
}

case!(case_106_the_shell_tells_what_its_first_word_is [bash zsh fish fish4] |kind| {
    let rc = match kind {
        Kind::Bash | Kind::Zsh => "alias gs='echo status'\nmine() { :; }\n",
        Kind::Fish | Kind::Fish4 => "alias gs 'echo status'\nfunction mine; end\n",
    };
    let mut t = with_rc(kind, rc);
    let table = [
        ("true and more", true),
        ("gs now", true),
        ("mine too", true),
        ("cd .", true),
        ("  echo blanks", true),
        ("echo;echo two", true),
        ("nosuchword is here", false),
        ("-x is no option", false),
        ("* stays a star", false),
        ("$HOME stays a name", false),
    ];
    for (line, is_command) in table {
        t.events.clear();
        t.keys(line);
        t.wait_text(line.trim());
        t.keys("\r");
        t.wait("the line", |t| told_of(t).is_some());
        assert_eq!(told_of(&t), Some((Some(is_command), true)), "{line}");
        t.wait("the prompt", |t| t.events.contains(&LiveEvent::PromptReady));
    }
});

case!(case_106_enter_in_one_burst_with_its_line [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.wait("the prompt", |t| t.live.state() == ShellState::Prompt && t.live.modes().bracketed_paste());
    t.settle_for(Duration::from_millis(300));
    t.events.clear();
    t.keys("echo burst\r");
    t.wait_text("\nburst\n$");
    // Not a paste: the terminal would mark it. zsh and fish may let it pass unreported.
    assert!(told_of(&t).is_none_or(|(_, is_alone)| is_alone), "{:?}", told_of(&t));
    t.wait("the prompt", |t| t.live.state() == ShellState::Prompt);
    t.settle_for(Duration::from_millis(300));
    t.events.clear();
    t.keys("echo one\recho two\r");
    t.wait_text("\ntwo\n$");
    assert!(told_of(&t).is_none_or(|(_, is_alone)| !is_alone), "{:?}", told_of(&t));
    t.wait("the prompt", |t| t.live.state() == ShellState::Prompt);
    t.settle_for(Duration::from_millis(300));
    t.events.clear();
    t.keys("echo slow li");
    t.wait_text("slow li");
    t.keys("ne\r");
    t.wait_text("\nslow line\n$");
    // The line is a person's, whose last letters were delayed; zsh lets it pass unreported, as it sees more keys waiting.
    assert!(told_of(&t).is_none_or(|(_, is_alone)| is_alone), "{:?}", told_of(&t));
});
