//! Informs the user once that a shell which they open inside theirs is plain: the relay cannot reach its prompt.

use cohab_conversation::ui::status::one_line;
use cohab_term::{ansi::write_line, live_area::Abilities, theme};
use ratatui::text::Line;

/// Programs that are shells.
const SHELLS: [&str; 7] = ["bash", "zsh", "fish", "sh", "dash", "ksh", "tcsh"];
/// Options that leave a shell interactive.
const INTERACTIVE: [&str; 6] = ["-i", "-l", "--login", "--norc", "--noprofile", "-f"];
/// What opens a shell of another user. Other words behind `sudo` are a command.
const OTHER_USER: [&[&str]; 9] = [
    &["su"],
    &["su", "-"],
    &["su", "-l"],
    &["sudo", "-s"],
    &["sudo", "-i"],
    &["sudo", "su"],
    &["sudo", "su", "-"],
    &["doas", "-s"],
    &["newgrp"],
];

/// Whether the hint was given.
#[derive(Debug, Default)]
pub(super) struct NestedShell {
    has_told: bool,
}

impl NestedShell {
    /// The user entered this line: the row that is to stand above its output, if it opens a shell and nothing was said before.
    pub fn entered(&mut self, line: &str, abilities: Abilities) -> Option<Vec<u8>> {
        if self.has_told || !opens_a_shell(line) {
            return None;
        }
        self.has_told = true;
        let end = abilities.output_style.choose(" · `exit` leads back", "; `exit` leads back.");
        let text = format!("cohab does not answer inside `{}`{end}", one_line(line.trim()));
        let mut row = Vec::new();
        write_line(&Line::styled(text, theme::DIM), abilities.colors, &mut row);
        row.extend_from_slice(b"\r\n");
        Some(row)
    }
}

/// Whether a line does nothing but open an interactive shell.
fn opens_a_shell(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let Some((first, options)) = words.split_first() else { return false };
    if OTHER_USER.contains(&&words[..]) {
        return true;
    }
    let (name, options) = match (*first, options.split_first()) {
        ("sudo" | "doas", Some((name, options))) => (*name, options),
        _ => (*first, options),
    };
    let name = name.rsplit('/').next().unwrap_or(name);
    SHELLS.contains(&name) && options.iter().all(|option| INTERACTIVE.contains(option))
}

#[cfg(test)]
mod tests {
    use cohab_term::{ansi::ColorSupport, output_style::OutputStyle};

    use super::*;

    #[test]
    fn only_a_line_that_opens_a_shell_counts() {
        for line in ["bash", " zsh -l ", "/usr/bin/fish", "sudo -s", "sudo bash", "su -", "sh -i", "sudo su -"] {
            assert!(opens_a_shell(line), "{line}");
        }
        for line in [
            "",
            "bash x.sh",
            "bash -c ls",
            "sudo ls",
            "echo bash",
            "exec zsh",
            "bash; ls",
            "bash | cat",
            "sudo",
            "ls su",
        ] {
            assert!(!opens_a_shell(line), "{line}");
        }
    }

    #[test]
    fn it_is_said_once() {
        let abilities = Abilities::detect(ColorSupport::None, OutputStyle::Rich, Some("xterm"), false, false);
        let mut nested = NestedShell::default();
        assert_eq!(nested.entered("ls", abilities), None);
        let row = nested.entered("sudo -s ", abilities).unwrap();
        assert_eq!(row, "cohab does not answer inside `sudo -s` · `exit` leads back\r\n".as_bytes());
        assert_eq!(nested.entered("bash", abilities), None);
        let row = NestedShell::default().entered("/a\u{1b}[2J/bash", abilities).unwrap();
        assert!(!row.contains(&0x1b), "{row:?}");
    }
}
