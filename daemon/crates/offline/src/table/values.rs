//! Which words can fill which slot, and how a value is written into a command.

use super::{
    super::{
        shell_line::{is_host, is_plain_name, is_variable_name, path, word},
        values::read_number,
        vocabulary::{extensions_of, is_announcing, is_filler, is_manner, is_program, kind_of_file},
    },
    times,
    words::Word,
};

/// Most words of a slot for free text.
pub(super) const MAX_TEXT_WORDS: usize = 24;
/// The gain of a word that is surely of the type.
const SURE: f32 = 2.5;
/// The gain of a word that can be of the type.
const LIKELY: f32 = 1.2;
/// The gain of a word that would be of the type only here.
const DOUBTFUL: f32 = 0.2;

/// Most words that a slot of this type takes.
pub(super) fn most_words(kind: &str) -> usize {
    match kind {
        "text" => MAX_TEXT_WORDS,
        "expr" => 12,
        "date" => 4,
        "size" | "clock" => 2,
        "times" => times::MOST_WORDS,
        _ => 1,
    }
}

/// How well words fill a slot of this type; `None` if they cannot. `is_known` says whether a word has a meaning of its own here.
pub(super) fn fit(kind: &str, words: &[Word], is_known: impl Fn(&Word) -> bool) -> Option<f32> {
    let [first, rest @ ..] = words else { return None };
    if !rest.is_empty() {
        return fit_many(kind, words);
    }
    let raw = first.raw.as_str();
    // "->" and "safely" are never meant.
    let is_no_value = !first.is_quoted
        && (is_manner(&raw.to_lowercase())
            || !raw.contains(char::is_alphanumeric) && !raw.contains(['*', '/', '.', '~']));
    if is_no_value && !matches!(kind, "text" | "expr") {
        return None;
    }
    let plain = match () {
        () if first.is_quoted => SURE,
        () if first.is_filler() || is_generic(kind, first) => return None,
        () if kind == "word" && (is_announcing(&raw.to_lowercase()) || first.stem == "call") => return None,
        () if kind == "host" && is_known(first) && !raw.contains(['.', '@', ':']) => return None,
        () if kind == "word" && raw.rsplit_once('.').is_some_and(|(_, ending)| kind_of_file(ending).is_some()) => {
            DOUBTFUL
        }
        () if kind == "word" && number_of(raw) => DOUBTFUL,
        () if kind == "word" && is_program(&first.raw.to_lowercase()) => LIKELY,
        () if is_known(first) => DOUBTFUL,
        () => LIKELY,
    };
    let number = read_number(&raw.to_lowercase());
    match kind {
        "number" if number.is_none() => ordinal(&raw.to_lowercase()).map(|_| LIKELY),
        "number" | "pid" => number.map(|_| SURE),
        "decimal" => decimal(raw).map(|_| SURE),
        "port" => number.filter(|port| (1..=65_535).contains(port)).map(|_| SURE),
        "size" => size(raw).map(|_| SURE),
        "url" if raw.contains("://") => Some(SURE),
        "url" => (raw.contains('.') && raw.contains('/') || raw.starts_with("www.")).then_some(LIKELY),
        "host" if raw.split_once('@').is_some_and(|(user, host)| is_host(user) && is_host(host)) => Some(SURE),
        "host" if is_host(raw) && (raw.contains(['.', ':']) || raw == "localhost") => Some(SURE),
        "host" => (is_host(raw) && !raw.bytes().all(|byte| byte.is_ascii_digit())).then_some(plain),
        "glob" => raw.contains(['*', '?']).then_some(SURE),
        "ext" if raw.starts_with('.') || raw.starts_with("*.") => Some(SURE),
        "ext" => extension(raw).map(|_| plain),
        "date" => date(words).map(|_| SURE),
        "clock" | "times" => value(kind, words).map(|_| SURE),
        "expr" => expression(words).map(|_| SURE),
        "word" => (is_plain_name(raw) && !first.is_quoted).then_some(plain).or(first.is_quoted.then_some(LIKELY)),
        "text" => Some(plain),
        // Places.
        _ if raw.contains("://") || number.is_some() && !first.is_quoted => None,
        // "convert mov to mp4" names no files.
        _ if !first.is_quoted && kind_of_file(raw).is_some() => None,
        // "3-7" and "1st" count.
        _ if !first.is_quoted && (is_range(raw) || is_time(raw)) => None,
        // ".log files" names no file, "the value of $HOME" neither.
        _ if !first.is_quoted && raw.strip_prefix('.').is_some_and(is_ending) => None,
        "path" | "new" if raw.strip_prefix('$').is_some_and(is_variable_name) => None,
        _ if first.is_name => Some(SURE),
        _ => Some(plain),
    }
}

