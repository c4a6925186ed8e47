//! Cases with commands invented to break the relay.

use std::fs;

use cohab_shell_relay::live::LiveEvent;
use cohab_types::command::{Ending, Mode};

use super::{assert_line_is_back, by, half_typed};
use crate::terminal::{Kind, Options, Terminal};

/// Asserts that each text gives just this output; the half-typed line comes back each time.
fn gives(kind: Kind, texts: &[(&str, &str)]) {
    let mut t = half_typed(kind);
    for (text, output) in texts {
        assert_eq!(t.run(text).output, *output, "{text}");
        assert_line_is_back(&mut t);
    }
}

/// Status and folder are exact.
fn assert_exact(t: &mut Terminal, why: &str) {
    let (one, other) = if t.live.cwd().ends_with("usr") { ("/var", 130) } else { ("/usr", 127) };
    let outcome = t.run(&format!("cd {one}; echo a b; sh -c 'exit {other}'"));
    assert_eq!(
        (outcome.output.as_str(), outcome.status, outcome.cwd.to_str()),
        ("a b\n", Some(other), Some(one)),
        "{why}"
    );
}

case!(case_200_nested_heredocs [bash zsh] |kind| {
    gives(kind, &[
        ("cat <<A; cat <<B\na $(cat <<C\nin $((1+1))\nC\n)\nA\nb\nB", "a in 2\nb\n"),
        ("f() { cat <<X\n$1 } )\nX\n}; f y", "y } )\n"),
        ("while read -r l; do printf '<%s>\\n' \"$l\"; done <<'E O F'\n\\a $b\n\n`c`\nE O F", "<\\a $b>\n<>\n<`c`>\n"),
        ("cat <<<\"here $(echo 's')\"", "here s\n"),
    ]);
});

case!(case_201_process_substitution [bash zsh fish fish4] |kind| {
    gives(kind, &[(by(kind, "cat <(echo a) <(echo b)", "cat (echo a | psub) (echo b | psub)"), "a\nb\n")]);
});

case!(case_202_arrays [bash zsh fish fish4] |kind| {
    gives(kind, &[(
        by(kind, "a=(1 '2 3' $'4\\n5' ''); printf '<%s>' \"${a[@]}\"; echo", "set a 1 '2 3' 4\\n5 ''; printf '<%s>' $a; echo"),
        "<1><2 3><4\n5><>\n",
    )]);
});

case!(case_203_odd_quotes [bash zsh fish fish4] |kind| {
    let texts = by(
        kind,
        "echo $'\\x41\\t\\'\\u00e9\\\\' \"a\\\"b\\`c\\$d\" 'x'\\''y' \\* \\~ a\\\nb",
        "echo \\x41\\t\\'\\u00e9\\\\ \"a\\\"b`c\\$d\" 'x\\'y' \\* \\~ a\\\nb",
    );
    gives(kind, &[(texts, "A\t'é\\ a\"b`c$d x'y * ~ ab\n")]);
});

case!(case_204_traps [bash zsh fish fish4] |kind| {
    let text = by(kind, "trap 'echo usr1' USR1; kill -USR1 $$; echo on", "function h --on-signal USR1; echo usr1; end; kill -USR1 $fish_pid; sleep 0.1; echo on");
    gives(kind, &[(text, "usr1\non\n"), ("echo off", "off\n")]);
});

case!(case_204_traps_of_every_command [bash zsh] |kind| {
    let mut t = half_typed(kind);
    t.run("trap 'seen=$((seen + 1))' DEBUG");
    assert_exact(&mut t, "DEBUG");
    t.run(by(kind, "trap - DEBUG; trap 'echo failed' ERR", ""));
    let outcome = t.run("false; true");
    assert_eq!((outcome.status, outcome.output.as_str()), (Some(0), "failed\n"));
    assert_eq!(t.run("(exit 4)").status, Some(4));
    assert_line_is_back(&mut t);
});

