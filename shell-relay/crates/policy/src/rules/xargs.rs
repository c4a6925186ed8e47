//! Judges commands that run on names found by another command: those of `find -exec`, and of `xargs`. Such a command is judged as if
//! the searched places were its operands.

mod feed;

use cohab_shell_syntax::Word;

use super::{
    super::{
        Context, danger,
        options::{self, Operands},
        paths::{self, PlainPath},
    },
    Place, Refusal, ask, check_hoard, check_links, check_literal, check_path, find_words, input, operands, timeout,
};

pub(super) use feed::{Feed, feed};

const TAKEN_APART: &str = "names of files with blanks or quotes may be taken apart: `-print0` and `xargs -0` avoid it";
const AVOIDS_LINKS: &str = "; `-type f` leaves links out";
/// Stands for a found name.
const PLACEHOLDER: &str = "{}";
/// A word in the place of one that is not known: a name for most programs, a number for the others.
const ANY: &str = "1";
/// Programs that show names, sizes and times of their operands, and have no option that does more.
const NAMERS: &[&str] = &[
    "ls", "dir", "stat", "wc", "du", "file", "basename", "dirname", "echo", "readlink", "realpath", "test", "[",
    "printf", "namei", "lsattr",
];
/// Programs that are harmless with any text, also as options.
pub(super) const HARMLESS_WITH_ANY_OPTION: &[&str] =
    &["ls", "dir", "stat", "basename", "dirname", "echo", "readlink", "realpath"];

/// Programs whose operands are no files, and which have no option that shows a file.
const NO_FILES: &[&str] =
    &["apt-cache", "getent", "git", "groups", "id", "numfmt", "pgrep", "pidof", "ps", "seq", "tput", "which"];

/// The words of `find` behind `-exec`, and the other output of `find`.
pub(super) struct Action<'a> {
    /// The command with its placeholder.
    pub words: &'a [Word],
    /// Words of `find` behind the action.
    pub rest: &'a [Word],
}

/// Takes off the command behind `-exec`.
pub(super) fn action(words: &[Word]) -> Option<Action<'_>> {
    let is_many = |at: usize| words[at].text == "+" && at > 0 && words[at - 1].text == PLACEHOLDER;
    let end = (0..words.len()).find(|at| words[*at].text == ";" || is_many(*at))?;
    Some(Action { words: &words[..end], rest: &words[end + 1..] })
}

/// Judges a command that `find` runs on files found below `roots`, links included if it `finds_links`.
pub(super) fn assess_action(
    command: &[Word],
    roots: &[Word],
    finds_links: bool,
    place: Place<'_>,
) -> Result<(), Refusal> {
    if command.iter().skip(1).all(|word| word.text != PLACEHOLDER) {
        return ask("`find` runs a command that does not get what is found");
    }
    if finds_links && command.first().is_some_and(|name| shows_contents(&name.text)) {
        roots.iter().try_for_each(|root| check_links(root, place.context, AVOIDS_LINKS))?;
    }
    assess_on_files(command, PLACEHOLDER, roots, place)
}

/// Whether a command shows the contents of files, and not just their names.
pub(super) fn shows_contents(name: &str) -> bool {
    !NAMERS.contains(&name) && !input::SUMMERS.contains(&name)
}

/// Whether a program shows the contents of a file if its words name one.
pub(super) fn shows_any_file(name: &str) -> bool {
    shows_contents(name) && !NO_FILES.contains(&name) && !HARMLESS_WITH_ANY_OPTION.contains(&name)
}

/// Judges a locked program that may show any file: places of secrets are hidden from it, and here none may be secret by its name.
pub(super) fn check_any_file(context: Context<'_>) -> Result<(), Refusal> {
    let here = PlainPath::from_path(context.cwd, context);
    if paths::is_wide(&here, context) { Ok(()) } else { check_hoard(".", false, true, context) }
}

