//! Checks the raw text of a line: characters that have no place in a command, and those parts of the structure whitelist that single
//! characters and reserved words decide. A line that fails here never reaches a parser: parsers follow nesting on the stack, and a
//! stack overflow cannot be caught, so no nested text may reach them.

use cohab_text::sanitize::is_invisible;

/// The longest line that is read as plain commands, in bytes.
pub const MAX_LINE_BYTES: usize = 32 * 1024;
const MAX_DESCRIPTOR_DIGITS: usize = 4;
/// Largest number of commands of a plain line.
pub(super) const MAX_COMMANDS: usize = 50;

/// The characters that hide or change the commands of a line, by name: `a NUL byte`.
pub fn hidden_characters(line: &str) -> impl Iterator<Item = &'static str> {
    line.chars().filter(|c| !matches!(c, ' '..='~' | '\t' | '\n')).filter_map(|c| match c {
        '\0' => Some("a NUL byte"),
        '\r' => Some("a carriage return, which hides what stands before it"),
        c if c.is_control() => Some("a control character"),
        c if is_invisible(c) => Some("invisible characters"),
        '\u{fffd}' => Some("broken text"),
        c if c.is_whitespace() => Some("an unusual blank"),
        _ => None,
    })
}

/// The reason why the line is not plain, judged by its characters and reserved words; `None` if it may be.
pub(super) fn why_not_plain(line: &str) -> Option<&'static str> {
    if line.len() > MAX_LINE_BYTES {
        return Some("too long to be checked in full");
    }
    let mut quote = None;
    let mut separators = 0;
    let mut previous = '\n';
    let mut begins_command = true;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        let next = chars.clone().next();
        if begins_command && !c.is_whitespace() {
            let word_and_rest = &line[line.len() - chars.as_str().len() - c.len_utf8()..];
            if let Some(reason) = why_reserved(word_and_rest) {
                return Some(reason);
            }
            begins_command = false;
        }
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (_, '$') => return Some(why_dollar(next)),
            (_, '`') => return Some("uses a substitution"),
            (_, '\\') => match (quote, chars.next()) {
                (_, None | Some('\n')) => return Some("continues on the next line"),
                (None, Some('(' | ')' | '!' | '.' | '*' | '?' | '|' | '+' | '-' | ';')) => {}
                (None, Some(_)) => return Some("escapes a character with a backslash"),
                (Some(_), Some(_)) => {}
            },
            // No shell looks up its history for `!=`.
            (Some(_), '!') if next != Some('=') => return Some("uses `!` outside single quotes"),
            (Some(_), _) => {}
            // `find` and `xargs` put names in the place of these signs.
            (None, '{') if is_lone_pair(line, chars.as_str()) => drop(chars.next()),
            (None, '{') => match revision_braces(previous, chars.as_str()) {
                Some(inside) => chars = chars.as_str()[inside.len() + 1..].chars(),
                None => return Some("uses braces"),
            },
            (None, '}') => return Some("uses braces"),
            (None, '(' | ')') => return Some("uses a subshell, function or array"),
            // Text follows, not commands: it is not examined.
            (None, '<') if next == Some('<') => {
                let is_string = chars.as_str().starts_with("<<");
                return Some(if is_string { "uses a here-string" } else { "uses a here-document" });
            }
            (None, '<' | '>') if is_behind_long_number(line, chars.as_str()) => {
                return Some("names a file descriptor that no shell has");
            }
            (None, '#') if previous.is_whitespace() || ";|&".contains(previous) => return Some("contains a comment"),
            (None, '!') if !is_lone_word(previous, next) && next != Some('=') => {
                return Some("uses `!` outside single quotes");
            }
            (None, '|') if next == Some('&') => return Some("uses `|&`"),
            (None, ';' | '\n' | '|') => {
                separators += 1;
                begins_command = true;
            }
            // The sign ends a command, or belongs to a redirection: then no harm is done.
            (None, '&') => begins_command = true,
            (None, _) => {}
        }
        previous = c;
    }
    if quote.is_some() {
        return Some("has an open quote");
    }
    (separators > 2 * MAX_COMMANDS).then_some("runs too many commands to be checked")
}

/// The reason why a command that begins with this text is not a simple command.
fn why_reserved(text: &str) -> Option<&'static str> {
    let ends_word = |c: char| c.is_whitespace() || ";&|<>()'\"\\$`".contains(c);
    match &text[..text.find(ends_word).unwrap_or(text.len())] {
        "!" => Some("negates a status with `!`"),
        "time" => Some("uses `time`"),
        "[[" => Some("uses `[[`"),
        "function" => Some("defines a function"),
        "if" | "then" | "elif" | "else" | "fi" | "for" | "select" | "while" | "until" | "do" | "done" | "case"
        | "esac" | "coproc" | "in" => Some("uses a loop, condition or group"),
        _ => None,
    }
}

fn is_lone_word(before: char, after: Option<char>) -> bool {
    before.is_whitespace() && after.is_none_or(char::is_whitespace)
}

/// Whether more digits than a descriptor has stand before the sign in front of `rest`, the end of `line`: a parser may fail over them.
fn is_behind_long_number(line: &str, rest: &str) -> bool {
    let before = &line[..line.len() - rest.len() - 1];
    before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len() > MAX_DESCRIPTOR_DIGITS
}

/// Whether the brace in front of `rest`, the end of `line`, begins a word of just two braces, or the value of `-I`.
fn is_lone_pair(line: &str, rest: &str) -> bool {
    let before = &line[..line.len() - rest.len() - 1];
    let before = before.strip_suffix("-I").unwrap_or(before);
    let after = rest.strip_prefix('}').map(|rest| rest.chars().next());
    before.ends_with(char::is_whitespace)
        && after.is_some_and(|next| next.is_none_or(|c| c.is_whitespace() || matches!(c, ';' | '|')))
}

/// The contents of braces that no shell takes for a list, where `rest` begins behind the first brace: `stash@{0}`, `HEAD^{tree}`, as git
/// names revisions. (zsh with `brace_ccl` makes a word of each letter; these words are such names again.)
pub(super) fn revision_braces(before: char, rest: &str) -> Option<&str> {
    let (inside, _) = rest.split_once('}').filter(|_| matches!(before, '@' | '^'))?;
    let is_plain = inside.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.'));
    (is_plain && !inside.contains("..")).then_some(inside)
}

fn why_dollar(next: Option<char>) -> &'static str {
    match next {
        Some('(') => "uses a substitution",
        Some('\'' | '"') => "uses `$` quoting",
        _ => "expands a variable",
    }
}