/// Whether a text is a range of numbers or an ordinal.
fn is_range(raw: &str) -> bool {
    ordinal(&raw.to_lowercase()).is_some()
        || raw.split(['-', ',']).all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_ending(name: &str) -> bool {
    extensions_of(name).is_some() || kind_of_file(name).is_some()
}

/// Whether a text is a time such as `1:30`.
fn is_time(raw: &str) -> bool {
    raw.contains(':') && raw.split(':').all(|part| !part.is_empty() && number_of(part))
}

fn number_of(raw: &str) -> bool {
    raw.bytes().all(|byte| byte.is_ascii_digit())
}

/// What several words without quotes cost as a text: a name with words such as "on this computer" behind it is no text, nor is "the word
/// hello".
fn unlikely_text(words: &[Word]) -> f32 {
    const TRAILING: f32 = 2.0;
    let [first, rest @ ..] = words else { return 0.0 };
    let trails =
        first.is_name && rest.iter().any(Word::is_filler) || matches!(first.raw.as_str(), "the" | "run" | "every");
    let ends = [Some(first), rest.last()].into_iter().flatten().filter(|word| word.is_filler()).count();
    if trails { TRAILING } else { ends as f32 }
}

fn fit_many(kind: &str, words: &[Word]) -> Option<f32> {
    match kind {
        // Each further word costs: the shortest text that explains the request wins.
        "text" => Some(LIKELY - 0.05 * words.len() as f32 - unlikely_text(words)),
        "expr" => expression(words).map(|_| SURE),
        "date" => date(words).map(|_| SURE),
        // The longest schedule wins.
        "clock" | "times" => value(kind, words).map(|_| SURE + 0.5 * words.len() as f32),
        "size" => size(&words.iter().map(|word| word.raw.as_str()).collect::<String>()).map(|_| SURE),
        _ => None,
    }
}

/// The value of a slot for people and for `written`; `None` if the words are not of the type after all.
pub(super) fn value(kind: &str, words: &[Word]) -> Option<String> {
    let joined = || words.iter().map(|word| word.raw.as_str()).collect::<Vec<_>>().join(" ");
    match kind {
        "number" | "port" | "pid" => {
            let text = joined().to_lowercase();
            read_number(&text).or_else(|| ordinal(&text)).map(|number| number.to_string())
        }
        "text" => Some(without_courtesy(words)),
        "path" | "folder" if !words[0].is_name && words[0].form == "home" => Some("~".to_owned()),
        "decimal" => decimal(&joined()),
        "size" => size(&words.iter().map(|word| word.raw.as_str()).collect::<String>()),
        "ext" => extension(&joined()),
        "expr" => expression(words),
        "date" => date(words),
        "clock" => times::clock(&raws(words)),
        "times" => times::schedule(&raws(words)),
        _ => Some(joined()),
    }
}

fn raws(words: &[Word]) -> Vec<&str> {
    words.iter().map(|word| word.raw.as_str()).collect()
}

/// A value as a word of a command line; `None` if the type does not allow it. No value can read as an option, except behind one.
pub(super) fn written(kind: &str, value: &str, is_behind_option: bool) -> Option<String> {
    let is_option = value.starts_with('-') && !is_behind_option;
    match kind {
        "path" | "folder" | "new" => Some(path(value)),
        "number" | "port" | "pid" => value.bytes().all(|byte| byte.is_ascii_digit()).then(|| value.to_owned()),
        "decimal" => value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.').then(|| value.to_owned()),
        "word" | "ext" if is_plain_name(value) => Some(word(value)),
        "word" => (value.contains(' ') || value.contains('/')).then(|| word(value)).filter(|_| !is_option),
        "host" => value.split('@').all(is_host).then(|| word(value)),
        _ => (!is_option).then(|| word(value)),
    }
}

/// Whether a word stands for any value of the type: "this folder", "the server".
fn is_generic(kind: &str, word: &Word) -> bool {
    const GENERIC: [&str; 20] = [
        "folder",
        "file",
        "project",
        "it",
        "host",
        "machine",
        "user",
        "package",
        "service",
        "command",
        "process",
        "group",
        "container",
        "image",
        "branch",
        "program",
        "port",
        "number",
        "line",
        "name",
    ];
    kind != "text" && kind != "ext" && !word.is_name && GENERIC.contains(&word.form.as_str())
}

/// The words of a text, without "for me" and "please" at the end.
fn without_courtesy(words: &[Word]) -> String {
    let is_courtesy =
        |word: &Word| !word.is_quoted && ["for", "me", "please", "pls", "now"].contains(&word.stem.as_str());
    let end = words.iter().rposition(|word| !is_courtesy(word)).map_or(words.len(), |last| last + 1);
    words[..end].iter().map(|word| word.raw.as_str()).collect::<Vec<_>>().join(" ")
}

/// 3 of `third` and of `3rd`.
fn ordinal(text: &str) -> Option<u64> {
    const ORDINALS: [&str; 10] =
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|ending| text.strip_suffix(ending));
    let named = || ORDINALS.iter().position(|word| *word == text).map(|place| place as u64 + 1);
    digits.and_then(|digits| digits.parse().ok()).or_else(named)
}

