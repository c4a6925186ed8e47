//! Formulas, as their source: nothing in them is markup. Pure.
//!
//! A formula on lines of its own (`$$` or `\[`) leaves line by line, like code. One inside a paragraph is protected before the
//! paragraph is parsed: each sign of punctuation in it gets a backslash, which the parser takes away again.

use std::borrow::Cow;

/// Lines of a formula that has not ended; what follows is ordinary text.
const MAX_LINES: usize = 200;
/// Longest formula between single dollars, in bytes: dollars stand for money and variables, too.
const MAX_DOLLAR_BYTES: usize = 256;

/// A formula that begins on a line of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Formula {
    closing: &'static str,
    /// It began behind its sign, on the same line; then a blank line ends it, and its signs are shown.
    has_text_at_sign: bool,
    lines: usize,
    /// Blank lines that are shown if more follows.
    blanks: usize,
}

/// What a line means for an open formula.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FormulaLine<'a> {
    /// Blank lines that stood before, and the line.
    Inside(usize, &'a str),
    Blank,
    Last(Option<&'a str>),
    /// It was over before this line.
    NotPart,
}

/// What a line begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FormulaStart<'a> {
    /// A formula that is over with its line.
    Whole(&'a str),
    /// One that continues; text only if it stands behind the sign.
    Open(Formula, Option<&'a str>),
}

impl Formula {
    /// The formula that `line` begins. The line's indentation must be that of text.
    pub(super) fn start(line: &str) -> Option<FormulaStart<'_>> {
        let line = line.trim();
        let (sign, closing) = [("$$", "$$"), ("\\[", "\\]")].into_iter().find(|(sign, _)| line.starts_with(sign))?;
        let text = line[sign.len()..].trim();
        if text.is_empty() {
            return Some(FormulaStart::Open(Self { closing, has_text_at_sign: false, lines: 0, blanks: 0 }, None));
        }
        match text.find(closing) {
            Some(0) => None,
            Some(at) => {
                let is_alone = text[at + closing.len()..].trim_matches([' ', '.', ',', ';']).is_empty();
                is_alone.then(|| FormulaStart::Whole(text[..at].trim()))
            }
            // A sentence may begin so, too.
            None if !text.contains(['\\', '^', '_', '=']) => None,
            None => Some(FormulaStart::Open(Self { closing, has_text_at_sign: true, lines: 0, blanks: 0 }, Some(line))),
        }
    }

    /// Takes the next line.
    pub(super) fn line<'a>(&mut self, line: &'a str) -> FormulaLine<'a> {
        self.lines += 1;
        let text = line.trim_end();
        if self.lines > MAX_LINES || (self.has_text_at_sign && text.is_empty()) {
            return FormulaLine::NotPart;
        }
        if text.is_empty() {
            self.blanks += 1;
            return FormulaLine::Blank;
        }
        let Some(last) = text.trim_end_matches(['.', ',', ';']).strip_suffix(self.closing) else {
            return FormulaLine::Inside(std::mem::take(&mut self.blanks), text);
        };
        let last = if self.has_text_at_sign { text } else { last.trim_end() };
        FormulaLine::Last(Some(last).filter(|last| !last.trim().is_empty()))
    }

    /// Whether this start of a line may yet become its end, and is better not shown.
    pub(super) fn may_end_with(&self, start: &str) -> bool {
        self.closing.starts_with(start.trim())
    }
}

/// The markdown `text` with everything in a formula escaped, so that the parser gives it back as it is written.
pub(super) fn protect(text: &str) -> Cow<'_, str> {
    if !text.contains('$') && !text.contains("\\(") && !text.contains("\\[") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let mut finder = Finder { text, missing: Vec::new() };
    let mut at = 0;
    while let Some(found) = text[at..].find(['`', '$', '\\']) {
        out.push_str(&text[at..at + found]);
        at += found;
        let (end, is_formula) = finder.span(at);
        if is_formula {
            escape(&text[at..end], &mut out);
        } else {
            out.push_str(&text[at..end]);
        }
        at = end;
    }
    out.push_str(&text[at..]);
    Cow::Owned(out)
}

fn escape(formula: &str, out: &mut String) {
    for c in formula.chars() {
        if c.is_ascii_punctuation() {
            out.push('\\');
        }
        out.push(c);
    }
}

/// Ends of what begins somewhere in a text. Remembers what it looked for in vain, so that no text costs more than a few passes.
struct Finder<'a> {
    text: &'a str,
    missing: Vec<Wanted>,
}

/// What is looked for: a closing sign, or backticks of a length.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Sign(&'static str),
    Backticks(usize),
}

