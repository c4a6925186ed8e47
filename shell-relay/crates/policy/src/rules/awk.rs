//! Allows `awk` programs that only print. A program that a simple lexer could misread is refused.

use cohab_shell_syntax::Word;

use super::{
    super::{Context, paths},
    Refusal, ask, check_literal, check_path, danger,
    pattern::skip_pattern,
};

/// Refused in any place, in strings and patterns too, since a lexer that is fooled by `a / b` would not see them.
const REFUSED: &[&str] =
    &["system", "getline", "close", "fflush", "ENVIRON", "PROCINFO", "ARGV", "ARGC", "SYMTAB", "FUNCTAB", "@"];
/// After these words a `/` may begin a pattern; after other words it divides.
const KEYWORDS: &[&str] = &[
    "BEGIN", "END", "and", "asort", "asorti", "atan2", "break", "case", "compl", "continue", "cos", "default",
    "delete", "do", "else", "exit", "exp", "for", "func", "function", "gensub", "gsub", "if", "in", "index", "int",
    "length", "log", "lshift", "match", "mktime", "next", "nextfile", "or", "patsplit", "print", "printf", "rand",
    "return", "rshift", "sin", "split", "sprintf", "sqrt", "srand", "strftime", "strtonum", "sub", "substr", "switch",
    "systime", "tolower", "toupper", "while", "xor",
];

pub(super) fn assess(words: &[Word], context: Context<'_>) -> Result<(), Refusal> {
    let mut words = words;
    loop {
        words = match words {
            [option, value, rest @ ..] if matches!(option.text.as_str(), "-F" | "-v") => {
                check_value(&value.text)?;
                check_literal(value)?;
                rest
            }
            [option, rest @ ..] if option.text.starts_with("-F") || option.text.starts_with("-v") => {
                check_value(&option.text[2..])?;
                check_literal(option)?;
                rest
            }
            [option, rest @ ..] if option.text == "--" => {
                words = rest;
                break;
            }
            [option, ..] if option.text.starts_with('-') => {
                return ask(format!("option `{}` of awk is not known to be read-only", option.text));
            }
            _ => break,
        };
    }
    let Some((program, files)) = words.split_first() else { return ask("`awk` without a program") };
    check_literal(program)?;
    check_program(&program.text, Slash::AsItStands)?;
    // If a pattern holds a quote, the text must also be harmless as a string that begins there.
    if has_quoted_pattern(&program.text) {
        check_program(&program.text, Slash::Divides)?;
    }
    for file in files.iter().filter(|file| file.text != "-") {
        if file.text.contains('=') || file.text.starts_with('-') || matches!(file.text.as_str(), "*" | "?*" | "*=*") {
            return ask("an operand of awk that may set a variable");
        }
        // gawk takes these for connections.
        if file.text.starts_with("/inet") {
            return ask("an operand of awk that may be another host");
        }
        check_path(file, context, paths::read_risk)?;
    }
    Ok(())
}

/// A value of `-v` or `-F`: the backslash of a plain tab is the one escape that is common.
fn check_value(text: &str) -> Result<(), Refusal> {
    if text.contains('@') || text.replace("\\t", "").replace("\\|", "").contains('\\') {
        ask("a value for awk that is not plain")
    } else {
        Ok(())
    }
}

/// The meaning of a `/`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slash {
    /// By the text before it.
    AsItStands,
    Divides,
}

/// Whether a `"` stands between two `/`, by a rough look.
fn has_quoted_pattern(program: &str) -> bool {
    let mut parts = program.split('/').skip(1).peekable();
    std::iter::from_fn(|| parts.next().filter(|_| parts.peek().is_some())).any(|part| part.contains('"'))
}

fn check_program(program: &str, slash: Slash) -> Result<(), Refusal> {
    if let Some(word) = REFUSED.iter().find(|word| program.contains(**word)) {
        return danger(format!("the awk program may run commands or read the environment: `{word}`"));
    }
    let mut parens = 0_usize;
    let mut braces = 0_usize;
    // The token before it decides whether `/` divides.
    let mut before = Before::Start;
    let mut chars = program.chars().peekable();
    while let Some(c) = chars.next() {
        before = match c {
            ' ' | '\t' => before,
            '"' => skip_string(&mut chars)?,
            '/' if before == Before::Operand || slash == Slash::Divides => Before::Start,
            '/' if before == Before::Unclear => return ask("an awk program that can be read in two ways"),
            '/' if skip_pattern(&mut chars, '/') => Before::Operand,
            '/' => return ask("an awk program that can be read in two ways"),
            '#' | '\\' => return ask("an awk program with a comment or continuation"),
            '|' if chars.peek() == Some(&'|') => {
                chars.next();
                Before::Start
            }
            '|' => return danger("the awk program starts a command"),
            '>' if braces > 0 && parens == 0 && chars.peek() != Some(&'=') => {
                return danger("the awk program writes a file");
            }
            '>' if chars.peek() == Some(&'>') => return danger("the awk program writes a file"),
            '(' => {
                parens += 1;
                Before::Start
            }
            ')' => {
                parens = parens.saturating_sub(1);
                Before::Unclear
            }
            '{' => {
                braces += 1;
                Before::Start
            }
            '}' => {
                braces = braces.saturating_sub(1);
                Before::Start
            }
            ']' => Before::Operand,
            '$' => Before::Unclear,
            '+' | '-' if chars.peek() == Some(&c) => {
                chars.next();
                Before::Unclear
            }
            c if c.is_ascii_digit() || c == '.' => {
                while chars.next_if(|next| next.is_ascii_digit() || *next == '.').is_some() {}
                Before::Operand
            }
            c if is_name(c) => {
                let mut name = String::from(c);
                while let Some(next) = chars.next_if(|next| is_name(*next)) {
                    name.push(next);
                }
                if KEYWORDS.contains(&name.as_str()) { Before::Unclear } else { Before::Operand }
            }
            _ => Before::Start,
        };
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// `/` begins a pattern.
    Start,
    /// `/` divides.
    Operand,
    /// The meaning depends on the version of awk.
    Unclear,
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Skips a string to its end.
fn skip_string(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<Before, Refusal> {
    while let Some(c) = chars.next() {
        match c {
            '\n' => break,
            '\\' => drop(chars.next()),
            '"' => return Ok(Before::Operand),
            _ => {}
        }
    }
    ask("an awk program that is not understood")
}
