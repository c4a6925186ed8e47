//! Reads the title of a code block: its language, and the file that the fence or the line before it names. Pure.

use unicode_width::UnicodeWidthChar;

use crate::wrap::columns;

/// Endings of file names that count as such; other words with a dot, such as `np.array`, are code.
const EXTENSIONS: &str = include_str!("extensions.txt");
/// Files without an ending.
const NAMES: [&str; 9] = [
    "Makefile",
    "Dockerfile",
    "Containerfile",
    "Justfile",
    "justfile",
    "Procfile",
    "Gemfile",
    "Rakefile",
    "Vagrantfile",
];
/// Languages of commands and their output: a file that the line before names is what they are about, not where they stand.
const COMMANDS: [&str; 12] =
    ["bash", "console", "diff", "fish", "output", "powershell", "sh", "shell", "shellsession", "text", "txt", "zsh"];
/// Words before the name of a file in a fence.
const KEYS: [&str; 5] = ["title=", "file=", "filename=", "path=", "name="];
/// Longest name, in bytes.
const MAX_NAME_BYTES: usize = 200;
/// A longer line names no file.
const MAX_LINE_BYTES: usize = 400;

/// What a code block is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CodeTitle {
    /// As the answer names it; may be empty.
    pub(super) language: String,
    /// The name or path of the file; may be empty.
    file: String,
}

impl CodeTitle {
    /// The title in the words behind a fence: `rust`, `rust src/main.rs`, `rust title="src/main.rs"`, `rust:src/main.rs` or `src/main.rs`.
    pub(super) fn of_fence(info: &str) -> Self {
        let mut words = info.split(|c: char| c.is_whitespace() || matches!(c, ',' | '{' | '}'));
        let first = words.next().unwrap_or_default();
        if let Some(extension) = extension(first) {
            return Self { language: extension.to_owned(), file: first.to_owned() };
        }
        let (language, behind) = first.split_once(':').unwrap_or((first, ""));
        let file = std::iter::once(behind).chain(words).map(without_key).find(|word| is_file(word));
        Self { language: language.to_owned(), file: file.unwrap_or_default().to_owned() }
    }

    /// The same with the file that `line` names, the line before the fence: `src/main.rs`, `**src/main.rs**`, or a line that ends with a colon
    /// and has one name between backticks. The fence's own name counts first.
    pub(super) fn below(mut self, line: &str) -> Self {
        let is_of_commands = COMMANDS.contains(&self.language.to_ascii_lowercase().as_str());
        if self.file.is_empty() && !is_of_commands && line.len() <= MAX_LINE_BYTES {
            named_alone(line).or_else(|| named_within(line)).unwrap_or_default().clone_into(&mut self.file);
        }
        self
    }

    /// In `width` columns: language and file, or what fits of the file. Empty if there is neither.
    pub(super) fn text(&self, width: usize, separator: &str) -> String {
        let is_said = extension(&self.file).is_some_and(|extension| extension == self.language);
        let parts = [&self.language, &self.file].into_iter().skip(usize::from(is_said));
        let whole = parts.filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(separator);
        if columns(&whole) <= width || self.file.is_empty() {
            return whole;
        }
        end_of(&self.file, width)
    }
}

/// The last line of `text` that is not blank, signs of quotes aside.
pub(super) fn last_line(text: &str) -> &str {
    let unquoted = |line: &'_ str| line.trim_matches([' ', '\t', '>']).is_empty();
    text.lines().rev().find(|line| !unquoted(line)).unwrap_or_default()
}

fn without_key(word: &str) -> &str {
    let value = KEYS.iter().find_map(|key| word.strip_prefix(key)).unwrap_or(word);
    value.trim_matches(['"', '\''])
}

/// The file, if the line is its name and signs of markup.
fn named_alone(line: &str) -> Option<&str> {
    let word = line.trim_matches([' ', '\t', '>', '#', '*', '_', '`', ':']);
    is_file(word).then_some(word)
}

