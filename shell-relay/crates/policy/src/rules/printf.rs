//! Allows `printf` with a format that is read to its end and neither sets a variable nor is evaluated.

use cohab_shell_state::shell::Shell;
use cohab_shell_syntax::Word;

use super::{
    super::{Context, paths},
    Refusal, ask, check_literal, check_path,
};

/// Letters behind a backslash that stand for one sign in every shell.
const ESCAPES: &[char] = &['a', 'b', 'e', 'f', 'n', 'r', 't', 'v', '\\', '"', '\''];

/// The use of a value by a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conversion {
    Text,
    /// A text whose backslashes stand for signs, also for those that the terminal obeys.
    Escapes,
    /// Some shells evaluate the value.
    Number,
}

pub(super) fn assess(words: &[Word], context: Context<'_>) -> Result<(), Refusal> {
    let shell = context.shell;
    let Some((format, values)) = words.split_first() else { return ask("`printf` without a format") };
    check_literal(format)?;
    if format.text.starts_with('-') {
        return ask("`printf` with an option may set a variable");
    }
    let Some(conversions) = conversions(&format.text) else {
        return ask("a format of `printf` that may set a variable, or is not understood");
    };
    // A pattern stands for any number of values, so each conversion may get a name.
    let takes_names = !conversions.is_empty() && conversions.iter().all(|conversion| *conversion == Conversion::Text);
    for value in values.iter().filter(|value| value.has_glob) {
        if takes_names { check_path(value, context, paths::list_risk)? } else { check_literal(value)? }
    }
    // The format is used again for values that are left.
    let mut pairs = conversions.iter().cycle().zip(values);
    // zsh evaluates even a name, and what the variable of that name holds; the others no word at all.
    let is_harmless = |text: &str| is_literal_number(text) || (shell != Shell::Zsh && is_word(text));
    if pairs.all(|(conversion, value)| *conversion != Conversion::Number || is_harmless(&value.text)) {
        Ok(())
    } else {
        ask("`printf` with a number that some shells evaluate")
    }
}

/// The conversions of a format in order; `None` if one is not a plain conversion.
fn conversions(format: &str) -> Option<Vec<Conversion>> {
    let mut found = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.find(['%', '\\']) {
        let (sign, behind) = rest[at..].split_at(1);
        if sign == "\\" {
            rest = match behind.strip_prefix(ESCAPES) {
                Some(rest) => rest,
                None => behind_number(behind)?,
            };
            continue;
        }
        if let Some(behind) = behind.strip_prefix('%') {
            rest = behind;
            continue;
        }
        let behind = behind.trim_start_matches(['-', '+', ' ', '#', '0']);
        let behind = behind_width(behind)?;
        let behind = behind.strip_prefix('.').map_or(Some(behind), behind_width)?;
        found.push(match behind.chars().next()? {
            's' | 'q' | 'c' => Conversion::Text,
            'b' => Conversion::Escapes,
            'd' | 'i' | 'u' | 'o' | 'x' | 'X' | 'f' | 'e' | 'g' => Conversion::Number,
            _ => return None,
        });
        rest = &behind[1..];
    }
    Some(found)
}

/// The text behind a number of at most five digits: a longer one would fill the memory of the shell.
fn behind_width(text: &str) -> Option<&str> {
    let behind = text.trim_start_matches(|c: char| c.is_ascii_digit());
    (text.len() - behind.len() <= 5).then_some(behind)
}

/// The text behind the mark or first digit of an escape that gives a sign by its octal or hexadecimal number; `None` if it is not such an
/// escape, or could be a percent sign: shells differ in the number of digits they read, and cut too high a number to eight bits.
fn behind_number(escape: &str) -> Option<&str> {
    let (digits, radix, most) = match escape.strip_prefix('x') {
        Some(digits) => (digits, 16, 2),
        None => (escape, 8, 4),
    };
    let count = digits.chars().take(most).take_while(|digit| digit.is_digit(radix)).count();
    let is_percent = |length| u32::from_str_radix(&digits[..length], radix).is_ok_and(|sign| sign & 0xff == 0x25);
    (count > 0 && !(1..=count).any(is_percent)).then(|| &digits[1..])
}

/// Nothing that a shell could evaluate as arithmetic with a subscript.
fn is_word(text: &str) -> bool {
    !text.contains(['[', ']', '(', ')', '=', '$', '`'])
}

/// Digits with a sign, a fraction and an exponent, or hexadecimal ones.
fn is_literal_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(digits) = unsigned.strip_prefix("0x") {
        return !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    let (number, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    is_digits(whole) && is_digits(fraction) && is_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_format_is_read_to_its_end() {
        use Conversion::{Escapes, Number, Text};
        assert_eq!(conversions("%s: %5.2f%%\\n"), Some(vec![Text, Number]));
        assert_eq!(conversions("\\033[1m%-10s\\x1b[0m %b\\t\\\\x"), Some(vec![Text, Escapes]));
        assert_eq!(conversions("\\033(0\\016\\0331m\\x1B\\7\\xe9%s"), Some(vec![Text]));
        for format in [
            "%n",
            "%1$d",
            "%ld",
            "%*d",
            "%.*f",
            "%",
            "%-",
            "\\x25n",
            "\\045n",
            "\\0045n",
            "\\45n",
            "\\445n",
            "\\u0025",
            "\\",
            "\\x",
            "\\xg",
            "%(x)T",
            "%é",
            "%999999s",
            "%.999999s",
        ] {
            assert_eq!(conversions(format), None, "{format}");
        }
    }

    #[test]
    fn a_pattern_may_stand_only_where_each_conversion_shows_a_name() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let context = Context::new(Path::new("/home/ann/work/app"), Path::new("/home/ann")).in_shell(shell);
            let words = |texts: &[&str]| -> Vec<Word> {
                let word = |text: &&str| Word { text: (*text).into(), has_glob: text.contains('*'), ..Word::default() };
                texts.iter().map(word).collect()
            };
            let is_allowed = |texts: &[&str]| assess(&words(texts), context).is_ok();
            assert!(is_allowed(&["%s\\n", "*.md"]) && is_allowed(&["%s %q\\n", "a", "src/*"]), "{shell:?}");
            // The second match would be a number, which zsh evaluates.
            for texts in
                [&["%s %d\\n", "*"][..], &["%b\\n", "*"], &["%s%b", "*"], &["%d", "*"], &["x", "*"], &["*", "a"]]
            {
                assert!(!is_allowed(texts), "{shell:?} {texts:?}");
            }
        }
    }

    #[test]
    fn a_number_is_spelled_out() {
        for text in ["5", "-5", "+1.5", "1e3", "0x1F"] {
            assert!(is_literal_number(text), "{text}");
        }
        for text in ["", "x", "1K", "a[1]", "1.", "0x", "x=1", "1e", "1 2"] {
            assert!(!is_literal_number(text), "{text}");
        }
    }
}