case!(case_204_trap_of_the_interrupt [bash zsh] |kind| {
    let mut t = half_typed(kind);
    t.run("trap 'echo trapped' INT");
    let id = t.begin("sleep 20; echo after");
    t.wait_foreground("sleep");
    t.keys("\x03");
    let outcome = t.result(&id).unwrap();
    // As without the relay: bash continues without the trap, as the program took the signal.
    assert!(outcome.output.contains(if kind == Kind::Bash { "after" } else { "trapped" }), "{outcome:?}");
    t.settle();
    t.run("trap - INT");
    assert_exact(&mut t, "INT");
    assert_line_is_back(&mut t);
});

case!(case_205_coprocess [bash zsh] |kind| {
    let mut t = half_typed(kind);
    let text = match kind {
        Kind::Bash => "coproc cat; echo x >&${COPROC[1]}; read -r l <&${COPROC[0]}; echo \"l $l\"; kill $COPROC_PID; wait $COPROC_PID",
        _ => "coproc cat; print -p x; read -p l; echo \"l $l\"; coproc :",
    };
    let outcome = t.run(text);
    assert!(outcome.output.contains("l x\n"), "{outcome:?}");
    t.run("true");
    assert_exact(&mut t, "coproc");
    assert_line_is_back(&mut t);
});

case!(case_206_read_from_the_terminal [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    let id = t.begin("read x; echo \"got $x\"");
    t.wait_started(&id);
    t.settle_for(std::time::Duration::from_millis(200));
    t.keys("an answer\r");
    let outcome = t.result(&id).unwrap();
    assert!(outcome.output.ends_with("got an answer\n"), "{outcome:?}");
    assert_line_is_back(&mut t);
    assert_exact(&mut t, "read");
});

case!(case_206_edited_line [bash zsh] |kind| {
    let mut t = half_typed(kind);
    let id = t.begin(if kind == Kind::Bash { "read -e x; echo \"got $x\"" } else { "x=; vared x; echo \"got $x\"" });
    t.wait_started(&id);
    t.settle_for(std::time::Duration::from_millis(200));
    t.keys("ax");
    t.keys("\x7fb");
    t.keys("\r");
    let outcome = t.result(&id).unwrap();
    assert!(outcome.output.ends_with("got ab\n"), "{outcome:?}");
    assert_line_is_back(&mut t);
    assert_exact(&mut t, "read -e");
});

case!(case_207_select [bash zsh] |kind| {
    let mut t = half_typed(kind);
    let id = t.begin("select x in one two; do echo \"got $x\"; break; done");
    t.wait_text("2) two");
    t.settle_for(std::time::Duration::from_millis(200));
    t.keys("2\r");
    let outcome = t.result(&id).unwrap();
    assert!(outcome.output.ends_with("got two\n"), "{outcome:?}");
    assert_line_is_back(&mut t);
    assert_exact(&mut t, "select");
});

case!(case_208_background_pipelines [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    let outcome = t.run("echo a | cat | sh -c 'sleep 0.1; cat' & wait; echo end");
    assert!(outcome.output.contains("a\n") && outcome.output.contains("end\n"), "{outcome:?}");
    assert_eq!(t.run("sleep 30 & disown; echo on").output.lines().last(), Some("on"));
    assert_exact(&mut t, "disown");
    assert_line_is_back(&mut t);
});

case!(case_209_functions_named_like_builtins [bash zsh fish fish4] |kind| {
    let names: &[&str] = match kind {
        Kind::Bash => &["read", "printf", "history", "eval", "set", "shopt", "command", "bind", "jobs", "export", "test", "unset", "type"],
        Kind::Zsh => &["read", "print", "fc", "setopt", "bindkey", "typeset", "test", "autoload"],
        _ => &["math", "jobs", "history", "commandline", "bind", "functions", "cat", "type"],
    };
    for name in names {
        let mut t = half_typed(kind);
        let text = by(kind, "NAME() { echo \"hijacked NAME\"; return 1; }", "function NAME; echo \"hijacked NAME\"; return 1; end");
        t.run(&text.replace("NAME", name));
        assert_exact(&mut t, name);
        assert_exact(&mut t, name);
        assert_line_is_back(&mut t);
    }
});

