//! The open end of a text as it will most likely look: emphasis and code that are still open are closed, what may yet become
//! markup is left away. For the eye only, what is final is read from the text itself. Pure.
//!
//! Without this each `**` would be seen as such and then be painted over.

use std::borrow::Cow;

/// Whether a line that has not ended may still become anything: a rule, an underline of a heading, an item, a fence.
pub(super) fn is_undecided(line: &str) -> bool {
    let line = line.trim();
    let is_sign =
        |c: char| matches!(c, '-' | '=' | '#' | '>' | '*' | '+' | '_' | '|' | '`' | '~' | '$' | '\\' | '[' | ' ');
    let digits = line.trim_end_matches(['.', ')']);
    let is_number = line.len() <= digits.len() + 1 && digits.len() <= 3 && digits.bytes().all(|b| b.is_ascii_digit());
    let is_task = line.ends_with("[x") || line.ends_with("[x]") || line.ends_with("[ ]");
    is_number
        || is_fence(line)
        || line.trim_end_matches(['x', ']']).chars().all(is_sign) && (is_task || line.chars().all(is_sign))
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t', '>']);
    line.starts_with("```") || line.starts_with("~~~")
}

/// The last paragraph of `text` with its open ends closed.
pub(super) fn complete(text: &str) -> Cow<'_, str> {
    let start = text.rfind("\n\n").map_or(0, |at| at + 2);
    let paragraph = &text[start..];
    let is_markup = paragraph.contains(['*', '_', '~', '`', '[']);
    // In an item or a quote there may be code; nothing in it is markup.
    if !is_markup || text.lines().any(|line| is_fence(line.trim_start_matches(['-', '*', '+', ' ']))) {
        return Cow::Borrowed(text);
    }
    let mut scan = Scan { text: paragraph, at: 0, open: Vec::new(), end: paragraph.len() };
    let (kept, closing) = match scan.run() {
        // A sign right at the end may still become longer, or be the start of something.
        End::Text => (&paragraph[..scan.end], String::new()),
        End::Code { from, run } => {
            let inside = paragraph[from + run..].trim_end();
            if inside.is_empty() { (&paragraph[..from], String::new()) } else { (paragraph, "`".repeat(run)) }
        }
        // Its text is shown, its address when it is whole.
        End::Target { from } => (&paragraph[..from], "()".to_owned()),
    };
    let (kept, blanks) = kept.split_at(kept.trim_end_matches([' ', '\n']).len());
    let mut out = text[..start].to_owned() + kept + &closing;
    for (from, sign) in scan.open.iter().rev().filter(|(from, _)| *from < kept.len()) {
        let is_empty = kept[*from..].chars().all(|c| matches!(c, '*' | '_' | '~' | ' '));
        if !is_empty {
            out.push_str(sign);
        }
    }
    out.push_str(blanks);
    Cow::Owned(out)
}

enum End {
    Text,
    /// In code that was opened there by so many backticks.
    Code {
        from: usize,
        run: usize,
    },
    /// In the address of a link, from its bracket on.
    Target {
        from: usize,
    },
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    /// Where emphasis begins that is not closed, and by what.
    open: Vec<(usize, &'a str)>,
    /// Where signs begin at the very end that close nothing.
    end: usize,
}

/// Emphasis within emphasis that is followed.
const MAX_OPEN: usize = 8;

impl<'a> Scan<'a> {
    fn run(&mut self) -> End {
        while let Some(found) = self.text[self.at..].find(['*', '_', '~', '`', '\\', ']']) {
            let from = self.at + found;
            let rest = &self.text[from..];
            let sign = rest.as_bytes()[0];
            let run = rest.bytes().take_while(|&byte| byte == sign).count();
            match sign {
                b'\\' => self.at = from + 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
                b']' => match rest.strip_prefix("](") {
                    Some(target) if !target.contains([')', '\n', ' ']) && self.text[..from].contains('[') => {
                        return End::Target { from: from + 1 };
                    }
                    _ => self.at = from + 1,
                },
                b'`' => {
                    let fence = &rest[..run];
                    let mut closings = rest[run..].match_indices(fence);
                    let is_whole = |(at, _): &(usize, &str)| {
                        let around = &rest[run..];
                        !around[..*at].ends_with('`') && !around[at + run..].starts_with('`')
                    };
                    let Some((end, _)) = closings.find(is_whole) else { return End::Code { from, run } };
                    self.at = from + run + end + run;
                }
                _ => {
                    self.take_emphasis(from, run);
                    self.at = from + run;
                }
            }
        }
        End::Text
    }

    /// A run of signs closes what is open by the same, or else opens.
    fn take_emphasis(&mut self, from: usize, run: usize) {
        let sign = &self.text[from..from + run];
        let before = self.text[..from].chars().next_back().unwrap_or(' ');
        let after = self.text[from + run..].chars().next().unwrap_or(' ');
        let closes = self.open.iter().rposition(|(_, open)| *open == sign).filter(|_| !before.is_whitespace());
        if closes.is_none() && from + run == self.text.len() {
            self.end = from;
            return;
        }
        let is_inside_word = sign.starts_with('_') && before.is_alphanumeric() && after.is_alphanumeric();
        if run > 3 || is_inside_word || (sign.starts_with('~') && run != 2) {
            return;
        }
        if let Some(index) = closes {
            self.open.truncate(index);
        } else if !after.is_whitespace() && self.open.len() < MAX_OPEN {
            self.open.push((from, sign));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_is_closed() {
        for (text, expected) in [
            ("a **bold", "a **bold**"),
            ("a **bold ", "a **bold** "),
            ("a **bold *and", "a **bold *and***"),
            ("a `co", "a `co`"),
            ("a ``co`d", "a ``co`d``"),
            ("*a* _b_ `c` ~~d~~", "*a* _b_ `c` ~~d~~"),
            ("see [x](https://a", "see [x]()"),
            ("**a\n\nb", "**a\n\nb"),
            ("a_b_c and 2 * 3", "a_b_c and 2 * 3"),
            ("- **a** b\n- **c", "- **a** b\n- **c**"),
        ] {
            assert_eq!(complete(text), expected, "{text}");
        }
    }

    #[test]
    fn a_line_that_may_become_anything_is_not_shown() {
        for line in ["  -", "---", "12.", "3", "- [", "- [x", "- [x]", "```", "   ```sh", "> ", "#", "***", ""] {
            assert!(is_undecided(line), "{line}");
        }
        for line in ["- a", "text", "1234", "x", "a ```", "12. b", "- [x] done"] {
            assert!(!is_undecided(line), "{line}");
        }
        assert_eq!(complete("- a\n  ```sh\n  echo **x"), "- a\n  ```sh\n  echo **x");
    }

    #[test]
    fn signs_that_may_become_markup_are_not_shown() {
        for (text, expected) in [("a **", "a "), ("a *", "a "), ("a `", "a "), ("a **b*", "a **b**"), ("a ~", "a ")] {
            assert_eq!(complete(text), expected, "{text}");
        }
    }
}
