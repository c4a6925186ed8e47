//! Cases with a line that the user is typing when a command comes.

use std::time::Duration;

use cohab_shell_relay::live::LiveEvent;

use crate::terminal::{Kind, Options, Terminal};

/// Long enough that no shell and no terminal takes an Escape for the beginning of a sequence.
pub const ESCAPE_IS_OVER: Duration = Duration::from_millis(700);

case!(case_063_half_typed_line [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.type_slowly("echo half 'ty");
    assert_eq!(t.run("echo relayed").output, "relayed\n");
    t.wait_screen("$ echo relayed\nrelayed\n$ echo half 'ty");
    t.keys("ped'\r");
    t.wait_text("\nhalf typed\n$");
});

case!(case_063_the_cursor_in_the_line [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.keys("echo öne two");
    t.type_slowly("\x1b[D\x1b[D\x1b[D\x1b[D");
    assert_eq!(t.run("echo relayed").output, "relayed\n");
    t.keys("X\r");
    t.wait_text("\nöneX two\n$");
});

case!(case_063_keys_during_the_command_stand_at_the_cursor [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.type_slowly("echo half");
    let id = t.begin("sleep 0.3");
    t.wait_started(&id);
    t.keys(" more");
    t.result(&id).expect("it runs");
    t.wait("the line", |t| t.text().ends_with("$ echo half more"));
});

case!(case_064_two_lines_in_the_buffer [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.keys("\x1b[200~echo one\necho two\x1b[201~");
    t.type_slowly("\x1b[D\x1b[D\x1b[D");
    t.run("true");
    t.wait_text("$ true\n$ echo one\n");
    t.keys("X");
    t.keys("\r");
    t.wait_text("\none\nXtwo\n$");
});

case!(case_065_a_line_typed_meanwhile_runs_once [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let id = t.begin("sleep 0.6");
    t.wait_started(&id);
    t.keys("echo typed\r");
    t.result(&id).expect("it runs");
    t.wait("the typed line's output", |t| t.text().ends_with("\ntyped\n$"));
    t.settle_for(Duration::from_millis(300));
    assert_eq!(t.text().lines().filter(|line| *line == "typed").count(), 1, "{}", t.text());
});

case!(case_065_several_lines_typed_ahead_run_one_after_the_other [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.keys("sleep 0.4\r");
    t.wait_foreground("sleep");
    t.keys("echo first\recho second\recho third\r");
    t.wait("the last line's output", |t| t.text().ends_with("\nthird\n$"));
    let outputs: Vec<String> = t.text().lines().filter(|line| !line.contains(' ')).map(str::to_owned).collect();
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).filter(|line| line.len() > 1).collect();
    let typed = ["first", "second", "third"];
    assert_eq!(outputs, typed, "{}", t.text());
    assert_eq!(t.run("echo on").output, "on\n");
});

case!(case_065_a_block_pasted_without_brackets_runs_line_by_line [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.keys("echo first\recho second\recho third\r");
    t.wait("the last line's output", |t| t.text().ends_with("\nthird\n$"));
    assert!(t.text().contains("\nfirst\n$ echo second\nsecond\n$ echo third\nthird\n$"), "{}", t.text());
});

case!(case_066_a_program_typed_ahead_gets_no_key_of_ours [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.keys("sleep 0.3\r");
    t.wait_foreground("sleep");
    t.keys("cat >eaten\r");
    let id = t.begin("echo x");
    t.wait_foreground("cat");
    t.settle_until(Duration::from_millis(900));
    t.keys("\x04");
    assert_eq!(t.result(&id).expect("it runs at the next prompt").output, "x\n");
    assert_eq!(std::fs::read(t.home_path().join("eaten")).expect("cat has made it"), b"");
});

case!(case_067_a_begun_loop [bash zsh] |kind| {
    let mut t = Terminal::of(kind);
    t.keys("for i in 1 2; do\r");
    t.wait_text("\n");
    t.wait_text(">");
    t.settle();
    assert_eq!(t.refused("true"), "continuation_line");
    t.keys("echo n$i; done\r");
    t.wait_text("n1\nn2\n$");
    assert_eq!(t.run("echo on").output, "on\n");
});