case!(case_210_aliases_of_builtins [bash zsh] |kind| {
    let names = ["eval", "builtin", "printf", "read", "set", "local", "return", "unsetopt", "setopt", "shopt", "unset", "command", "test"];
    let aliases: String = names.iter().map(|name| format!("alias {name}='echo hijacked {name};'\n")).collect();
    let mut t = Terminal::with(&Options { kind, rc: &format!("{}{aliases}", kind.plain_rc()), ..Options::default() });
    assert_exact(&mut t, "aliases of the start-up file");
    let mut t = half_typed(kind);
    t.run(&aliases);
    assert_exact(&mut t, "aliases");
    assert_exact(&mut t, "aliases");
    assert_line_is_back(&mut t);
    if kind == Kind::Zsh {
        t.run("alias -g st=hijacked on=hijacked xtrace=hijacked '2'=hijacked; alias -s null=hijacked");
        assert_exact(&mut t, "global aliases");
    }
});

case!(case_211_field_separators [bash zsh fish fish4] |kind| {
    for separators in ["0123456789", "", "abcdefghijklmnopqrstuvwxyz_-", ";/%", "\n"] {
        let mut t = half_typed(kind);
        t.run(&by(kind, "IFS='SEP'", "set -g IFS 'SEP'").replace("SEP", separators));
        assert_exact(&mut t, separators);
        assert_exact(&mut t, separators);
        assert_line_is_back(&mut t);
    }
});

case!(case_212_no_patterns [bash zsh] |kind| {
    let mut t = half_typed(kind);
    t.run("set -f; echo *");
    assert_exact(&mut t, "noglob");
    assert_line_is_back(&mut t);
});

case!(case_213_locale [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.run(by(kind, "export LC_ALL=C LANG=C", "set -gx LC_ALL C; set -gx LANG C"));
    assert_eq!(t.run("echo 日本語 é").output, "日本語 é\n");
    assert_exact(&mut t, "LC_ALL=C");
    t.run(by(kind, "export LC_ALL=C.UTF-8", "set -gx LC_ALL C.UTF-8"));
    t.keys("echo é日本");
    t.keys("\x1b[D");
    t.settle_for(std::time::Duration::from_millis(200));
    assert_exact(&mut t, "C.UTF-8");
    t.keys("X\r");
    t.wait_text("\né日X本\n$");
});

case!(case_214_output_to_the_terminal_itself [bash zsh fish fish4] |kind| {
    gives(kind, &[("echo direct >/dev/tty; echo plain", "direct\nplain\n"), ("echo error >&2; echo out | tee /dev/tty", "error\nout\nout\n")]);
});

case!(case_215_descriptors [bash zsh] |kind| {
    let mut t = half_typed(kind);
    t.run("exec 3<>file 9>other {fd}>third");
    assert_eq!(t.run("echo x >&3; echo y >&$fd; cat file third").output, "x\ny\n");
    t.run("exec 3>&- 9>&- {fd}>&-");
    assert_exact(&mut t, "descriptors");
    assert_line_is_back(&mut t);
});

case!(case_216_limits [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    t.run("ulimit -c 0; ulimit -n 64");
    assert_exact(&mut t, "descriptors");
    t.run("ulimit -f 0");
    assert_exact(&mut t, "file size");
    assert_line_is_back(&mut t);
});

case!(case_216_limits_from_the_start [zsh]: |kind| {
    let rc = format!("{}ulimit -c 0; ulimit -f 0\n", kind.plain_rc());
    let mut t = Terminal::with(&Options { kind, rc: &rc, ..Options::default() });
    t.line("alias hi=true; trap 'x=1' DEBUG");
    t.line("hi");
    t.ask_why();
    t.settle();
    assert_eq!(t.run("echo on").output, "on\n");
});

