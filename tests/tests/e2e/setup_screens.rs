//! Snapshots of the screens of `cohab setup`. Rows that name a place on this machine are left out.

use cohab_e2e::{
    Home, Terminal, binaries, keys,
    terminal::{Size, View},
};

use crate::setup::{KEY, WRONG_KEY, service};

const LIST_END: &str = "Esc leaves";

/// Waits for a text on a screen that is whole, and keeps it; the server's port is another one each time.
fn keep(terminal: &Terminal, text_there: &str, end: &str, port: &str, name: &str, seen: &mut String) {
    let text = |view: &View| view.rows().join("\n").trim_end().to_owned();
    terminal.wait_for(text_there, |view| view.shows(text_there) && text(view).contains(end));
    let rows = terminal.look(text).replace(port, &"0".repeat(port.len()));
    *seen += &format!("==== {name}\n{rows}\n\n");
}

fn questions(columns: u16) -> String {
    let (server, home) = (service(), Home::new());
    let base_url = server.base_url();
    let port: String = base_url.chars().filter(char::is_ascii_digit).skip(6).take(5).collect();
    let command = home.in_terminal(binaries::program("cohab"), &["setup"]);
    let terminal = Terminal::spawn_sized(command, Size { rows: 24, columns });
    let mut seen = String::new();
    let mut keep = |there: &str, end: &str, name: &str| keep(&terminal, there, end, &port, name, &mut seen);
    keep("Cerebras", LIST_END, "which service");
    terminal.send("nothing like it");
    keep("Esc shows all", LIST_END, "a filter that finds nothing");
    terminal.send(keys::CTRL_U);
    terminal.send("another server");
    keep("❯ Another server", LIST_END, "a filter that finds one");
    terminal.send("\r");
    keep("At which URL?", "example.com/v1", "which address");
    terminal.send("nonsense\r");
    keep("❯ nonsense", "write a URL", "an address that is none");
    terminal.send(&format!("{}{base_url}\r", keys::CTRL_U));
    terminal.wait_text("Where is the key");
    terminal.send("paste\r");
    terminal.wait_text("not shown");
    terminal.send(&format!("{WRONG_KEY}\r"));
    keep("What now?", LIST_END, "a key that is refused");
    terminal.send("\r");
    terminal.wait_text("Where is the key");
    terminal.send("paste\r");
    terminal.wait_text("not shown");
    terminal.send(&format!("{KEY}\r"));
    keep("128k tokens", LIST_END, "which model");
    terminal.send(keys::ESC);
    keep("Nothing was", "changed.", "left");
    seen
}

#[test]
fn each_question_at_80_columns() {
    insta::assert_snapshot!(questions(80));
}

#[test]
fn each_question_at_40_columns() {
    insta::assert_snapshot!(questions(40));
}
