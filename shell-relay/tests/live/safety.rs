//! Tests for dangerous sequences.

use crate::terminal::Terminal;

#[test]
fn dangerous_sequences_of_a_command_do_not_reach_the_terminal() {
    let mut t = Terminal::bash();
    t.shown.clear();
    t.run("printf '\\033]52;c;aGk=\\007\\033]0;t\\007\\033P$qm\\033\\\\\\033[21t\\033[c\\033[6nred \\033[31mx\\033[0m\\n'");
    let shown = String::from_utf8_lossy(&t.shown).into_owned();
    assert!(shown.contains("red \x1b[31mx\x1b[0m\r\n"), "{shown:?}");
    for part in ["]52;", "]0;", "\x1bP", "[21t", "[c", "[6n"] {
        assert!(!shown.contains(&format!("\x1b{}", part.trim_start_matches('\x1b'))), "{part} in {shown:?}");
    }
    t.shown.clear();
    t.line("printf '\\033]52;c;aGk=\\007'");
    assert!(String::from_utf8_lossy(&t.shown).contains("\x1b]52;c;aGk=\x07"), "the user's own commands are free");
}
