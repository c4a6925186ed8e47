//! Parses the tables of cases.
//!
//! A line is a directive and its argument. Lines before the first `case` hold for all cases of the file. `[bash zsh]` in front of a
//! directive keeps the line for these shells only. Empty lines and lines that begin with `#` are skipped.
//!
//! ```text
//! case Ctrl-R finds a line and Enter runs it
//! shells bash zsh                    the shells it is for; without it those of the file, or all
//! needs fzf /usr/share/fzf/x $DIR    programs, files and variables of the environment without which it is skipped
//! rc HISTSIZE=100                    one more line of the start-up file
//! headless                           the start-up file does not begin with our prompt
//! file notes/a.txt one\ntwo\n        a file in the home folder; `program` makes it executable
//! fifo go                            a FIFO there, for the action `feed`
//! env LESS=-R                        a variable of the environment
//! size 60x20                         columns and rows; 80x24 without it
//! mask pids                          process ids behind `[1] ` are not compared
//! do "echo needle" Enter C-r "need" Enter
//! expect needle                      a row of the plain shell's screen or scrollback contains this at the end
//! row needle                         a row is exactly this
//!
//! setup fzf                          directives for several cases, up to the next `setup` or `case`
//! use fzf                            takes them over, in a case
//! ```
//!
//! After each token of a `do` line both terminals come to rest and the screens are compared. Tokens are keys (`Enter`, `C-r`, `M-p`,
//! `Up`), texts in quotes, `( ... )` around tokens that go out in one write, and the actions
//! `wait "text"` (a row contains it, in both), `gone "text"`, `prompt` (the cursor stands behind `ps> `: a program may sleep before it
//! ends, which looks like rest), `paste "text"` (bracketed where the program asked for that),
//! `resize 60x20`, `feed "fifo"` (one line, to the FIFO's reader), and `pause 600` (milliseconds, for the shell's own time limits).

use super::{
    keys::Key,
    shell::Shell,
    words::{Token, split, unescape},
};
use crate::Size;

/// One comparison.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// Its subject; unique among all tables.
    pub name: String,
    /// Its line in the table.
    pub line: usize,
    /// Its requirements.
    pub needs: Vec<String>,
    /// Lines of the start-up file.
    pub rc: Vec<String>,
    /// Files of the home folder: name, text, whether it is executable.
    pub files: Vec<(String, String, bool)>,
    /// FIFOs of the home folder.
    pub fifos: Vec<String>,
    /// Variables of the environment.
    pub environment: Vec<(String, String)>,
    /// The size of both terminals at the start.
    pub size: Size,
    /// Whether process ids of job notices are left out of the comparison.
    pub masks_pids: bool,
    /// Its steps.
    pub(crate) steps: Vec<Step>,
    /// The expected screen of the plain shell at the end.
    pub expectations: Vec<Expectation>,
    /// Whether the start-up file begins without the usual prompt.
    pub is_headless: bool,
    is_for_shell: bool,
}

impl Case {
    fn take_over(&mut self, setup: Self) {
        self.needs.extend(setup.needs);
        self.rc.extend(setup.rc);
        self.files.extend(setup.files);
        self.fifos.extend(setup.fifos);
        self.environment.extend(setup.environment);
        self.is_for_shell &= setup.is_for_shell;
    }
}

/// An expectation about the plain shell at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// A row contains this.
    Contains(String),
    /// A row is this.
    Row(String),
}

/// A step for both terminals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// One write.
    Send(Vec<Input>),
    /// Until a row contains this.
    Wait(String),
    /// Until no row contains this.
    Gone(String),
    /// Until the cursor stands behind `ps> `.
    Prompt,
    /// Another size.
    Resize(Size),
    /// A line into a FIFO.
    Feed(String),
    /// Waits for this time.
    Pause(u64),
}

impl Step {
    /// Whether its last key is Esc: another key at once would be one with Alt.
    pub(crate) fn ends_with_escape(&self) -> bool {
        let Self::Send(inputs) = self else { return false };
        match inputs.last() {
            Some(Input::Key(Key::Bytes(bytes)) | Input::Text(bytes)) => bytes.ends_with('\x1b'),
            _ => false,
        }
    }
}

/// A part of one write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Key(Key),
    Text(String),
    Paste(String),
}

/// Reads a table, as far as it is for `shell`.
///
/// # Errors
/// With line and reason, for an invalid directive, and for a case that does or expects nothing.
pub fn parse(table: &str, shell: Shell) -> Result<Vec<Case>, String> {
    let mut head = Case { is_for_shell: true, ..Case::default() };
    let mut setups: Vec<Case> = Vec::new();
    let mut cases: Vec<Case> = Vec::new();
    let mut is_in_setup = false;
    for (index, line) in table.lines().enumerate() {
        let number = index + 1;
        let at = |reason: String| format!("line {number}: {reason}");
        let Some(line) = directive_for(line, shell).map_err(at)? else { continue };
        let (word, argument) = line.split_once(' ').unwrap_or((line, ""));
        is_in_setup = word == "setup" || (is_in_setup && word != "case");
        let current = if is_in_setup { setups.last_mut() } else { cases.last_mut() };
        match word {
            "setup" => setups.push(Case { name: argument.to_owned(), is_for_shell: true, ..Case::default() }),
            "case" => cases.push(Case { name: argument.to_owned(), line: number, ..head.clone() }),
            "use" => {
                let setup = setups.iter().find(|setup| setup.name == argument);
                let setup = setup.ok_or_else(|| at(format!("no setup `{argument}`")))?.clone();
                cases.last_mut().ok_or_else(|| at("`use` outside of a case".into()))?.take_over(setup);
            }
            _ => apply(current.unwrap_or(&mut head), word, argument, shell).map_err(at)?,
        }
    }
    cases.retain(|case| case.is_for_shell);
    match cases.iter().find(|case| case.steps.is_empty() || case.expectations.is_empty()) {
        Some(case) => Err(format!("line {}: `{}` does or expects nothing", case.line, case.name)),
        None => Ok(cases),
    }
}