case!(case_217_long_line [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    let words = "日本 é \\\\ ".repeat(2000);
    let outcome = t.run(&format!("echo {words} | wc -w"));
    assert_eq!(outcome.output.trim(), "6000");
    assert_line_is_back(&mut t);
});

case!(case_218_odd_beginnings_and_ends [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    for (text, statuses) in [
        ("-x", &[127, 2, 1][..]),
        ("--help", &[127]),
        ("-h", &[127]),
        ("! true", &[1]),
        ("! false", &[0]),
        ("!!", &[127, 1, 2, 0]),
        ("\\", &[127, 123, 0]),
        ("echo a \\", &[0, 123]),
        ("\t \techo a\t", &[0]),
        ("echo a;", &[0]),
        ("# only a comment", &[0]),
        ("\u{feff}echo a", &[127]),
        ("echo\u{a0}a", &[127]),
        ("%", &[127, 1]),
        ("~", &[126, 0]),
    ] {
        let outcome = t.run(text);
        assert!(statuses.contains(&outcome.status.unwrap()), "{text:?} {outcome:?}");
        assert_line_is_back(&mut t);
    }
    assert_eq!(t.run("echo a\r\necho b\r\n").output.replace('\r', ""), "a\nb\n");
    assert_exact(&mut t, "CRLF");
    assert_line_is_back(&mut t);
});

case!(case_219_unbalanced_texts [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    for text in ["}", ")", "done", "fi", "end", "&&", "| cat", "echo a; )", "\" __cohab_e 0", "'; echo b", "{", "((", "[[", "case x in", "cat <"] {
        let outcome = t.run(text);
        assert!(outcome.status != Some(0) && outcome.ending == Ending::Exited, "{text:?} {outcome:?}");
        // The shell's own message may name a part of the stub.
        t.wait("the half-typed line", |t| t.text().lines().last() == Some("$ echo half"));
    }
    assert_exact(&mut t, "unbalanced");
});

case!(case_220_leaving_without_a_function_or_loop [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    let statuses: [i32; 4] = match kind {
        Kind::Bash => [2, 0, 0, 0],
        Kind::Zsh => [3, 1, 1, 3],
        _ => [3, 1, 1, 0],
    };
    for (text, status) in ["return 3", "break", "continue", "return 3; echo after"].into_iter().zip(statuses) {
        assert_eq!(t.run(text).status, Some(status), "{text}");
        assert_line_is_back(&mut t);
    }
    assert_exact(&mut t, "return");
});

case!(case_221_parts_of_the_script_are_gone [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    let text = by(kind, "unset -f __cohab_e; echo x", "functions -e __cohab_e; echo x");
    let id = t.begin(text);
    let outcome = t.result(&id).unwrap();
    assert!(outcome.output.starts_with("x\n"), "{outcome:?}");
    t.wait("the half-typed line", |t| t.text().lines().last() == Some("$ echo half"));
});

case!(case_222_key_bindings_made_anew [bash zsh fish fish4] |kind| {
    let texts: &[&str] = match kind {
        Kind::Bash => &["set -o vi", "set -o emacs", "bind 'set keymap vi'; bind 'set editing-mode vi'"],
        Kind::Zsh => &["bindkey -v", "bindkey -e", "bindkey -d"],
        _ => &["fish_vi_key_bindings", "fish_default_key_bindings", "fish_hybrid_key_bindings"],
    };
    for text in texts {
        let mut t = Terminal::of(kind);
        t.run(text);
        assert_exact(&mut t, text);
        t.keys("echo half");
        t.settle_for(std::time::Duration::from_millis(200));
        assert_exact(&mut t, text);
        t.wait("the half-typed line", |t| t.text().ends_with("$ echo half"));
    }
});