case!(case_067_a_begun_loop_in_the_buffer [fish fish4] |kind| {
    // fish has no continuation prompt: the lines stand in its buffer and come back like any line.
    let mut t = Terminal::of(kind);
    t.type_slowly("for i in 1 2\r");
    assert_eq!(t.run("echo between").output, "between\n");
    t.keys("echo n$i; end\r");
    t.wait_text("n1\nn2\n$");
});

pub fn vi_rc(kind: Kind) -> String {
    let on = match kind {
        Kind::Bash => "set -o vi\n",
        Kind::Zsh => "bindkey -v\n",
        Kind::Fish | Kind::Fish4 => "fish_vi_key_bindings\nfunction fish_mode_prompt; end\n",
    };
    format!("{}{on}", kind.plain_rc())
}

case!(case_068_vi_command_mode [bash zsh fish fish4] |kind| {
    let rc = vi_rc(kind);
    let mut t = Terminal::with(&Options { kind, rc: &rc, ..Options::default() });
    t.keys("echo abc");
    t.keys("\x1b");
    t.settle_for(ESCAPE_IS_OVER);
    assert_eq!(t.run("echo vi").output, "vi\n");
    t.wait_text("vi\n$ echo abc");
    // Still in command mode: x deletes what is under the cursor.
    t.keys("x");
    t.wait("a letter less", |t| t.text().ends_with("$ echo ab"));
    t.keys("A!\r");
    t.wait_text("\nab!\n$");
    assert_eq!(t.run("echo on").output, "on\n");
});

case!(case_069_an_open_search_is_left_alone [bash]: |kind| {
    let mut t = Terminal::of(kind);
    t.line("echo findme");
    t.keys("\x12find");
    t.wait_text("reverse-i-search");
    let id = t.begin("echo x");
    t.settle_until(Duration::from_millis(2500));
    assert!(t.text().contains("(reverse-i-search)`find': echo findme"), "{}", t.text());
    t.keys("\r");
    assert_eq!(t.result(&id).expect("it runs").output, "x\n");
    assert_eq!(t.text().lines().filter(|line| *line == "findme").count(), 2);
});

case!(case_069_an_open_search_closes_and_its_line_is_kept [zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.line("echo findme");
    t.keys("\x12find");
    t.settle_for(Duration::from_millis(300));
    assert_eq!(t.run("echo x").output, "x\n");
    t.wait("the line that was found", |t| {
        let last = t.text().lines().last().unwrap_or_default().to_owned();
        last.starts_with("$ ") && last.contains("find")
    });
    t.keys("\x03");
    t.settle();
    assert_eq!(t.run("echo on").output, "on\n");
});

fn menu_rc(kind: Kind) -> String {
    let menu = if kind == Kind::Zsh {
        "autoload -Uz compinit; compinit -u -D\nzmodload zsh/complist\nzstyle ':completion:*' menu select\n"
    } else {
        ""
    };
    format!("{}{menu}", kind.plain_rc())
}

case!(case_070_an_open_menu [zsh fish fish4] |kind| {
    let rc = menu_rc(kind);
    let mut t = Terminal::with(&Options { kind, rc: &rc, files: &[("aa-one", ""), ("aa-two", "")], ..Options::default() });
    t.keys("echo aa-\t\t");
    t.wait_text("aa-two");
    t.settle_for(Duration::from_millis(250));
    assert_eq!(t.run("echo x").output, "x\n");
    t.wait("the line", |t| t.text().lines().last().is_some_and(|line| line.starts_with("$ echo aa-")));
    t.keys("\x03");
    t.settle();
    assert_eq!(t.run("echo on").output, "on\n");
});

case!(case_070_enter_in_a_menu_only_chooses [zsh fish fish4] |kind| {
    let rc = menu_rc(kind);
    let mut t = Terminal::with(&Options { kind, rc: &rc, files: &[("aa-one", ""), ("aa-two", "")], ..Options::default() });
    t.keys("echo aa-\t\t");
    t.wait_text("aa-two");
    t.settle_for(Duration::from_millis(250));
    t.events.clear();
    t.keys("\r");
    t.settle_for(Duration::from_millis(250));
    assert!(!t.events.contains(&LiveEvent::UserCommandStarted), "{:?}", t.events);
    t.keys("\r");
    t.wait("the line's output", |t| t.text().lines().any(|line| line == "aa-one" || line == "aa-two"));
    assert_eq!(t.run("echo on").output, "on\n");
});
