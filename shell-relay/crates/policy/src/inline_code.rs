//! Reads small programs in the words of a line: `python3 -c`, `node -e`, `perl -ne`, `ruby -e`. Pure.
//!
//! A program seems to read if it loads known libraries only and holds no word that is known to act. A list of such words is never
//! complete, so this alone allows nothing: the rule that asks here wants the lock as well.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

/// Longest program that is read, in bytes: some looks cost as much as it is long, for each of its names.
const MAX_PROGRAM_BYTES: usize = 4 * 1024;
/// Longest text in quotes that may be the name of a file.
const MAX_NAME_BYTES: usize = 200;
/// Functions whose arguments say whether a file is written.
const OPENERS: [&str; 4] = ["open", "ZipFile", "TarFile", "GzipFile"];
/// Words of SQL that change a database, or reach beyond it.
const CHANGES: [&str; 18] = [
    "alter",
    "analyze",
    "attach",
    "create",
    "delete",
    "drop",
    "edit",
    "fsdir",
    "insert",
    "into",
    "load_extension",
    "readfile",
    "reindex",
    "replace",
    "update",
    "vacuum",
    "writefile",
    "zipfile",
];

/// A language, as its rows of `inline_code.table` describe it.
#[derive(Debug, Default)]
pub(crate) struct Language {
    pub(crate) name: &'static str,
    words: HashMap<&'static str, HashSet<&'static str>>,
}

static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
    let mut languages: Vec<Language> = Vec::new();
    for row in include_str!("inline_code.table").lines().filter(|row| !row.starts_with('#')) {
        let mut fields = row.splitn(3, '|').map(str::trim);
        let mut next = || fields.next().unwrap_or_default();
        let (name, what, words) = (next(), next(), next());
        if languages.last().is_none_or(|language| language.name != name) {
            languages.push(Language { name, ..Language::default() });
        }
        if let Some(language) = languages.last_mut() {
            language.words.insert(what, words.split_ascii_whitespace().collect());
        }
    }
    languages
});

impl Language {
    /// The language of an interpreter; `None` if it is not known.
    pub(crate) fn of(program: &str) -> Option<&'static Self> {
        LANGUAGES.iter().find(|language| language.has("programs", program))
    }

    fn has(&self, what: &str, word: &str) -> bool {
        self.words.get(what).is_some_and(|words| words.contains(word))
    }

    /// Whether a program may load this library, or one that it is a part of.
    pub(crate) fn has_library(&self, name: &str) -> bool {
        let is_part = |end: &usize| name[*end..].starts_with(['.', ':']);
        let ends = (1..name.len()).filter(|end| name.is_char_boundary(*end)).filter(is_part).chain([name.len()]);
        let is_known = ends.into_iter().any(|end| self.has("libraries", &name[..end]));
        is_known && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:/".contains(&byte))
    }
}

/// The words behind an interpreter, taken apart.
#[derive(Debug, Default)]
pub(crate) struct Invocation<'a> {
    /// The numbers of the words that are programs.
    pub(crate) programs: Vec<usize>,
    /// The libraries that options load.
    pub(crate) libraries: Vec<&'a str>,
    /// The number of the first word behind all options.
    pub(crate) operands: usize,
}