/// Judges `command` with each of `roots` in the place of `placeholder`.
fn assess_on_files(command: &[Word], placeholder: &str, roots: &[Word], place: Place<'_>) -> Result<(), Refusal> {
    let Some((name, words)) = command.split_first() else { return ask("runs a command that is not told") };
    check_name(name)?;
    for root in roots {
        if root.has_glob {
            return ask("runs a command on what is found in places that a pattern names");
        }
        check_path(root, place.context, paths::search_risk)?;
        if shows_contents(&name.text) {
            check_hoard(&root.text, root.has_tilde, true, place.context)?;
        }
        if !operands::is_literal(&name.text) {
            check_odd_names(root, place, |found| operands::is_odd_for(&name.text, found))?;
        }
        let words = with_word(words, placeholder, root)?;
        if let Some(reason) = input::why_it_never_ends(&name.text, &words, false) {
            return ask(reason);
        }
        super::assess_words(&name.text, &words, place, true)?;
    }
    Ok(())
}

/// A program that reads what its operands name.
fn check_name(name: &Word) -> Result<(), Refusal> {
    if operands::hands_on_names(&name.text) {
        ask(format!("`{}` hands the names that are found to a shell", name.text))
    } else if super::is_plain_name(name) && options::reads_operands(&name.text) {
        Ok(())
    } else {
        ask(format!("not known to be read-only on whatever is found: `{}`", name.text))
    }
}

fn with_word(operands: &[Word], placeholder: &str, word: &Word) -> Result<Vec<Word>, Refusal> {
    let put = |operand: &Word| {
        if operand.text == placeholder {
            Ok(word.clone())
        } else if operand.text.contains(placeholder) {
            ask("puts what is found into a word")
        } else {
            Ok(operand.clone())
        }
    };
    operands.iter().map(put).collect()
}

/// `xargs` and its own options.
struct Call<'a> {
    /// The separator of the names, from `-0` or `-d`; without these options any blank separates names.
    separator: Option<char>,
    /// The value of `-I`.
    placeholder: Option<&'a str>,
    command: &'a [Word],
}

impl Call<'_> {
    /// Whether the command gets words that are separated by this sign one by one and unchanged.
    fn keeps(&self, separator: char, count: usize) -> bool {
        match self.separator {
            Some(wanted) => wanted == separator,
            // With a placeholder each line is one name.
            None => separator == '\n' || (separator == ' ' && (self.placeholder.is_none() || count == 1)),
        }
    }
}

/// Judges `xargs` with the words behind it.
pub(super) fn assess_xargs(words: &[Word], place: Place<'_>, has_input: bool) -> Result<(), Refusal> {
    let call = call(words)?;
    let Some((name, operands)) = call.command.split_first() else {
        return if place.fed_by.is_empty() { ask("`xargs` runs a command on what is not known") } else { Ok(()) };
    };
    let is_locked = place.context.confines("xargs") && place.context.confines(&name.text);
    if place.fed_by.is_empty() && !(is_locked && has_input) {
        return ask("`xargs` runs a command on what is not known");
    }
    check_plain_operands(operands)?;
    if call.placeholder.is_some_and(|placeholder| name.text.contains(placeholder)) {
        return ask("`xargs` runs what it reads");
    }
    if call.placeholder.is_none() && !is_locked && !is_complete(&name.text, operands) {
        return ask("`xargs` runs a command whose last option lacks its value");
    }
    let end = Word { text: PLACEHOLDER.into(), ..Word::default() };
    let (command, placeholder) = match call.placeholder {
        Some(placeholder) => (call.command.to_vec(), placeholder),
        None => ([call.command, &[end]].concat(), PLACEHOLDER),
    };
    match feed(place.fed_by) {
        Feed::Processes if name.text == "ps" => {
            let number = Word { text: "1".into(), is_bare: true, ..Word::default() };
            super::assess_words("ps", &with_word(&command[1..], placeholder, &number)?, place, true)
        }
        Feed::Files { roots, is_exact, is_chosen, has_links }
            if shows_contents(&name.text) && (!is_locked || options::reads_operands(&name.text)) =>
        {
            for command in place.fed_by.iter().filter(|command| command.words[0].text == "find") {
                find_words::check_choice(&command.words[1..], place)?;
            }
            if has_links {
                roots.iter().try_for_each(|root| check_links(root, place.context, AVOIDS_LINKS))?;
            }
            // With a chosen placeholder a name may be an option.
            let is_parted = is_exact && call.separator == Some('\0') && call.placeholder.is_none();
            check_parting(&roots, is_parted, is_chosen, place)?;
            assess_on_files(&command, placeholder, &roots, place)
        }
        Feed::Words { words, separator }
            if call.keeps(separator, words.len()) && !matches!(name.text.as_str(), "echo" | "printf") =>
        {
            check_name(name)?;
            words.iter().try_for_each(|word| {
                super::assess_words(&name.text, &with_word(&command[1..], placeholder, word)?, place, true)
            })
        }
        Feed::Words { .. } => assess_on_anything(name, &command, placeholder, call.placeholder.is_none(), place),
        _ if is_locked => assess_locked(name, &command[1..], placeholder, place),
        _ => assess_on_anything(name, &command, placeholder, call.placeholder.is_none(), place),
    }
}