/// The only file between backticks in a line that announces something.
fn named_within(line: &str) -> Option<&str> {
    let line = line.trim_end_matches([' ', '*', '_']).strip_suffix(':')?;
    let mut names = line.split('`').skip(1).step_by(2).filter(|word| is_file(word));
    names.next().filter(|_| names.next().is_none())
}

/// Whether the word is the name of a file, with or without its folders.
fn is_file(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or_default();
    extension(word).is_some() || (NAMES.contains(&name) && is_path(word))
}

/// The ending of the name of a file.
fn extension(word: &str) -> Option<&str> {
    let (stem, extension) = word.rsplit_once('.')?;
    let is_name = !stem.is_empty() && is_path(word);
    EXTENSIONS.split_whitespace().find(|known| *known == extension).filter(|_| is_name)
}

fn is_path(word: &str) -> bool {
    let is_sign = |c: char| matches!(c, '.' | '_' | '-' | '/' | '~' | '@' | '+' | '[' | ']' | '\\');
    word.len() <= MAX_NAME_BYTES && word.chars().all(|c| c.is_alphanumeric() || is_sign(c))
}

/// The end of a path in `width` columns.
fn end_of(path: &str, width: usize) -> String {
    let (mut free, mut start) = (width.saturating_sub(1), path.len());
    for (at, letter) in path.char_indices().rev() {
        let taken = letter.width().unwrap_or(0);
        if taken > free {
            break;
        }
        (free, start) = (free - taken, at);
    }
    if start == 0 { path.to_owned() } else { format!("…{}", &path[start..]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(info: &str, before: &str) -> String {
        CodeTitle::of_fence(info).below(before).text(40, " · ")
    }

    #[test]
    fn a_fence_names_its_language_and_its_file() {
        for (info, expected) in [
            ("rust", "rust"),
            ("rust,ignore", "rust"),
            ("rust src/main.rs", "rust · src/main.rs"),
            ("python title=\"app.py\"", "python · app.py"),
            ("js {1,3} filename='a/b.js'", "a/b.js"),
            ("rust:src/main.rs", "rust · src/main.rs"),
            ("src/main.rs", "src/main.rs"),
            ("toml Cargo.toml", "Cargo.toml"),
            ("make Makefile", "make · Makefile"),
            ("c++", "c++"),
            ("sh run it", "sh"),
            ("rust https://a.b/c.rs", "rust"),
            ("", ""),
        ] {
            assert_eq!(title(info, ""), expected, "{info}");
        }
    }

    #[test]
    fn the_line_before_names_a_file() {
        for (line, expected) in [
            ("**src/main.rs**", "rust · src/main.rs"),
            ("### `src/main.rs`:", "rust · src/main.rs"),
            ("Then change `src/main.rs`:", "rust · src/main.rs"),
            ("> In `a.rs` **fix it:**", "rust · a.rs"),
            ("Copy `a.rs` to `b.rs`:", "rust"),
            ("I looked at `a.rs`.", "rust"),
            ("Call `np.array`:", "rust"),
            ("Run it:", "rust"),
        ] {
            assert_eq!(title("rust", line), expected, "{line}");
        }
        assert_eq!(title("rust b.rs", "`a.rs`:"), "rust · b.rs");
        assert_eq!(title("sh", "Create `a.py` and run it:"), "sh");
        assert_eq!(title("", "`notes.md`:"), "notes.md");
        assert_eq!(title("rust", &format!("{}`a.rs`:", "x".repeat(MAX_LINE_BYTES))), "rust");
    }

    #[test]
    fn the_end_of_a_long_path_stays() {
        let long = CodeTitle::of_fence("rust:a/very/long/path/to/the/file/at/the/end/main.rs");
        assert_eq!(long.text(20, " · "), "…/at/the/end/main.rs");
    }
}