impl Language {
    /// Takes the words behind an interpreter apart; `None` if an option is not known, or there is no program.
    pub(crate) fn call<'a>(&self, words: &[&'a str]) -> Option<Invocation<'a>> {
        let mut call = Invocation::default();
        let mut at = 0;
        while let Some(word) = words.get(at).filter(|word| word.len() > 1 && word.starts_with('-')) {
            at += 1;
            if self.has("options", word) {
                continue;
            }
            if let Some(library) = self.library_of(word) {
                call.libraries.push(library);
            } else if self.takes_program(word)? {
                words.get(at)?;
                call.programs.push(at);
                at += 1;
                // Behind its program, Python reads no more options.
                if self.name == "python" {
                    break;
                }
            }
        }
        call.operands = at;
        (!call.programs.is_empty()).then_some(call)
    }

    fn library_of<'a>(&self, word: &'a str) -> Option<&'a str> {
        let options = self.words.get("library")?;
        let attached = options.iter().find_map(|option| word.strip_prefix(option))?;
        attached.split('=').next().filter(|library| !library.is_empty())
    }

    /// Whether the next word is a program; `None` if the option is not known.
    fn takes_program(&self, word: &str) -> Option<bool> {
        if self.has("code", word) {
            return Some(true);
        }
        let mut letters = word.strip_prefix('-')?.char_indices();
        // A separator of fields, which is no code.
        if letters.next()?.1 == 'F' && self.has("letters", "a") {
            let is_plain = !word[2..].starts_with(['/', '"', '\'']) && !word.contains(['(', ')', ';']);
            return is_plain.then_some(false);
        }
        let is_letter = |letter: char| self.has("letters", letter.encode_utf8(&mut [0; 4]));
        let last = word.chars().next_back()?;
        let before = &word[1..word.len() - last.len_utf8()];
        if !before.chars().all(is_letter) {
            return None;
        }
        let takes = self.has("code", &format!("-{last}"));
        (takes || is_letter(last)).then_some(takes)
    }

    /// Something that a program may do beside reading and computing; `None` if nothing in it is known to act.
    pub(crate) fn why_it_may_act(&self, program: &str) -> Option<String> {
        let is_odd = program.len() > MAX_PROGRAM_BYTES || !program.is_ascii() || program.contains("\\u");
        if is_odd || (program.contains('`') && self.name != "node") {
            return Some(format!("the code for `{}` may hide what it does", self.name));
        }
        let names = names(program);
        if let Some((_, name)) = names.iter().find(|(at, name)| self.acts(program, *at, name)) {
            return Some(format!("the code for `{}` may do more than read: `{name}`", self.name));
        }
        let mut openers = names.iter().filter(|(_, name)| OPENERS.contains(name));
        let writes = openers.any(|(at, name)| !only_reads(&program[..*at], &program[at + name.len()..]));
        let is_sql = names.iter().any(|(_, name)| *name == "execute");
        if writes || (is_sql && !only_asks(program)) || (self.name == "ruby" && program.contains("%x")) {
            return Some(format!("the code for `{}` may write", self.name));
        }
        let library = self.libraries(program, &names).find(|library| !self.has_library(library))?;
        Some(format!("the code for `{}` loads `{library}`", self.name))
    }

    /// Whether the name at this place may act, by the table.
    fn acts(&self, program: &str, at: usize, name: &str) -> bool {
        let before = program[..at].trim_end();
        let start = before.rfind(|sign: char| !(sign.is_ascii_alphanumeric() || matches!(sign, '_' | '.')));
        let owner = before.strip_suffix('.').map(|before| before[start.map_or(0, |start| start + 1)..].trim_end());
        let qualified = owner.map(|owner| format!("{owner}.{name}")).unwrap_or_default();
        // A block, not the code of a file.
        let is_block = name == "do" && program[at + name.len()..].trim_start().starts_with('{');
        (self.has("acts", name) && !self.has("harmless", &qualified) && !is_block) || self.has("acts", &qualified)
    }

    /// The libraries that a program loads; an empty name for one that is not told.
    fn libraries<'a>(&self, program: &'a str, names: &[(usize, &'a str)]) -> impl Iterator<Item = &'a str> {
        let mut found: Vec<&str> = Vec::new();
        for (at, name) in names {
            let behind = &program[at + name.len()..];
            match (self.name, *name) {
                ("python", "import") => {
                    let begun = program[..*at].rsplit(['\n', ';']).next().unwrap_or_default();
                    let is_of = begun.trim_start().starts_with("from ");
                    let statement = behind.split(['\n', ';']).next().unwrap_or_default();
                    // Under another name the table would not know what is called.
                    let renames = |part: &str| ["os ", "shutil ", "sys "].iter().any(|start| part.starts_with(start));
                    let parts = statement.split(',').map(str::trim_start);
                    let modules = parts.map(|part| if renames(part) { "" } else { dotted(part) });
                    found.extend(modules.filter(|_| !is_of));
                }
                ("python", "from") if behind.contains("import") => {
                    let module = dotted(behind.trim_start());
                    // What comes from there has no name in front of it that tells its meaning.
                    found.push(if matches!(module, "os" | "shutil") { "" } else { module });
                }
                ("node", "require") => found.push(required(behind)),
                ("ruby", "require") => {
                    let literal = behind.trim_start_matches([' ', '(']).strip_prefix(['\'', '"']);
                    found.push(literal.and_then(|text| text.split(['\'', '"']).next()).unwrap_or_default());
                }
                ("perl", _)
                    if behind.starts_with('\'') && behind[1..].starts_with(|sign: char| sign.is_ascii_alphabetic()) =>
                {
                    found.push("");
                }
                ("perl", "use" | "no") if behind.starts_with(char::is_whitespace) => {
                    found.push(dotted(behind.trim_start()));
                }
                ("perl", _) if behind.starts_with("::") && !program[..*at].ends_with("::") => {
                    found.push(dotted(&program[*at..]));
                }
                _ => {}
            }
        }
        found.into_iter().filter(|library| !is_data(library))
    }
}

/// A file of data, which `require` of node only parses.
fn is_data(library: &str) -> bool {
    library.ends_with(".json")
}

/// The text in the parentheses behind `require`, or behind `require.resolve`.
fn required(behind: &str) -> &str {
    if behind.starts_with(".resolve(") {
        return ".json";
    }
    let literal = behind.strip_prefix('(').and_then(|rest| {
        let text = rest.strip_prefix(['\'', '"'])?;
        let (name, end) = text.split_once(['\'', '"'])?;
        end.starts_with(')').then_some(name)
    });
    literal.map_or("", |text| text.strip_prefix("node:").unwrap_or(text))
}

/// The names in a program, also in its texts and comments, with their places.
fn names(program: &str) -> Vec<(usize, &str)> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let bytes = program.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = (at..bytes.len()).find(|end| !is_part(bytes[*end])).unwrap_or(bytes.len());
        if end > at && !bytes[at].is_ascii_digit() {
            found.push((at, &program[at..end]));
        }
        at = end.max(at + 1);
    }
    found
}