/// Checks that two names cannot be taken for others than the found ones.
fn check_parting(roots: &[Word], is_exact: bool, is_chosen: bool, place: Place<'_>) -> Result<(), Refusal> {
    if is_exact {
        return Ok(());
    }
    if !is_chosen {
        return ask(TAKEN_APART);
    }
    let is_odd = |name: &str| {
        name.starts_with('-') || name.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\'))
    };
    roots.iter().try_for_each(|root| check_odd_names(root, place, is_odd).or_else(|_| ask(TAKEN_APART)))
}

/// Asks if a name below `root` may be taken for something else.
fn check_odd_names(root: &Word, place: Place<'_>, is_odd: impl Fn(&str) -> bool) -> Result<(), Refusal> {
    let path = PlainPath::resolve(&root.text, root.has_tilde, place.context);
    match path.zip(place.context.files) {
        Some((path, files)) if files.has_names_below(&path.to_path_buf(), &is_odd) => {
            ask("a name that is found may be taken for something else")
        }
        _ => Ok(()),
    }
}

/// Judges a command that gets any text: the parts of a file that it shows must not be secret. Without a placeholder the text stands
/// behind `--` ([`ends_options`]).
fn assess_on_anything(
    name: &Word,
    command: &[Word],
    placeholder: &str,
    is_behind: bool,
    place: Place<'_>,
) -> Result<(), Refusal> {
    check_name(name)?;
    let is_harmless = HARMLESS_WITH_ANY_OPTION.contains(&name.text.as_str())
        || (is_behind && takes_end_of_options(&name.text))
        || (name.text == "printf" && command.len() > 2 && command[1].text != placeholder);
    if !is_harmless {
        return ask(format!("`xargs` runs `{}` on what is not known", name.text));
    }
    if matches!(name.text.as_str(), "echo" | "printf")
        && command[1..].iter().any(|word| word.text.contains(placeholder))
    {
        return super::assess_words(&name.text, &command[1..], place, true);
    }
    let any = Word { text: "x".into(), is_bare: true, ..Word::default() };
    super::assess_words(&name.text, &with_word(&command[1..], placeholder, &any)?, place, true)
}

/// Judges a locked command that gets any text: none of it does harm, also as an option, but the files that it names may be secret.
fn assess_locked(name: &Word, operands: &[Word], placeholder: &str, place: Place<'_>) -> Result<(), Refusal> {
    if danger::hands_on(&name.text) || !super::is_plain_name(name) {
        return ask(format!("`xargs` runs `{}` on what is not known", name.text));
    }
    if shows_any_file(&name.text) {
        check_any_file(place.context)?;
    }
    let filled: Vec<Word> =
        operands.iter().map(|word| Word { text: word.text.replace(placeholder, ANY), ..word.clone() }).collect();
    super::assess_words(&name.text, &filled, place, true)
}

/// Whether a program only counts or reports kinds, once none of its operands is an option.
fn takes_end_of_options(name: &str) -> bool {
    !shows_contents(name) && !matches!(name, "test" | "[" | "printf" | "echo")
}