case!(case_223_echo_of_input [bash zsh] |kind| {
    let mut t = Terminal::of(kind);
    t.line("set -v");
    assert_exact(&mut t, "set -v by the user");
    assert_exact(&mut t, "set -v by the user");
    assert!(t.line("echo \"$-\"").output_tail.contains('v'));
    t.line("echo seen");
    t.wait_text("$ echo seen\necho seen\nseen\n");
    t.line("set +v");
    let outcome = t.run("set -v\necho x");
    assert!(outcome.output.ends_with("x\n") && !outcome.output.contains("__cohab"), "{outcome:?}");
    assert_exact(&mut t, "set -v by a command");
});

case!(
    case_223_trace_of_a_command[bash] | kind | {
        let mut t = Terminal::of(kind);
        for text in ["set -x; echo x", "set -x\nPS4='> '\necho x"] {
            let outcome = t.run(text);
            assert!(outcome.output.ends_with(" echo x\nx\n") && !outcome.output.contains("__cohab"), "{outcome:?}");
        }
        assert!(!t.run("echo \"$-\"").output.contains('x'));
        t.line("trap 'echo before' DEBUG");
        let outcome = t.line("true");
        assert_eq!(outcome.output_tail, "before\n");
    }
);

case!(case_224_options_of_the_shell [bash zsh] |kind| {
    let mut t = Terminal::of(kind);
    let listing = by_shell(kind, "shopt -p | awk '{print $3}'; shopt -po | awk '{print $3}'", "printf '%s\\n' ${(k)options}");
    let names = t.run(listing).output;
    // A text with errexit runs in a subshell; some end the shell or leave it without editor, or are the terminal's; one prints on
    // its own; with SH_GLOB zsh's own add-zle-hook-widget fails at each prompt.
    let not_these = "emacs vi onecmd noexec exec singlecommand zle monitor restricted restricted_shell login_shell privileged interactive \
        shinstdin stdin rcs globalrcs login keyword norcs promptvars printexitvalue shglob errexit errreturn";
    let not_these: Vec<&str> = not_these.split_whitespace().collect();
    assert!(names.lines().count() > 60, "{names}");
    for name in names.lines().filter(|name| !not_these.contains(name)) {
        let flip = by_shell(
            kind,
            "if shopt -q NAME; then shopt -u NAME; elif [[ -o NAME ]]; then set +o NAME; else shopt -s NAME || set -o NAME; fi 2>/dev/null",
            "if [[ -o NAME ]]; then unsetopt NAME; else setopt NAME; fi 2>/dev/null",
        );
        let flip = flip.replace("NAME", name);
        for text in [&flip, "cd /usr; echo 'a b'; (exit 127)", "cd /; echo 'a b'; (exit 130)", &flip] {
            let id = t.begin(text);
            let outcome = t.result(&id).unwrap();
            if text != flip {
                let (cwd, status) = if text.contains("127") { ("/usr", 127) } else { ("/", 130) };
                assert_eq!((outcome.output.as_str(), outcome.status, outcome.cwd.to_str()), ("a b\n", Some(status), Some(cwd)), "{name}");
            }
        }
    }
});

fn by_shell<'a>(kind: Kind, bash: &'a str, zsh: &'a str) -> &'a str {
    if kind == Kind::Bash { bash } else { zsh }
}

case!(case_225_stdin_of_the_shell [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    let outcome = t.run("exec </dev/null");
    assert_eq!(outcome.mode, if kind.is_fish() { Mode::Live } else { Mode::Subshell });
    assert_exact(&mut t, "stdin");
});

case!(case_226_odd_events [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    t.run("kill -WINCH $$ 2>/dev/null; kill -CONT $$ 2>/dev/null; sleep 0.05");
    let odd = |event: &LiveEvent| matches!(event, LiveEvent::UserCommandStarted);
    assert!(!t.events.iter().any(odd));
    fs::write(t.home_path().join("script"), "echo sourced\nreturn 4\n").unwrap();
    assert_eq!(t.run(". ./script").status, Some(4));
    assert_exact(&mut t, "signals");
    assert_line_is_back(&mut t);
});
