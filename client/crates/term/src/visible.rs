//! Makes every character of a text visible, for questions of consent.

use cohab_text::sanitize::{is_invisible, visible_controls};
use unicode_width::UnicodeWidthChar;

/// So many blanks in a row are written as a count, unless they indent a line: they could push text out of sight.
const MAX_BLANKS: usize = 4;

/// A command as it is asked about and as it is run: also letters that could be mistaken for others are escapes.
#[must_use]
pub fn visible_command(text: &str) -> String {
    count_blanks(&visible_controls(&with_blank_indents(text)))
}

/// The text with controls, invisible characters and odd blanks as escapes, and long runs of blanks as a count. All in one line: a
/// path or a reason with line ends could else show rows that look like a card's own.
#[must_use]
pub fn visible(text: &str) -> String {
    visible_lines(text).replace('\n', "\\u{a}")
}

/// The same with LF as a line end.
#[must_use]
pub fn visible_lines(text: &str) -> String {
    count_blanks(&escape_hidden(&with_blank_indents(text)))
}

/// The text with four blanks for each tab that indents a line: those are everyday things and hide nothing.
fn with_blank_indents(text: &str) -> String {
    let lines = text.split('\n').map(|line| {
        let rest = line.trim_start_matches([' ', '\t']);
        format!("{}{rest}", line[..line.len() - rest.len()].replace('\t', "    "))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn escape_hidden(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_plain(c) {
            out.push(c);
        } else {
            out.extend(c.escape_unicode());
        }
    }
    out
}

fn count_blanks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blanks = 0;
    let mut is_indent = true;
    // The line end behind the text brings the blanks before it out.
    for c in text.chars().chain(std::iter::once('\n')) {
        if c == ' ' {
            blanks += 1;
            continue;
        }
        if blanks > MAX_BLANKS && (!is_indent || c == '\n') {
            out.push_str(&format!("⟨{blanks} blanks⟩"));
        } else {
            out.extend(std::iter::repeat_n(' ', blanks));
        }
        (blanks, is_indent) = (0, c == '\n');
        out.push(c);
    }
    out.pop();
    out
}

/// Whether `c` is seen as itself.
fn is_plain(c: char) -> bool {
    let is_odd = c.is_control() || c.is_whitespace() || is_invisible(c);
    matches!(c, '\n' | ' ') || !is_odd && c.width().is_some_and(|columns| columns > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_shown() {
        assert_eq!(visible("a\u{1b}[2Jb\tc\r"), "a\\u{1b}[2Jb\\u{9}c\\u{d}");
        assert_eq!(visible("x\u{202e}y\u{200b}\u{ad}\u{a0}"), "x\\u{202e}y\\u{200b}\\u{ad}\\u{a0}");
        assert_eq!(visible("rm Übung 日本"), "rm Übung 日本");
    }

    #[test]
    fn tabs_that_indent_are_blanks_and_others_are_shown() {
        assert_eq!(visible_lines("do\n\t \techo\tx"), "do\n         echo\\u{9}x");
    }

    #[test]
    fn letters_that_look_like_others_are_named_in_a_command() {
        assert_eq!(visible_command("r\u{443} x \u{ff0f}\t\u{2215}"), "r\\u{443} x \\u{ff0f}\\u{9}\\u{2215}");
        assert_eq!(visible_command("rm Übung         x\ny"), "rm Übung⟨9 blanks⟩x\ny");
    }

    #[test]
    fn blanks_that_push_text_away_are_counted() {
        assert_eq!(visible("ls         ; rm x"), "ls⟨9 blanks⟩; rm x");
        assert_eq!(visible_lines("if x\n      y"), "if x\n      y");
        assert_eq!(visible("x\n╰ y once"), "x\\u{a}╰ y once");
        assert_eq!(visible("ls        "), "ls⟨8 blanks⟩");
    }
}