/// Whether a `--` belongs at the end of these words of `xargs`, so that nothing it reads is an option.
pub(crate) fn ends_options(words: &[Word]) -> bool {
    call(words).is_ok_and(|call| {
        call.placeholder.is_none()
            && call.command.first().is_some_and(|name| options::reads_operands(&name.text) && name.text != "echo")
            && call.command.iter().all(|word| word.text != "--")
            && call.command.first().is_some_and(|name| !matches!(name.text.as_str(), "test" | "[" | "printf"))
    })
}

/// The place of the command in the words behind `xargs`, and the value of `-I`; `None` if an option is not known.
pub(crate) fn command_of(words: &[Word]) -> Option<(usize, Option<&str>)> {
    let call = call(words).ok()?;
    Some((words.len() - call.command.len(), call.placeholder))
}

/// The programs that `xargs`, `find` or `timeout` runs, for callers that resolve names.
pub(crate) fn programs_run(words: &[Word]) -> Vec<&Word> {
    match words.split_first() {
        Some((name, words)) if name.text == "xargs" => {
            call(words).ok().and_then(|call| call.command.first()).into_iter().collect()
        }
        Some((name, words)) if name.text == "timeout" => {
            timeout::command_of(words).and_then(<[Word]>::first).into_iter().collect()
        }
        Some((name, words)) if name.text == "find" => {
            words.windows(2).filter(|pair| pair[0].text == "-exec").map(|pair| &pair[1]).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether no option at the end would take the first name for its value.
fn is_complete(name: &str, operands: &[Word]) -> bool {
    options::verb(name).is_some_and(|spec| {
        matches!(spec.operands, Operands::Rule("any" | "printf" | "test" | "ps")) || spec.split(operands).is_ok()
    })
}

fn check_plain_operands(operands: &[Word]) -> Result<(), Refusal> {
    operands.iter().filter(|word| word.has_glob && word.text.starts_with(['*', '?'])).try_for_each(check_literal)
}

fn call(words: &[Word]) -> Result<Call<'_>, Refusal> {
    let mut call = Call { separator: None, placeholder: None, command: words };
    while let Some((option, rest)) = call.command.split_first()
        && option.text.starts_with('-')
    {
        call.command = rest;
        if option.has_glob {
            return ask("a pattern among the options of `xargs`");
        }
        if let Some(long) = option.text.strip_prefix("--") {
            take_long(long, &mut call)?;
        } else {
            take_short(&option.text[1..], &mut call)?;
        }
    }
    Ok(call)
}

fn take_long(option: &str, call: &mut Call<'_>) -> Result<(), Refusal> {
    match option.split_once('=') {
        None if option == "null" => call.separator = Some('\0'),
        None if matches!(option, "no-run-if-empty" | "verbose" | "exit") => {}
        Some(("max-args" | "max-procs" | "max-lines" | "max-chars", count)) if options::is_number(count) => {}
        _ => return ask(format!("option `--{option}` of `xargs` is not known to be read-only")),
    }
    Ok(())
}

fn take_short<'a>(flags: &'a str, call: &mut Call<'a>) -> Result<(), Refusal> {
    for (at, flag) in flags.char_indices() {
        let attached = &flags[at + flag.len_utf8()..];
        match flag {
            '0' => call.separator = Some('\0'),
            'r' | 't' | 'x' => {}
            'n' | 'L' | 'P' | 's' | 'I' | 'd' => {
                let value = match call.command.split_first() {
                    Some((word, rest)) if attached.is_empty() && !word.has_glob => {
                        call.command = rest;
                        word.text.as_str()
                    }
                    _ => attached,
                };
                if flag == 'I' && !value.is_empty() {
                    call.placeholder = Some(value);
                } else if flag == 'd' && matches!(value, "\\0" | "\\n") {
                    call.separator = Some(if value == "\\0" { '\0' } else { '\n' });
                } else if flag == 'd' || !options::is_number(value) {
                    return ask("a value of an option of `xargs` that is not known");
                }
                return Ok(());
            }
            _ => return ask(format!("option `-{flag}` of `xargs` is not known to be read-only")),
        }
    }
    Ok(())
}