/// `26.2` of `26,2` and of `26.2`; words such as `three` are numbers, too.
fn decimal(text: &str) -> Option<String> {
    let text = text.to_lowercase().replace(',', ".");
    let is_decimal = text.starts_with(|first: char| first.is_ascii_digit()) && text.parse::<f64>().is_ok();
    if is_decimal { Some(text) } else { read_number(&text).map(|number| number.to_string()) }
}

/// `10M` of `10 MB`: a number and a unit that `find` and `head` read.
fn size(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let digits = lower.bytes().take_while(u8::is_ascii_digit).count();
    let unit = match lower.get(digits..)? {
        "k" | "kb" | "kib" => "k",
        "m" | "mb" | "mib" | "megabytes" | "megs" => "M",
        "g" | "gb" | "gib" | "gigabytes" | "gigs" => "G",
        "b" | "bytes" => "c",
        _ => return None,
    };
    (digits > 0).then(|| format!("{}{unit}", &lower[..digits]))
}

/// `log` of `.log`, `*.log`, `log`; `py` of `python`.
fn extension(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let name = lower.trim_start_matches("*.").trim_start_matches('.');
    // An ending that is written out stays: `jpeg` is not `jpg`.
    let meant = extensions_of(name).filter(|known| !known.contains(&name)).and_then(|known| known.first());
    let name = meant.copied().unwrap_or(name);
    let is_ending = (1..=10).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_ending && !is_filler(name)).then(|| name.to_owned())
}

/// Digits, signs and the words for them: `3 times 4` is `3 * 4`.
fn expression(words: &[Word]) -> Option<String> {
    let parts = words.iter().map(|word| {
        let norm = word.raw.to_lowercase();
        let sign = match norm.as_str() {
            "plus" => "+",
            "minus" => "-",
            "times" | "x" | "mal" | "multiplied" => "*",
            "divided" | "over" | "geteilt" => "/",
            "by" | "durch" => "",
            other => {
                return other
                    .bytes()
                    .all(|byte| b"0123456789.,+-*/()%^x".contains(&byte))
                    .then(|| other.replace('x', "*").replace(',', "."));
            }
        };
        Some(sign.to_owned())
    });
    let text = parts.collect::<Option<Vec<_>>>()?.join(" ");
    let has_sign = text.trim_start_matches('-').contains(['+', '-', '*', '/', '%', '^']);
    (has_sign && text.bytes().filter(u8::is_ascii_digit).count() > 1).then_some(text)
}

/// A date as `date -d` reads it.
fn date(words: &[Word]) -> Option<String> {
    const DAYS: [&str; 10] = [
        "today",
        "yesterday",
        "tomorrow",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ];
    let text = words.iter().map(|word| word.raw.to_lowercase()).collect::<Vec<_>>().join(" ");
    let bare = text.trim_start_matches("next ").trim_start_matches("last ");
    let is_plain = text.parse::<jiff::civil::Date>().is_ok() || DAYS.contains(&bare);
    if is_plain { Some(text) } else { day_and_month(words) }
}

/// `24 december 2025` of "the 24th of December 2025" and of "December 24 2025".
fn day_and_month(words: &[Word]) -> Option<String> {
    const MONTHS: &str = "january february march april may june july august september october november december";
    let parts: Vec<String> = words.iter().map(|word| word.raw.to_lowercase()).filter(|word| word != "of").collect();
    let day_of = |text: &str| ordinal(text).or_else(|| text.parse().ok()).filter(|day| (1..=31).contains(day));
    let is_month = |text: &&String| MONTHS.split(' ').any(|month| month == text.as_str());
    let day = parts.iter().find_map(|part| day_of(part))?;
    let month = parts.iter().find(is_month)?;
    let year = parts.iter().find(|part| part.len() == 4 && part.parse::<u16>().is_ok());
    let count = 2 + usize::from(year.is_some());
    let text = format!("{day} {month} {}", year.map_or("", String::as_str));
    (parts.len() == count).then(|| text.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::extension;

    #[test]
    fn a_written_ending_stays_and_a_named_kind_gets_its_usual_one() {
        for (text, ending) in [(".jpeg", "jpeg"), ("*.jpg", "jpg"), ("python", "py"), (".log", "log")] {
            assert_eq!(extension(text).as_deref(), Some(ending), "{text}");
        }
    }
}
