//! Cases with a shell whose own output is redirected.

use crate::terminal::Terminal;

case!(case_077_output_to_a_file [bash zsh] |kind| {
    let mut t = Terminal::of(kind);
    t.line("exec 3>&1 >out");
    let outcome = t.run("echo x; pwd");
    assert_eq!((outcome.output.as_str(), outcome.status), ("", Some(0)));
    let outcome = t.run("cd /usr; false");
    assert_eq!((outcome.output.as_str(), outcome.status, outcome.cwd.to_str()), ("", Some(1), Some("/usr")));
    t.line("exec >&3");
    assert_eq!(t.run("echo shown").output, "shown\n");
    let written = std::fs::read_to_string(t.home_path().join("out")).expect("the shell has made it");
    // Debian's own start-up files of zsh switch the keypad through it, too.
    let text: String = written.split('\x1b').map(|part| part.trim_start_matches(['[', '?', '1', 'h', 'l', '=', '>'])).collect();
    assert_eq!(text, format!("x\n{}\n", t.home_path().display()));
});

case!(case_078_errors_to_nowhere [bash zsh] |kind| {
    let mut t = Terminal::of(kind);
    t.line("exec 2>/dev/null");
    assert_eq!(t.run("echo x").output, "x\n");
    let outcome = t.run("cd /usr; sh -c 'echo y; exit 2'");
    assert_eq!((outcome.output.as_str(), outcome.status, outcome.cwd.to_str()), ("y\n", Some(2), Some("/usr")));
    t.keys("echo half");
    t.settle_for(std::time::Duration::from_millis(200));
    assert_eq!(t.run("echo z").output, "z\n");
    t.keys(" typed >$HOME/typed\r");
    t.wait("the typed line's end", |t| t.home_path().join("typed").exists());
    assert_eq!(t.run("cat ~/typed").output, "half typed\n");
});