/// The directive of a line, if it has one for this shell.
fn directive_for(line: &str, shell: Shell) -> Result<Option<&str>, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let Some(inner) = line.strip_prefix('[') else { return Ok(Some(line)) };
    let (shells, rest) = inner.split_once(']').ok_or("`[` without `]`")?;
    Ok(means(shells, shell)?.then_some(rest.trim_start()))
}

fn means(words: &str, shell: Shell) -> Result<bool, String> {
    match words.split_whitespace().find(|word| !Shell::is_word(word)) {
        Some(word) => Err(format!("`{word}` is no shell")),
        None => Ok(words.split_whitespace().any(|word| shell.is_meant(word))),
    }
}

fn apply(case: &mut Case, directive: &str, argument: &str, shell: Shell) -> Result<(), String> {
    match directive {
        "needs" => case.needs.extend(argument.split_whitespace().map(str::to_owned)),
        "rc" => case.rc.push(argument.to_owned()),
        "file" | "program" => {
            let (name, text) = argument.split_once(' ').unwrap_or((argument, ""));
            case.files.push((name.to_owned(), unescape(text)?, directive == "program"));
        }
        "fifo" => case.fifos.push(argument.trim().to_owned()),
        "env" => {
            let (name, value) = argument.split_once('=').ok_or("`env` without `=`")?;
            case.environment.push((name.to_owned(), value.to_owned()));
        }
        "size" => case.size = size(argument)?,
        "headless" => case.is_headless = true,
        "mask" if argument == "pids" => case.masks_pids = true,
        "do" => case.steps.extend(steps(argument)?),
        "expect" => case.expectations.push(Expectation::Contains(some(argument)?)),
        "row" => case.expectations.push(Expectation::Row(some(argument)?)),
        "shells" => case.is_for_shell = means(argument, shell)?,
        _ => return Err(format!("unknown directive `{directive} {argument}`")),
    }
    Ok(())
}

fn some(argument: &str) -> Result<String, String> {
    if argument.is_empty() { Err("nothing is expected".into()) } else { Ok(argument.to_owned()) }
}

fn size(text: &str) -> Result<Size, String> {
    let numbers = text.split_once('x').and_then(|(columns, rows)| Some((columns.parse().ok()?, rows.parse().ok()?)));
    let (columns, rows) = numbers.ok_or_else(|| format!("`{text}` is no size"))?;
    Ok(Size { rows, columns })
}

fn steps(line: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut group: Option<Vec<Input>> = None;
    let mut tokens = split(line)?.into_iter();
    while let Some(token) = tokens.next() {
        let input = match token {
            Token::Open if group.is_none() => {
                group = Some(Vec::new());
                continue;
            }
            Token::Close => {
                steps.push(Step::Send(group.take().ok_or("`)` without `(`")?));
                continue;
            }
            Token::Open => return Err("`(` within `(`".into()),
            Token::Text(text) => Input::Text(text),
            Token::Word(word) if word == "paste" => Input::Paste(text_behind(&word, tokens.next())?),
            Token::Word(word) => match Key::named(&word) {
                Some(key) => Input::Key(key),
                None if group.is_some() => return Err(format!("`{word}` is no key")),
                None if word == "prompt" => {
                    steps.push(Step::Prompt);
                    continue;
                }
                None => {
                    steps.push(action(&word, tokens.next())?);
                    continue;
                }
            },
        };
        match &mut group {
            Some(inputs) => inputs.push(input),
            None => steps.push(Step::Send(vec![input])),
        }
    }
    if group.is_some() { Err("`(` without `)`".into()) } else { Ok(steps) }
}

fn action(word: &str, argument: Option<Token>) -> Result<Step, String> {
    match word {
        "wait" => Ok(Step::Wait(text_behind(word, argument)?)),
        "gone" => Ok(Step::Gone(text_behind(word, argument)?)),
        "feed" => Ok(Step::Feed(text_behind(word, argument)?)),
        "resize" => Ok(Step::Resize(size(&word_behind(word, argument)?)?)),
        "pause" => {
            let time = word_behind(word, argument)?;
            Ok(Step::Pause(time.parse().map_err(|_| format!("`{time}` is no time"))?))
        }
        _ => Err(format!("`{word}` is no key and no action")),
    }
}

fn text_behind(word: &str, argument: Option<Token>) -> Result<String, String> {
    match argument {
        Some(Token::Text(text)) => Ok(text),
        _ => Err(format!("`{word}` needs a text")),
    }
}

fn word_behind(word: &str, argument: Option<Token>) -> Result<String, String> {
    match argument {
        Some(Token::Word(argument)) => Ok(argument),
        _ => Err(format!("`{word}` needs a word")),
    }
}
