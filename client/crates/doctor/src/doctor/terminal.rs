//! Checks the terminal: its name, size, letters and colours, and the program around it.

use std::{fs::OpenOptions, os::fd::AsFd};

use cohab_term::{ansi::ColorSupport, output_style::OutputStyle};
use cohab_text::sanitize::one_line;

use super::context::{Context, is_set};
use crate::shell_check::finding::{Finding, FindingVerdict, finding};
use cohab_term::window_size::size_of;

/// Smaller than this cards and tables are cut hard.
const SMALL: (u16, u16) = (40, 10);

/// What was seen.
#[derive(Clone, Debug, Default)]
struct TerminalSeen {
    term: String,
    /// Columns and rows, of a terminal that there is.
    size: Option<(u16, u16)>,
    locale: Option<String>,
    colors: ColorSupport,
    is_accessible: bool,
    is_in_tmux: bool,
    is_in_screen: bool,
    is_over_ssh: bool,
}

/// Looks and judges.
pub(super) async fn check(_: &Context) -> Vec<Finding> {
    let text =
        |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty()).map(|value| one_line(&value, 60));
    let terminal = OpenOptions::new().read(true).open("/dev/tty").ok();
    judge(&TerminalSeen {
        term: text("TERM").unwrap_or_default(),
        size: terminal.map(|terminal| size_of(terminal.as_fd())),
        locale: ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(text),
        colors: ColorSupport::from_env(),
        is_accessible: OutputStyle::from_env(ColorSupport::Ansi16) == OutputStyle::Accessible,
        is_in_tmux: is_set("TMUX"),
        is_in_screen: is_set("STY"),
        is_over_ssh: is_set("SSH_CONNECTION"),
    })
}

fn judge(seen: &TerminalSeen) -> Vec<Finding> {
    vec![terminal(seen), letters(seen), colors(seen)]
}

fn terminal(seen: &TerminalSeen) -> Finding {
    let within = [(seen.is_in_tmux, "in tmux"), (seen.is_in_screen, "in screen"), (seen.is_over_ssh, "over ssh")];
    let within: String = within.iter().filter(|(is, _)| *is).map(|(_, what)| format!(", {what}")).collect();
    match (seen.term.as_str(), seen.size) {
        ("", _) => finding("terminal", FindingVerdict::Warn, format!("TERM is not set{within}"))
            .hint("programs know the terminal by TERM; your terminal program should set it"),
        ("dumb", _) => finding("terminal", FindingVerdict::Warn, format!("TERM is dumb{within}"))
            .hint("in a dumb terminal `cohab` opens the plain shell; set TERM to your terminal's name"),
        (term, None) => {
            finding("terminal", FindingVerdict::Warn, format!("TERM is {term}{within}, but there is no terminal here"))
                .hint("run it in the terminal in which you use cohab")
        }
        (term, Some((columns, rows))) => {
            let text = format!("{term}, {columns} columns, {rows} rows{within}");
            if columns < SMALL.0 || rows < SMALL.1 {
                return finding("terminal", FindingVerdict::Warn, text).hint("so small a window cuts cards and tables");
            }
            let found = finding("terminal", FindingVerdict::Ok, text);
            match (seen.is_in_tmux, seen.is_in_screen) {
                (true, _) => found.hint("if Esc comes late here: `set -s escape-time 10` in tmux.conf"),
                (false, true) => found.hint("if Esc comes late here: `maptimeout 10` in .screenrc"),
                (false, false) => found,
            }
        }
    }
}

fn letters(seen: &TerminalSeen) -> Finding {
    let is_utf8 = |locale: &str| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    };
    match seen.locale.as_deref() {
        Some(locale) if is_utf8(locale) => finding("letters", FindingVerdict::Ok, format!("UTF-8 ({locale})")),
        Some(locale) => finding("letters", FindingVerdict::Warn, format!("the locale {locale} has no UTF-8"))
            .hint("letters beyond ASCII may come out wrong in your shell: `export LANG=C.UTF-8`"),
        None => finding("letters", FindingVerdict::Warn, "no locale is set")
            .hint("letters beyond ASCII may come out wrong in your shell: `export LANG=C.UTF-8`"),
    }
}

fn colors(seen: &TerminalSeen) -> Finding {
    let shown = match seen.colors {
        ColorSupport::None => {
            return finding("colours", FindingVerdict::Ok, "none in this terminal; sentences in place of glyphs");
        }
        ColorSupport::Monochrome => "none, as NO_COLOR asks",
        ColorSupport::Ansi16 => "the terminal's own 16",
        ColorSupport::OnLight => "shades for a light background",
    };
    let style = if seen.is_accessible { "; sentences in place of glyphs, as COHAB_ACCESSIBLE asks" } else { "" };
    finding("colours", FindingVerdict::Ok, format!("{shown}{style}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> TerminalSeen {
        TerminalSeen {
            term: "xterm".into(),
            size: Some((80, 24)),
            locale: Some("C.UTF-8".into()),
            ..TerminalSeen::default()
        }
    }

    fn verdicts(seen: &TerminalSeen) -> Vec<FindingVerdict> {
        judge(seen).iter().map(|finding| finding.verdict).collect()
    }

    #[test]
    fn a_usual_terminal_is_well_and_each_lack_is_told() {
        assert_eq!(verdicts(&good()), [FindingVerdict::Ok; 3]);
        for (seen, words) in [
            (TerminalSeen { term: String::new(), ..good() }, "TERM is not set"),
            (TerminalSeen { term: "dumb".into(), ..good() }, "dumb"),
            (TerminalSeen { size: None, ..good() }, "no terminal"),
            (TerminalSeen { size: Some((20, 5)), ..good() }, "20 columns"),
            (TerminalSeen { locale: Some("POSIX".into()), ..good() }, "POSIX"),
            (TerminalSeen { locale: None, ..good() }, "no locale"),
        ] {
            let told = judge(&seen).into_iter().find(|finding| finding.verdict == FindingVerdict::Warn).unwrap();
            assert!(told.text.contains(words) && told.hint.is_some(), "{told:?}");
        }
    }

    #[test]
    fn no_color_asks_for_no_sentences() {
        for (colors, is_accessible, expected) in [
            (ColorSupport::Monochrome, false, "none, as NO_COLOR asks"),
            (ColorSupport::None, false, "none in this terminal; sentences in place of glyphs"),
            (
                ColorSupport::Ansi16,
                true,
                "the terminal's own 16; sentences in place of glyphs, as COHAB_ACCESSIBLE asks",
            ),
        ] {
            assert_eq!(super::colors(&TerminalSeen { colors, is_accessible, ..good() }).text, expected);
        }
    }

    #[test]
    fn every_spelling_of_utf8_counts() {
        for locale in ["en_US.UTF-8", "de_DE.utf8", "C.UTF8"] {
            assert_eq!(
                letters(&TerminalSeen { locale: Some(locale.into()), ..good() }).verdict,
                FindingVerdict::Ok,
                "{locale}"
            );
        }
    }

    #[test]
    fn tmux_and_screen_say_what_follows() {
        assert!(terminal(&TerminalSeen { is_in_tmux: true, ..good() }).hint.unwrap().contains("escape-time"));
        assert!(terminal(&TerminalSeen { is_in_screen: true, ..good() }).hint.unwrap().contains("maptimeout"));
    }
}
