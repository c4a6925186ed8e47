//! Splits the tokens of a `do` line: words, quoted texts, brackets.

/// One token of a `do` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// A bare word: a key or an action.
    Word(String),
    /// A quoted text, its escapes resolved and its repetition done.
    Text(String),
    /// `(`: what follows goes to the terminals in one write.
    Open,
    /// `)`.
    Close,
}

/// Splits a line into tokens.
///
/// `"text"` knows the escapes `\n \r \t \e \a \\ \" \xHH`; `"text"*20` repeats it.
///
/// # Errors
/// With the reason, for a text without an end, an unknown escape or a bad count.
pub(crate) fn split(line: &str) -> Result<Vec<Token>, String> {
    let mut rest = line.trim_start();
    let mut tokens = Vec::new();
    while let Some(first) = rest.chars().next() {
        let (token, behind) = match first {
            '(' => (Token::Open, &rest[1..]),
            ')' => (Token::Close, &rest[1..]),
            '"' => quoted(&rest[1..])?,
            _ => {
                let end = rest.find([' ', '(', ')', '"']).unwrap_or(rest.len());
                (Token::Word(rest[..end].to_owned()), &rest[end..])
            }
        };
        tokens.push(token);
        rest = behind.trim_start();
    }
    Ok(tokens)
}

fn quoted(inner: &str) -> Result<(Token, &str), String> {
    let mut end = None;
    let mut is_escaped = false;
    for (at, c) in inner.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => {
                end = Some(at);
                break;
            }
            _ => {}
        }
    }
    let end = end.ok_or_else(|| format!("a text has no end: {inner}"))?;
    let text = unescape(&inner[..end])?;
    let behind = &inner[end + 1..];
    let Some(count) = behind.strip_prefix('*') else { return Ok((Token::Text(text), behind)) };
    let digits = count.find(|c: char| !c.is_ascii_digit()).unwrap_or(count.len());
    let times: usize = count[..digits].parse().map_err(|_| format!("no count behind `*`: {behind}"))?;
    Ok((Token::Text(text.repeat(times)), &count[digits..]))
}

/// Resolves the escapes of a text.
///
/// # Errors
/// For an escape that is not known.
pub(crate) fn unescape(text: &str) -> Result<String, String> {
    let mut plain = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            plain.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => plain.push('\n'),
            Some('r') => plain.push('\r'),
            Some('t') => plain.push('\t'),
            Some('e') => plain.push('\x1b'),
            Some('a') => plain.push('\x07'),
            Some('\\') => plain.push('\\'),
            Some('"') => plain.push('"'),
            Some('x') => {
                let digits: String = chars.by_ref().take(2).collect();
                let byte = u8::from_str_radix(&digits, 16).map_err(|_| format!("bad escape `\\x{digits}`"))?;
                if !byte.is_ascii() {
                    return Err(format!("`\\x{digits}` is no character"));
                }
                plain.push(char::from(byte));
            }
            other => return Err(format!("unknown escape `\\{}`", other.unwrap_or(' '))),
        }
    }
    Ok(plain)
}