impl Finder<'_> {
    /// Where that ends which begins at `at` with a backtick, dollar or backslash, and whether it is a formula.
    fn span(&mut self, at: usize) -> (usize, bool) {
        let rest = &self.text[at..];
        if rest.starts_with('`') {
            let run = rest.bytes().take_while(|&byte| byte == b'`').count();
            return (self.end(at + run, Wanted::Backticks(run)).unwrap_or(at + run), false);
        }
        let long = [("$$", "$$"), ("\\(", "\\)"), ("\\[", "\\]")].into_iter().find(|(sign, _)| rest.starts_with(sign));
        if let Some((sign, closing)) = long {
            let end = self.end(at + sign.len(), Wanted::Sign(closing)).filter(|&end| is_one_text(&self.text[at..end]));
            return (end.unwrap_or(at + sign.len()), end.is_some());
        }
        match rest.strip_prefix('$') {
            Some(behind) => {
                let formula = self.dollar_bytes(at, behind);
                (at + 1 + formula.unwrap_or(0), formula.is_some())
            }
            // A backslash takes the next character with it.
            None => (at + 1 + rest[1..].chars().next().map_or(0, char::len_utf8), false),
        }
    }

    /// The bytes up to and with the second dollar, if what is between reads like a formula.
    fn dollar_bytes(&self, at: usize, behind: &str) -> Option<usize> {
        let is_word = |c: char| c.is_alphanumeric();
        let near = &behind[..crate::wrap::char_boundary(behind, MAX_DOLLAR_BYTES)];
        let end = near.find(['$', '\n', '`']).filter(|&end| near[end..].starts_with('$'))?;
        let formula = &near[..end];
        let is_tight = !formula.starts_with(char::is_whitespace) && !formula.ends_with(char::is_whitespace);
        let is_apart = !self.text[..at].ends_with(is_word) && !behind[end + 1..].starts_with(is_word);
        (is_tight && is_apart && formula.contains(['\\', '^', '_', '{', '=', '<', '>'])).then_some(end + 1)
    }

    fn end(&mut self, from: usize, wanted: Wanted) -> Option<usize> {
        if self.missing.contains(&wanted) {
            return None;
        }
        let found = match wanted {
            Wanted::Sign(sign) => self.text[from..].find(sign).map(|at| from + at + sign.len()),
            Wanted::Backticks(length) => closing_backticks(self.text, from, length),
        };
        if found.is_none() {
            self.missing.push(wanted);
        }
        found
    }
}

/// Behind the next run of exactly `length` backticks.
fn closing_backticks(text: &str, mut from: usize, length: usize) -> Option<usize> {
    loop {
        from += text[from..].find('`')?;
        let run = text[from..].bytes().take_while(|&byte| byte == b'`').count();
        from += run;
        if run == length {
            return Some(from);
        }
    }
}

/// Whether nothing between belongs to blocks: no blank line, no bar of a quote.
fn is_one_text(formula: &str) -> bool {
    formula.lines().skip(1).all(|line| !line.trim().is_empty() && !line.trim_start().starts_with('>'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn punctuation_in_a_formula_is_escaped_and_all_else_is_left() {
        for (text, expected) in [
            ("a \\(x_1\\) b", "a \\\\\\(x\\_1\\\\\\) b"),
            ("$$a*b$$", "\\$\\$a\\*b\\$\\$"),
            ("$a_1$", "\\$a\\_1\\$"),
            ("$5 and $6", "$5 and $6"),
            ("$HOME/$USER", "$HOME/$USER"),
            ("`$a_1$` and \\$a_1$", "`$a_1$` and \\$a_1$"),
            ("``` $a_1$", "``` \\$a\\_1\\$"),
            ("\\[a\n> b\\]", "\\[a\n> b\\]"),
        ] {
            assert_eq!(protect(text), expected, "{text}");
        }
    }

    #[test]
    fn a_formula_on_lines_of_its_own_ends_with_its_sign() {
        let Some(FormulaStart::Open(mut formula, None)) = Formula::start("$$") else { panic!("it is one") };
        assert_eq!(formula.line("  a"), FormulaLine::Inside(0, "  a"));
        assert_eq!(formula.line(""), FormulaLine::Blank);
        assert_eq!(formula.line("b"), FormulaLine::Inside(1, "b"));
        assert_eq!(formula.line("c $$."), FormulaLine::Last(Some("c")));
        assert_eq!(Formula::start("\\[ a = b \\]"), Some(FormulaStart::Whole("a = b")));
        assert_eq!(Formula::start("$$ is the shell's own number"), None);
        assert_eq!(Formula::start("\\[x\\] is in brackets"), None);
    }

    #[test]
    fn a_formula_that_never_ends_does_not_take_the_rest() {
        let Some(FormulaStart::Open(mut formula, Some("$$ a = b"))) = Formula::start("$$ a = b") else {
            panic!("it is one")
        };
        assert_eq!(formula.line("c"), FormulaLine::Inside(0, "c"));
        assert_eq!(formula.line(" "), FormulaLine::NotPart);
        let Some(FormulaStart::Open(mut formula, None)) = Formula::start("\\[") else { panic!("it is one") };
        let inside = (0..1_000).take_while(|_| formula.line("x") == FormulaLine::Inside(0, "x")).count();
        assert_eq!(inside, MAX_LINES);
    }
}