/// A name with dots or colons in it, at the front of a text.
fn dotted(text: &str) -> &str {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '.' | ':');
    text.split(|sign| !is_part(sign)).next().unwrap_or_default()
}

/// The texts in quotes, as far as they are short and on one line. It is not known where a language begins one, so each quote does.
pub(crate) fn texts(program: &str) -> impl Iterator<Item = &str> {
    program.char_indices().filter(|(_, sign)| matches!(sign, '\'' | '"')).filter_map(|(at, quote)| {
        let behind = &program[at + 1..];
        let text = &behind[..behind.find([quote, '\n'])?];
        (text.len() <= MAX_NAME_BYTES).then_some(text)
    })
}

/// Whether the arguments behind the name of an opener only read: no further one, a plain mode, or how the text is read.
fn only_reads(before: &str, behind: &str) -> bool {
    let Some(arguments) = behind.trim_start().strip_prefix('(').and_then(arguments) else { return false };
    let is_mode = |text: &str, letters: &str| {
        let text = text.strip_prefix(['\'', '"']).and_then(|text| text.strip_suffix(['\'', '"']));
        text.is_some_and(|text| text.len() <= 3 && text.chars().all(|sign| letters.contains(sign)))
    };
    let reads = |argument: &&str| {
        let plain = ["encoding=", "newline=", "errors="].iter().any(|start| argument.starts_with(start));
        plain || is_mode(argument.strip_prefix("mode=").unwrap_or(argument), "rbtU")
    };
    let (first, others) = arguments.split_first().map_or(("", &[][..]), |(first, others)| (*first, others));
    // A method of a path has its mode first.
    let is_mode_first = before.trim_end().ends_with('.') && is_mode(first, "rwaxbtU+") && !is_mode(first, "rbtU");
    !is_mode_first && !first.contains('=') && !first.starts_with('*') && others.iter().all(reads)
}

/// The arguments in front of the closing parenthesis; `None` without one. Signs in texts count, too.
fn arguments(text: &str) -> Option<Vec<&str>> {
    let (mut depth, mut start, mut found) = (0_usize, 0, Vec::new());
    for (at, sign) in text.char_indices() {
        match sign {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth > 0 => depth -= 1,
            ')' => {
                found.push(text[start..at].trim());
                found.retain(|argument| !argument.is_empty());
                return Some(found);
            }
            ',' if depth == 0 => {
                found.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    None
}

/// Whether a text in SQL only asks.
pub(crate) fn only_asks(sql: &str) -> bool {
    let lower = sql.to_ascii_lowercase();
    let statements = lower.split("pragma").skip(1).filter_map(|rest| rest.split([';', '"', '\'', '\n', ')']).next());
    let is_set = statements.into_iter().any(|statement| statement.contains('='));
    !is_set && !names(&lower).iter().any(|(_, name)| CHANGES.contains(name))
}

/// Whether nothing is known to act in the programs in the words behind the interpreter `name`.
pub(crate) fn seems_to_read(name: &str, words: &[&str]) -> bool {
    let Some(language) = Language::of(name) else { return false };
    language.call(words).is_some_and(|call| {
        call.libraries.iter().all(|library| language.has_library(library))
            && call.programs.iter().all(|at| language.why_it_may_act(words[*at]).is_none())
    })
}

#[cfg(test)]
mod tests;
